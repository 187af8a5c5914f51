"""Counts the progress of topics that were changed, so that pages need not read every judgement."""

from sqlalchemy import true

from annotator.storage import Database
from annotator.storage.judging.topic_counts import changed_topics, count_topics, record_counts

# Counted in one go: each has some hundred documents.
MOST_AT_ONCE = 200


def count_changed_topics(database: Database) -> bool:
    """Count some of the topics that were changed since they were counted; False when there are none.

    They are counted without holding up any writer: a topic that is changed meanwhile is counted again.
    """
    with database.reading() as session:
        changed = changed_topics(session, true(), most=MOST_AT_ONCE)
        counts = count_topics(session, [topic.id for topic in changed])
    if changed:
        with database.transaction() as session:
            record_counts(session, changed, counts)
    return bool(changed)
