"""Marks of pool items, computed without a lock and set by a few statements under it.

To compare a million items with the settings takes seconds, in which no judge can write on SQLite. They are computed
before settings change, or before imported judgements are removed or restored.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Table, case, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import topic_ids
from annotator.storage.judging.duplicates import are_settled, forget_loaded, settle_duplicates
from annotator.storage.judging.judgements_wanted import (
    MARKS,
    base_wanted,
    marked_items,
    may_differ,
    settle_marks,
    settle_needs,
)
from annotator.storage.judging.machine_labels import judge_pooled
from annotator.storage.pools.pools import PoolState, pool_state
from annotator.storage.site.bulk_insert import chunks, fetch_rows, ids_as_rows
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.pools import PoolItem
from annotator.storage.topics.revisions import raise_topics

ITEMS = cast("Table", PoolItem.__table__)


class MarksOfItem(NamedTuple):
    """The marks that an item should have, while so many of its judgements are taken."""

    taken: int
    is_overlap: bool
    for_everyone: bool
    judgements_wanted: int


ItemsByMarks = Mapping[MarksOfItem, Sequence[int]]  # ids of items that have other marks


class OtherTaken(NamedTuple):
    """Items whose number of taken judgements will rise by `more`, or fall if it is negative."""

    items: Sequence[int]
    more: int


class MarksThen(NamedTuple):
    """The items whose marks change under these settings, with the numbers of taken judgements as they will be."""

    settings: tuple[int, int, int]
    items: ItemsByMarks


class ForeseenMarks(NamedTuple):
    """The items whose marks the settings change, while the pool has this state."""

    settings: tuple[int, int, int]
    state: PoolState
    items: ItemsByMarks

    @property
    def topics(self) -> list[int]:
        """Ids of all topics."""
        return [topic_id for topic_id, _ in self.state.topics]


def foresee_marks(session: Session, settings: Collection) -> ForeseenMarks | None:
    """Compute the marks under settings, which have the id of their collection and need not be a row.

    None where documents with the same text are to be settled, too.
    """
    topics = list(topic_ids(session, settings.id).values())
    if not all(are_settled(session, some) for some in chunks(topics)):
        return None
    return ForeseenMarks(_of_marks(settings), pool_state(session, settings.id), _differing(session, settings, topics))


def foresee_taken(session: Session, collection: Collection, topics: Sequence[int], other: OtherTaken) -> MarksThen:
    """Compute the marks of the items of topics, as they will be taken; for `settle_as_foreseen`."""
    those = PoolItem.id.in_(ids_as_rows(session, other.items))
    taken = case((those, PoolItem.taken + other.more), else_=PoolItem.taken)
    topics = [topic_id for some in chunks(list(topics)) if may_differ(session, collection, some) for topic_id in some]
    return MarksThen(_of_marks(collection), _differing(session, collection, topics, taken))


def _differing(
    session: Session, settings: Collection, topics: Sequence[int], taken: ColumnElement[int] | None = None
) -> ItemsByMarks:
    items: dict[MarksOfItem, list[int]] = {}
    for some in chunks(list(topics)):
        marked = marked_items(settings, some, taken).c
        differs = or_(*(PoolItem.__table__.c[name] != marked[name] for name in MARKS))
        columns = (PoolItem.id, *(marked[name] for name in MarksOfItem._fields))
        for id_, taken_then, is_overlap, for_everyone, wanted in fetch_rows(
            session, select(*columns).where(PoolItem.id == marked.id, differs)
        ):
            marks = MarksOfItem(taken_then, bool(is_overlap), bool(for_everyone), wanted)
            items.setdefault(marks, []).append(id_)
    return items


def _of_marks(settings: Collection) -> tuple[int, int, int]:
    """The settings on which marks depend."""
    return base_wanted(settings), settings.overlap_share, settings.common_items


def set_foreseen(session: Session, collection: Collection, foreseen: ForeseenMarks | None) -> bool:
    """Set marks as `settle_needs` does for all topics, if they were computed for these settings and this pool.

    Returns whether they were. Topics are compared again where an item that gets other marks was drawn or returned
    meanwhile; an item that keeps its marks because it was drawn then keeps them. Texts and labels of machines have no
    part in it: what they change is settled when they change.
    """
    session.flush()
    if foreseen is None or foreseen.settings != _of_marks(collection):
        return False
    if foreseen.state != pool_state(session, collection.id):
        return False
    _set(session, collection, foreseen.items)
    raise_topics(session, foreseen.topics)
    return True


def settle_as_foreseen(session: Session, collection_id: int, topics: Sequence[int], marks: MarksThen | None) -> None:
    """Do what `settle_needs` does, with marks of these topics that were computed before, if they still hold.

    The caller knows that the topics have the same items with the same marks as then.
    """
    collection = session.get_one(Collection, collection_id)
    if marks is None or marks.settings != _of_marks(collection):
        settle_needs(session, collection_id, topics)
        return
    session.flush()
    judge_pooled(session, collection_id, topics)
    # All of them are settled, in the order of their locks.
    others = [some for some in chunks(list(topics)) if settle_duplicates(session, some)]
    if others:
        settle_needs(session, collection_id, topics)
        return
    _set(session, collection, marks.items)
    raise_topics(session, topics)


def _set(session: Session, collection: Collection, items: ItemsByMarks) -> None:
    if not has_one_writer(session):
        # Locked in one order, so that concurrent updates of the same items do not deadlock.
        every = ids_as_rows(session, (id_ for ids in items.values() for id_ in ids))
        locked = select(PoolItem.id).where(PoolItem.id.in_(every)).order_by(PoolItem.id)
        fetch_rows(session, locked.with_for_update(of=PoolItem))
    changed: set[int] = set()
    for marks, ids in items.items():
        of_marks = PoolItem.id.in_(ids_as_rows(session, ids))
        values = {name: getattr(marks, name) for name in MARKS}
        marking = update(ITEMS).where(of_marks, PoolItem.taken == marks.taken).values(values)
        if session.connection().execute(marking).rowcount != len(ids):
            others = select(PoolItem.topic_id).where(of_marks, PoolItem.taken != marks.taken).distinct()
            changed.update(topic_id for (topic_id,) in fetch_rows(session, others))
    forget_loaded(session)
    for some in chunks(sorted(changed)):
        settle_marks(session, collection, some)
