"""Who judged the documents of topics, from the shares of the topics' revisions."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import User
from annotator.storage.tables.topics import ACCEPTED, EVERYBODY, Topic, TopicRevision


def judges_with_shares(session: Session, collection_id: int) -> set[int]:
    """Ids of those who judged a document of an accepted topic themselves, with a grade or without."""
    shares = (
        select(TopicRevision.judge_id)
        .join(Topic, Topic.id == TopicRevision.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, TopicRevision.judge_id != EVERYBODY)
        .distinct()
    )
    return set(session.scalars(shares))


def common_shares(session: Session, collection_id: int) -> dict[int, int]:
    """Accepted topic id → the common share of its revision, for the topics that have one.

    Imported labels raise it alone; so do new pools, and whatever else is done for all judges at once.
    """
    shares = (
        select(TopicRevision.topic_id, TopicRevision.revision)
        .join(Topic, Topic.id == TopicRevision.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, TopicRevision.judge_id == EVERYBODY)
    )
    return {topic: revision for topic, revision in session.execute(shares)}


def names_of_judges(session: Session, judges: Iterable[int]) -> list[str]:
    """The names of these accounts, sorted."""
    names: list[str] = []
    for some in chunks(sorted(judges)):
        names += session.scalars(select(User.name).where(User.id.in_(some)))
    return sorted(names)
