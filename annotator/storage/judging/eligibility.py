"""Which items a judge may draw, for which purpose, and how many wait for them.

In *shared* mode anybody draws items that want more judges. In *owned* mode the topic's owner draws all of them; others
draw overlap items that only the owner has, so that each gets one second opinion. Items for everyone go to each judge
once. Duplicates are never drawn. An item once assigned to somebody as adjudicator is never theirs to judge: they may
have seen the grades.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Exists,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import give_back
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.collections import Collection, JudgingMode
from annotator.storage.tables.judging import (
    CURRENT,
    DECIDES,
    HAS_IT,
    HELD,
    JUDGES,
    SHOWN_AGAIN,
    Assignment,
    AssignmentState,
    Judgement,
    Purpose,
)
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# A judge may see a document again after this time.
FORGOTTEN_AFTER = timedelta(hours=24)

OPEN = PoolItem.taken < PoolItem.judgements_wanted
# Text exactly as in the partial indexes: SQLAlchemy would compare with a value, and the index would not be used.
FOR_EVERYONE = text("pool_item.for_everyone")
NOT_FOR_EVERYONE = text("NOT pool_item.for_everyone")
IS_OVERLAP = text("pool_item.is_overlap")
DRAWN_COLUMNS = (
    *(PoolItem.id, PoolItem.priority, PoolItem.lot, PoolItem.taken, PoolItem.judgements_wanted),
    *(PoolItem.is_overlap, PoolItem.for_everyone, PoolItem.known_grade),
)


class FreeItem(NamedTuple):
    """An item that a judge may draw, and the purpose."""

    id: int
    priority: int
    lot: int
    purpose: Purpose


def assignments_of(session: Session, collection_id: int, judge_id: int) -> dict[int, int]:
    """Pool item id → this judge's held, done or carried assignment in a collection, without second showings."""
    assignments = (
        select(Assignment.pool_item_id, Assignment.id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Assignment.judge_id == judge_id, HAS_IT)
    )
    return dict(fetch_rows(session, assignments))


def free_items(judge_id: int, topic: Topic, mode: str) -> Select[int]:
    """Query of the pool items of a topic that this judge may draw."""
    return select(PoolItem.id).where(
        PoolItem.topic_id == topic.id,
        or_(_open_to(judge_id, topic, mode), FOR_EVERYONE),
        _is_new_to(judge_id),
    )


def take_free(session: Session, judge_id: int, topic: Topic, mode: str, item_id: int) -> FreeItem | None:
    """Lock one free item, with its purpose for this judge; None when they may not draw it."""
    free = free_items(judge_id, topic, mode).where(PoolItem.id == item_id)
    if session.scalar(free.with_for_update(of=PoolItem)) is None:
        return None
    # Checked again after waiting for the lock: others may have drawn it.
    item = session.execute(free.with_only_columns(*DRAWN_COLUMNS)).one_or_none()
    if item is None:
        return None
    purpose = _purpose(item, mode, is_second=_gives_second(judge_id, topic, mode))
    return FreeItem(item.id, item.priority, item.lot, purpose)


def next_free(
    session: Session, judge_id: int, topic: Topic, mode: str, count: int, *, skip_locked: bool
) -> list[FreeItem]:
    """Lock up to `count` free items in order of showing.

    On PostgreSQL items locked by another draw are skipped or waited for (`skip_locked`).
    """
    session.flush()
    is_second = _gives_second(judge_id, topic, mode)
    wanted = {"topic_id": topic.id, "judge_id": judge_id, "owner_id": topic.owner_id, "count": count}
    connection = session.connection()
    items = [
        row
        for statement in _next_free_statements(is_second, topic.owner_id is not None, skip_locked)
        for row in connection.execute(statement, wanted)
    ]
    if is_second and items:
        # A row lock rereads the item but not its assignments, which may have been inserted meanwhile.
        ids = [item.id for item in items]
        still_free = set(session.scalars(free_items(judge_id, topic, mode).where(PoolItem.id.in_(ids))))
        items = [item for item in items if item.id in still_free]
    items.sort(key=lambda item: (item.priority, item.id))
    return [
        FreeItem(item.id, item.priority, item.lot, _purpose(item, mode, is_second=is_second)) for item in items[:count]
    ]


