"""All judgements of a collection or of some topics as columns, from what a worker has packed and what is newer."""

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.settled_topics import CurrentOpinions, current_opinions
from annotator.evaluation.qrels.settling import Rules, rules_of
from annotator.evaluation.qrels.topic_judgements import (
    JudgementColumns,
    PackedTopic,
    columns_of,
    pack_topics,
    unpack_topics,
)
from annotator.storage import ACCEPTED, Database, Topic, TopicJudgements
from annotator.storage import Collection as CollectionRow
from annotator.storage.collections.checking import Finding
from annotator.storage.judging.topic_counts import in_groups
from annotator.storage.judging.topic_judgements import (
    PackedRow,
    judges_by_id,
    names_of_topics,
    packed_judgements,
    record_packed,
    stored_judgements,
)
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.topics.revisions import changed_topics
from annotator.workflows.judging.topic_counting import refresh_topics

MOST_NAMED = 10
ITEMS_AT_ONCE = 50_000  # whose judgements are in memory as rows at once


def pack_changed_topics(database: Database) -> bool:
    """Pack some of the topics that were changed since they were packed; False when there are none."""
    return refresh_topics(database, TopicJudgements, packed_now, record_packed)


def packed_now(session: Session, topics: Sequence[int]) -> dict[int, PackedRow]:
    """Topic id → its judgements as they are, packed."""
    return {
        topic: PackedRow(*packed)
        for some in in_groups(session, sorted(topics), ITEMS_AT_ONCE)
        for topic, packed in pack_topics(columns_of(stored_judgements(session, some)), some).items()
    }


def read_judgements(
    session: Session,
    collection_id: int,
    topics: Collection[int] | None = None,
    *,
    docnos: bool = True,
    seconds: bool = True,
) -> JudgementColumns:
    """The judgements of all accepted topics of a collection, or of those among `topics`, ordered by topic id.

    Withdrawn ones are left out. Without `docnos` or `seconds` these may be missing.
    """
    of_collection = Topic.collection_id == collection_id
    packed: dict[int, PackedRow] = {}
    for few in [None] if topics is None else chunks(sorted(topics)):
        wanted = of_collection if few is None else of_collection & Topic.id.in_(few)
        packed |= packed_judgements(session, wanted, docnos=docnos, seconds=seconds)
        packed |= packed_now(session, [topic.id for topic in changed_topics(session, TopicJudgements, wanted)])
    return unpack_topics({topic: PackedTopic(*packed[topic]) for topic in sorted(packed)})


def current_by_groups(
    session: Session, collection_id: int, rules: Rules, topics: Collection[int] | None = None
) -> Iterator[tuple[JudgementColumns, CurrentOpinions]]:
    """The judgements that may count by these rules, and the grades that count now, for groups of accepted topics.

    All of them, or those among `topics`; so much at once that memory does not grow with the collection.
    """
    rows = session.execute(select(Topic.id, Topic.owner_id).where(Topic.collection_id == collection_id, ACCEPTED))
    owners = {id_: owner for id_, owner in rows if topics is None or id_ in topics}
    judges = judges_by_id(session)
    machines = [] if rules.counts_machines else [id_ for id_, judge in judges.items() if judge.is_machine]
    for some in in_groups(session, sorted(owners), ITEMS_AT_ONCE):
        judgements = read_judgements(session, collection_id, some, docnos=False, seconds=False)
        if machines:
            judgements = judgements.where(~judgements.by(machines))
        yield judgements, current_opinions(judgements, judges, owners, machines=rules.counts_machines)


def settled_grades(session: Session, collection: CollectionRow) -> dict[tuple[int, int], int]:
    """(topic, document) → grade, settled now by the collection's policy, of all accepted topics."""
    rules = rules_of(collection)
    grades: dict[tuple[int, int], int] = {}
    for _, current in current_by_groups(session, collection.id, rules):
        grades |= current.grades_by_pair(current.settle(rules))
    return grades


def check_packed(session: Session) -> Finding:
    """Compare what was packed of unchanged topics with their judgements as they are, and name those that differ."""
    packed = packed_judgements(session, true())
    different = []
    for some in in_groups(session, list(packed), ITEMS_AT_ONCE):
        stored = packed_now(session, some)
        different += [topic for topic in some if packed[topic] != stored[topic]]
    names = [f"{slug} {number}" for slug, number in names_of_topics(session, different)]
    named = f" ({', '.join(names[:MOST_NAMED])})" if names else ""
    return Finding(f"Topics whose packed judgements are not those that are stored{named}", len(different))
