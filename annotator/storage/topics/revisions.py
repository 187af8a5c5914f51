"""The revision of a topic: every change of its judgements raises it, in the same transaction.

Results computed from a topic's judgements are cached under it, and recomputed when it differs. Other inputs of the
settled grades (policy, accepted topics, machines) are not part of it.
"""

from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Table, bindparam, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import Row, chunks, fetch_rows, ids_as_rows
from annotator.storage.tables.judging import TopicJudgements
from annotator.storage.tables.pools import PoolItem, TopicCounts
from annotator.storage.tables.topics import ACCEPTED, EVERYBODY, Topic, TopicRevision

_PARTS = cast("Table", TopicRevision.__table__)
_PART = {"topic_id": bindparam("topic_id"), "judge_id": bindparam("judge_id"), "revision": 1}
_RAISED = {"revision": _PARTS.c.revision + 1}
_KEY = (_PARTS.c.topic_id, _PARTS.c.judge_id)
RAISE = {
    "sqlite": sqlite.insert(_PARTS).values(_PART).on_conflict_do_update(index_elements=_KEY, set_=_RAISED),
    "postgresql": postgresql.insert(_PARTS).values(_PART).on_conflict_do_update(index_elements=_KEY, set_=_RAISED),
}


class Revision(NamedTuple):
    """Both only grow; while `of_everybody` is unchanged, judgements have only been added by judges."""

    total: int
    of_everybody: int

    def is_continued_by(self, later: "Revision") -> bool:
        """Whether judgements by judges are all that was added up to `later`, at least one."""
        return self.of_everybody == later.of_everybody and self.total < later.total


def revisions(session: Session, collection_id: int) -> dict[int, Revision]:
    """Accepted topic id → its revision, ordered by id."""
    of_everybody = case((TopicRevision.judge_id == EVERYBODY, TopicRevision.revision), else_=0)
    rows = session.execute(
        select(
            Topic.id,
            func.coalesce(func.sum(TopicRevision.revision), 0),
            func.coalesce(func.sum(of_everybody), 0),
        )
        .outerjoin(TopicRevision, TopicRevision.topic_id == Topic.id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .group_by(Topic.id)
        .order_by(Topic.id)
    )
    return {topic_id: Revision(int(total), int(of_everybody)) for topic_id, total, of_everybody in rows}


def judged_revisions(session: Session, collection_id: int) -> dict[int, Revision]:
    """The revisions of the accepted topics that have one: without judgements and pool a topic has none."""
    return {id_: revision for id_, revision in revisions(session, collection_id).items() if revision.total}


class ChangedTopic(NamedTuple):
    """An accepted topic that was changed since something was derived from it, and its revision."""

    id: int
    revision: int


# Tables with a row for a topic that is valid while the topic's revision is the same.
Derived = type[TopicCounts | TopicJudgements]


def changed_topics(
    session: Session, derived: Derived, of_topics: ColumnElement[bool], *, most: int | None = None
) -> list[ChangedTopic]:
    """The accepted topics, among those that the condition selects, without a valid row of this table."""
    revision = func.coalesce(func.sum(TopicRevision.revision), 0)
    rows = session.execute(
        select(Topic.id, revision)
        .outerjoin(TopicRevision, TopicRevision.topic_id == Topic.id)
        .outerjoin(derived, derived.topic_id == Topic.id)
        .where(of_topics, ACCEPTED)
        .group_by(Topic.id, derived.revision)
        .having(revision != func.coalesce(derived.revision, -1))
        .order_by(Topic.id)
        .limit(most)
    )
    return [ChangedTopic(id_, int(number)) for id_, number in rows]


def still_the_same(session: Session, topics: Sequence[ChangedTopic]) -> list[ChangedTopic]:
    """Those of the topics that are there and still have that revision: another database may have been restored."""
    revision = func.coalesce(func.sum(TopicRevision.revision), 0)
    statement = (
        select(Topic.id, revision).outerjoin(TopicRevision, TopicRevision.topic_id == Topic.id).group_by(Topic.id)
    )
    now = {
        id_: int(number)
        for some in chunks([topic.id for topic in topics])
        for id_, number in session.execute(statement.where(Topic.id.in_(some)))
    }
    return [topic for topic in topics if now.get(topic.id) == topic.revision]


def record_derived(session: Session, derived: Derived, rows: Sequence[Row]) -> None:
    """Insert rows of such a table in place of earlier ones: two workers may derive a topic's at once."""
    for some in chunks(list(rows)):
        session.execute(_RECORD[derived, session.get_bind().dialect.name], some)


def _upsert(derived: Derived, statement: sqlite.Insert | postgresql.Insert) -> sqlite.Insert | postgresql.Insert:
    columns = {name: statement.excluded[name] for name in derived.__table__.columns.keys() if name != "topic_id"}  # noqa: SIM118 - iterates over columns
    return statement.on_conflict_do_update(index_elements=[derived.topic_id], set_=columns)


_RECORD = {
    (derived, dialect): _upsert(derived, insert(derived))
    for derived in (TopicCounts, TopicJudgements)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}


def raise_revision(connection: Connection, topic_id: int, judge_id: int = EVERYBODY) -> None:
    """Raise a judge's share of a topic's revision after they judged it."""
    connection.execute(RAISE[connection.dialect.name], {"topic_id": topic_id, "judge_id": judge_id})


def raise_revisions(session: Session, pool_item_ids: SizedIterable[int]) -> None:
    """Raise the common share of the revisions of these items' topics."""
    raise_of_judges(session, {(item_id, EVERYBODY) for item_id in pool_item_ids})


def raise_topics(session: Session, topic_ids: SizedIterable[int]) -> None:
    """Raise the common share of these topics' revisions."""
    session.flush()
    for topic_id in sorted(topic_ids):
        raise_revision(session.connection(), topic_id)


def give_to_everybody(session: Session, topic_ids: SizedIterable[int], judge_id: int) -> None:
    """Add a judge's shares of these topics' revisions to the common ones: judgements that raised them are removed."""
    of_judge = _PARTS.c.topic_id.in_(ids_as_rows(session, topic_ids)), _PARTS.c.judge_id == judge_id
    shares = fetch_rows(session, select(_PARTS.c.topic_id, _PARTS.c.revision).where(*of_judge))
    raise_topics(session, [topic_id for topic_id, _ in shares])
    for topic_id, more in shares:
        common = _PARTS.c.topic_id == topic_id, _PARTS.c.judge_id == EVERYBODY
        raised = update(_PARTS).where(*common).values(revision=_PARTS.c.revision + more)
        session.connection().execute(raised)
    session.connection().execute(delete(_PARTS).where(*of_judge))


def raise_of_judges(session: Session, said: SizedIterable[tuple[int, int]]) -> None:
    """Raise judges' shares for (item id, judge id) pairs, in a fixed order to avoid deadlocks."""
    items = ids_as_rows(session, sorted({item_id for item_id, _ in said}))
    topic_of = dict(fetch_rows(session, select(PoolItem.id, PoolItem.topic_id).where(PoolItem.id.in_(items))))
    for topic_id, judge_id in sorted({(topic_of[item_id], judge_id) for item_id, judge_id in said}):
        raise_revision(session.connection(), topic_id, judge_id)