@cache
def _next_free_statements(
    is_second: bool,  # noqa: FBT001 - it makes the key of the cache
    has_owner: bool,  # noqa: FBT001
    skip_locked: bool,  # noqa: FBT001
) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Cached statements, one set per kind of judge: one judgement in two runs them."""
    statement = (
        select(*DRAWN_COLUMNS)
        .where(PoolItem.topic_id == bindparam("topic_id"), _is_new_to(bindparam("judge_id", type_=Integer)))
        .order_by(PoolItem.priority, PoolItem.id)
        .limit(bindparam("count", type_=Integer))
        .with_for_update(skip_locked=skip_locked, of=PoolItem)
    )
    wanting = _wanting(bindparam("owner_id", type_=Integer) if has_owner else None, is_second=is_second)
    # Two statements: each reads one index in order of showing and stops after a few rows.
    return statement.where(wanting, NOT_FOR_EVERYONE), statement.where(FOR_EVERYONE)


def due_again(session: Session, topic_id: int, judge_id: int, reshow_share: int, now: datetime) -> list[int]:
    """Items that this judge graded a day ago or earlier and is to see again, by lot; `reshow_share` is in percent."""
    if not reshow_share:
        return []
    # Start from the topic's few items with such lots, not from the judge's many judgements.
    due = (
        select(PoolItem.id)
        .where(PoolItem.topic_id == topic_id, _may_come_again(judge_id, reshow_share))
        .where(exists().where(_graded_a_day_ago(judge_id, now)))
    )
    return list(session.scalars(due.order_by(PoolItem.lot, PoolItem.id)))


def waiting_items(
    session: Session, judge_id: int, collection: Collection, in_topics: ColumnElement[bool], now: datetime
) -> Counter[int]:
    """Topic id → number of items that this judge holds, has deferred, could draw or is due to see again.

    `in_topics` selects the topics. Free items are counted as those that want a judge less those that this one has;
    unlike `free_items`, this avoids looking up each item's assignments.
    """
    is_owned = collection.judging_mode == JudgingMode.OWNED
    in_reach = PoolItem.topic_id.in_(select(Topic.id).where(Topic.owner_id == judge_id)) if is_owned else true()
    wants_this_one = and_(OPEN, in_reach)
    statement = select(PoolItem.topic_id, func.count()).where(in_topics).group_by(PoolItem.topic_id)
    counted = [
        statement.where(wants_this_one),
        statement.where(FOR_EVERYONE, ~wants_this_one),
        _held_less_had(judge_id, or_(wants_this_one, FOR_EVERYONE)).where(in_topics),
    ]
    if is_owned:
        is_another = and_(Topic.owner_id.is_not(None), Topic.owner_id != judge_id)
        others = statement.join(Topic, Topic.id == PoolItem.topic_id).where(is_another, ~_was_to_decide(judge_id))
        counted.append(others.where(_wants_second(Topic.owner_id), NOT_FOR_EVERYONE))
    if collection.reshow_share:
        graded = statement.join(Judgement, _graded_a_day_ago(judge_id, now))
        counted.append(graded.where(_may_come_again(judge_id, collection.reshow_share)))
    waiting = Counter[int]()
    for one in counted:
        for topic_id, count in session.execute(one):
            waiting[topic_id] += count
    return waiting


def reassign(session: Session, topic: Topic, new_owner_id: int | None) -> int:
    """Change a topic's owner (None for no owner); return how many assignments of others were returned to the queue.

    Judgements remain, and second opinions stay with their holders.
    """
    topic.owner_id = new_owner_id
    session.flush()
    return _return_unowned(session, Topic.id == topic.id)


def return_unowned(session: Session, collection: Collection) -> int:
    """Return assignments of people who do not own the topic, in a collection set to owned mode; return their number."""
    return _return_unowned(session, Topic.collection_id == collection.id)


def _return_unowned(session: Session, *conditions: ColumnElement[bool]) -> int:
    owned = select(Collection.id).where(Collection.judging_mode == JudgingMode.OWNED)
    is_foreign = (
        exists()
        .where(PoolItem.id == Assignment.pool_item_id, Topic.id == PoolItem.topic_id, Topic.collection_id.in_(owned))
        .where(Topic.owner_id.is_distinct_from(Assignment.judge_id), *conditions)
        .correlate(Assignment)
    )
    return give_back(session, Assignment.purpose == Purpose.FIRST, is_foreign)


def _gives_second(judge_id: int, topic: Topic, mode: str) -> bool:
    """Whether this judge gives only second opinions."""
    return mode == JudgingMode.OWNED and judge_id != topic.owner_id


def _open_to(judge_id: int, topic: Topic, mode: str) -> ColumnElement[bool]:
    """Condition for items that want a judgement from this judge."""
    return _wanting(topic.owner_id, is_second=_gives_second(judge_id, topic, mode))


def _wanting(owner_id: Any, *, is_second: bool) -> ColumnElement[bool]:  # noqa: ANN401 - an id, or the parameter for it
    if not is_second:
        return OPEN
    return false() if owner_id is None else _wants_second(owner_id)


def _wants_second(owner_id: Any) -> ColumnElement[bool]:  # noqa: ANN401 - an id, or the column of it
    """Condition for overlap items of an owned topic that only the owner holds or has judged."""
    return and_(OPEN, IS_OVERLAP, ~_in_hands(and_(Assignment.judge_id != owner_id, JUDGES)))


def _is_new_to(judge_id: Any) -> ColumnElement[bool]:  # noqa: ANN401 - an id, or the parameter for it
    """Condition for items that a judge neither holds nor has judged, nor was ever assigned as an adjudicator."""
    return and_(~_in_hands(Assignment.judge_id == judge_id), ~_was_to_decide(judge_id))


def _was_to_decide(judge_id: Any) -> Exists:  # noqa: ANN401 - an id, or the parameter for it
    """Whether an item was ever assigned to this user as an adjudicator."""
    # `+ 0` starts from the item's few assignments: a judge has far more.
    return exists().where(Assignment.pool_item_id == PoolItem.id, DECIDES, Assignment.judge_id + 0 == judge_id)


def _in_hands(whose: ColumnElement[bool]) -> Exists:
    """Whether an item has a held or completed assignment that satisfies the condition."""
    return exists().where(Assignment.pool_item_id == PoolItem.id, HAS_IT, whose)


def _purpose(item: Row[*tuple[Any, ...]], mode: str, *, is_second: bool) -> Purpose:
    if item.for_everyone:
        return Purpose.COMMON if item.known_grade is None else Purpose.TEST
    is_last = mode == JudgingMode.SHARED and item.is_overlap and item.judgements_wanted - item.taken == 1
    return Purpose.OVERLAP if is_second or is_last else Purpose.FIRST


def _may_come_again(judge_id: int, reshow_share: int) -> ColumnElement[bool]:
    """Condition for judged items whose lot selects them for a second showing that they have not had."""
    own = exists().where(Assignment.pool_item_id == PoolItem.id, Assignment.judge_id == judge_id)
    is_judged = and_(own.where(HAS_IT, JUDGES), ~_was_to_decide(judge_id))
    return and_(PoolItem.lot % 100 < reshow_share, PoolItem.known_grade.is_(None), ~own.where(SHOWN_AGAIN), is_judged)


def _graded_a_day_ago(judge_id: int, now: datetime) -> ColumnElement[bool]:
    """Join condition: this judge's own current grade of an item, old enough to be forgotten."""
    is_own = and_(CURRENT, Judgement.judge_id == judge_id, Judgement.carried_from_id.is_(None))
    is_old = Judgement.judged_at <= now - FORGOTTEN_AFTER
    return and_(Judgement.pool_item_id == PoolItem.id, is_own, Judgement.grade.is_not(None), is_old)


def _held_less_had(judge_id: int, wanting: ColumnElement[bool]) -> Select[int, int]:
    """Per topic: the judge's held assignments minus wanting items that they have or were assigned as adjudicator."""
    in_hand = func.count().filter(Assignment.state.in_(HELD), JUDGES)
    # Distinct: an adjudication may have been returned and assigned again.
    had = func.count(PoolItem.id.distinct()).filter(wanting, or_(HAS_IT, DECIDES))
    return (
        select(PoolItem.topic_id, in_hand - had)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.judge_id == judge_id, or_(Assignment.state != AssignmentState.RETURNED, DECIDES))
        .group_by(PoolItem.topic_id)
    )
