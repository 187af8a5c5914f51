"""The revision of a topic: every change of its judgements raises it, in the same transaction.

Results computed from a topic's judgements are cached under it, and recomputed when it differs. Other inputs of the
settled grades (policy, accepted topics, machines) are not part of it.
"""

from collections.abc import Collection as SizedIterable
from typing import NamedTuple, cast

from sqlalchemy import Connection, Table, bindparam, case, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import fetch_rows, ids_as_rows
from annotator.storage.tables.pools import PoolItem
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


def raise_of_judges(session: Session, said: SizedIterable[tuple[int, int]]) -> None:
    """Raise judges' shares for (item id, judge id) pairs, in a fixed order to avoid deadlocks."""
    items = ids_as_rows(session, sorted({item_id for item_id, _ in said}))
    topic_of = dict(fetch_rows(session, select(PoolItem.id, PoolItem.topic_id).where(PoolItem.id.in_(items))))
    for topic_id, judge_id in sorted({(topic_of[item_id], judge_id) for item_id, judge_id in said}):
        raise_revision(session.connection(), topic_id, judge_id)
