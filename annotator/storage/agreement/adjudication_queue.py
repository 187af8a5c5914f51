"""Adjudication queue: pool items on whose grades judges differ, who may draw them, and how many are decided.

Only people's grades are compared, not machines'. A duplicate is not in dispute itself: the decision on the item with
the same text is carried over to it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Exists, Select, Subquery, and_, case, exists, func, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.judging.leases import DECIDING, lend
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import (
    CURRENT,
    DECIDES,
    HAS_IT,
    HELD,
    JUDGES,
    OF_PEOPLE,
    Assignment,
    AssignmentState,
    Judgement,
    Purpose,
)
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicState

# The statements select only rows that have a grade.
GRADE = cast("ColumnElement[int]", Judgement.grade)


class Decided(NamedTuple):
    """An adjudicator's grade; `is_carried` when it was carried over from another document with the same text."""

    judgement_id: int
    pool_item_id: int
    topic_id: int
    grade: int
    is_carried: bool


def decisions(session: Session, collection_id: int) -> list[Decided]:
    """Adjudicators' current grades in a collection's accepted topics, earliest first; the last one of an item counts.

    Judgements without a grade (“cannot judge”) are not decisions.
    """
    # From the few adjudications of the site: a single join would scan every pool item and judgement of the collection.
    of_collection = (
        select(Assignment.id, Assignment.pool_item_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
    )
    given = [
        row
        for some in chunks(list(session.scalars(DECIDING)))
        for row in session.execute(of_collection.where(Assignment.id.in_(some)))
    ]
    deciding = {assignment for assignment, _ in given}
    columns = (Judgement.id, Judgement.pool_item_id, PoolItem.topic_id, GRADE)
    present = (
        select(*columns, Judgement.assignment_id, Judgement.carried_from_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, CURRENT, Judgement.grade.is_not(None), OF_PEOPLE)
    )
    own = {
        id_: Decided(id_, item, topic, grade, is_carried=False)
        for some in chunks(sorted({item for _, item in given}))
        for id_, item, topic, grade, assignment, _ in session.execute(present.where(Judgement.pool_item_id.in_(some)))
        if assignment in deciding
    }
    carried = session.execute(present.where(~SHOWN)) if own else ()
    also = [
        Decided(id_, item, topic, grade, is_carried=True)
        for id_, item, topic, grade, _, origin in carried
        if origin in own
    ]
    return sorted([*own.values(), *also])


def decided_grades(made: Iterable[Decided]) -> dict[int, int]:
    """Item id → last decided grade, for the items that were shown to an adjudicator. `made` is ordered by time."""
    made = list(made)
    last = {decision.pool_item_id: decision.grade for decision in made}
    return {decision.pool_item_id: last[decision.pool_item_id] for decision in made if not decision.is_carried}


# The original of a carried-over judgement.
Repeated = aliased(Judgement)


class OwnDisputes(NamedTuple):
    """One topic in an adjudicator's own queue: numbers of disputed, waiting, decided and deferred documents.

    Items that they judged themselves are left out: listing them would reveal that others disagree.
    """

    in_dispute: int = 0
    waiting: int = 0
    decided: int = 0
    put_off: int = 0


class Disputes(NamedTuple):
    """Numbers of a topic's documents that are undecided, held by adjudicators, and decided."""

    in_dispute: int = 0
    in_hands: int = 0
    decided: int = 0


class DecidedGrade(NamedTuple):
    """A judge's grade of a document, and the grade that an adjudicator decided on."""

    judge: str
    grade: int
    decided: int


class DisputedItem(NamedTuple):
    """An item that an adjudicator may decide or has decided; without grades when its judges agree by now."""

    id: int
    topic: str
    low: int | None
    high: int | None


def draw_disputed(
    session: Session, collection: Collection, topic: Topic, judge_id: int, count: int, now: datetime
) -> bool:
    """Assign up to `count` disputed items of a topic to an adjudicator; return whether any was assigned.

    If the collection shows grades to adjudicators, disputes across the relevance threshold come first, then those with
    the widest range of grades. Otherwise that order would reveal the grades, so the order is that of judging.
    """
    session.flush()
    disputed = _disputed(collection.id, PoolItem.topic_id == topic.id)
    low, high = disputed.c.low, disputed.c.high
    is_across = and_(low < collection.relevant_from, high >= collection.relevant_from)
    worst_first = (case((is_across, 0), else_=1), low - high) if collection.shows_grades else ()
    free = _undecided(disputed).where(_may_decide(judge_id), _is_unclaimed(judge_id))
    in_order = free.order_by(*worst_first, PoolItem.priority, PoolItem.id).limit(count)
    # On PostgreSQL, wait for items that another transaction has locked only when no other items are left.
    for skip_locked in (True, False):
        while items := session.scalars(in_order.with_for_update(skip_locked=skip_locked, of=PoolItem)).all():
            # A row lock rereads the item but not its assignments, which may have been inserted meanwhile.
            still_free = set(session.scalars(free.where(PoolItem.id.in_(items))))
            if still_free:
                drawn = [item for item in items if item in still_free]
                lend(session, drawn, judge_id, now, dict.fromkeys(drawn, Purpose.ADJUDICATION))
                return True
    return False


def disputed_items(session: Session, collection_id: int, judge_id: int) -> list[DisputedItem]:
    """The items that are in dispute for an adjudicator or that they decided, in the order of judging."""
    disputed = _disputed(collection_id, None)
    open_ = _undecided(disputed).where(_may_decide(judge_id))
    own = select(Assignment.pool_item_id).where(
        DECIDES, Assignment.judge_id == judge_id, Assignment.state == AssignmentState.DONE
    )
    rows = session.execute(
        select(PoolItem.id, Topic.number, disputed.c.low, disputed.c.high)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .outerjoin(disputed, disputed.c.id == PoolItem.id)
        .where(Topic.collection_id == collection_id, ACCEPTED, or_(PoolItem.id.in_(open_), PoolItem.id.in_(own)))
        .order_by(PoolItem.priority, PoolItem.id)
    )
    return [DisputedItem._make(row) for row in rows]


def take_disputed(session: Session, pool_item_id: int, judge_id: int, now: datetime) -> int | None:
    """Assign one disputed item to a user who is about to decide it; the id of the assignment.

    An item that they decided or hold stays theirs. None for an item that is not in dispute, is held or decided by
    another user, or was given to them as a judge.
    """
    session.flush()
    session.execute(select(PoolItem.id).where(PoolItem.id == pool_item_id).with_for_update())
    own = select(Assignment.id).where(
        Assignment.pool_item_id == pool_item_id, Assignment.judge_id == judge_id, DECIDES, HAS_IT
    )
    found = session.scalar(own)
    if found is not None:
        return found
    free = _undecided(_disputed(None, PoolItem.id == pool_item_id)).where(
        _may_decide(judge_id), _is_unclaimed(judge_id)
    )
    if session.scalar(free) is None:
        return None
    lend(session, [pool_item_id], judge_id, now, {pool_item_id: Purpose.ADJUDICATION})
    return session.scalars(own).one()


def own_disputes(
    session: Session, collection_id: int | None, judge_id: int, in_topics: ColumnElement[bool] | None = None
) -> dict[int, OwnDisputes]:
    """Topic id → this adjudicator's counts, for topics with open disputes or with adjudications of theirs.

    Of one collection, or of all of them that have `in_topics`.
    """
    open_, waiting, decided, put_off = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    counts = (PoolItem.topic_id, func.count(), func.count().filter(_is_unclaimed(judge_id)))
    undecided = _undecided(_disputed(collection_id, in_topics)).where(_may_decide(judge_id)).with_only_columns(*counts)
    for topic_id, count, free in session.execute(undecided.group_by(PoolItem.topic_id)):
        open_[topic_id], waiting[topic_id] = count, free
    own = _adjudications(collection_id, in_topics).where(Assignment.judge_id == judge_id)
    for topic_id, state, count in session.execute(own):
        if state in HELD:
            waiting[topic_id] += count
        if state == AssignmentState.LATER:
            put_off[topic_id] += count
        if state == AssignmentState.DONE:
            decided[topic_id] += count
    return {
        topic: OwnDisputes(open_[topic], waiting[topic], decided[topic], put_off[topic])
        for topic in open_.keys() | waiting.keys() | decided.keys()
    }


def disputes(session: Session, collection_id: int, made: Sequence[Decided], now: datetime) -> dict[int, Disputes]:
    """Topic id → counts of disputes, for the accepted topics that have or had any.

    `made` is the result of `decisions`. Assignments with an expired lease do not count as held.
    """
    over = {decision.pool_item_id for decision in made}
    disputed = _disputed(collection_id, None)
    rows = session.execute(select(disputed.c.id, disputed.c.topic_id))
    open_ = Counter(topic_id for item, topic_id in rows if item not in over)
    held = _adjudications(collection_id, None).where(ACCEPTED, Assignment.lease_until >= now)
    in_hands = Counter[int]()
    for topic_id, state, count in session.execute(held):
        if state in HELD:
            in_hands[topic_id] += count
    shown = {decision.pool_item_id: decision.topic_id for decision in made if not decision.is_carried}
    decided = Counter(shown.values())
    return {
        topic: Disputes(open_[topic], in_hands[topic], decided[topic])
        for topic in open_.keys() | in_hands.keys() | decided.keys()
    }


def undecided_in_topics(session: Session, topic_ids: Iterable[int]) -> dict[int, frozenset[int]]:
    """Topic id → pool items on which judges differ and no adjudicator decided, for the topics that have any."""
    return _by_topic(session, PoolItem.topic_id, topic_ids)


def undecided_among(session: Session, items: Iterable[int]) -> dict[int, frozenset[int]]:
    """Those of these pool items on which judges differ and no adjudicator decided, by topic id."""
    return _by_topic(session, PoolItem.id, items)


def _by_topic(session: Session, column: InstrumentedAttribute[int], ids: Iterable[int]) -> dict[int, frozenset[int]]:
    found = defaultdict[int, set[int]](set)
    for some in chunks(sorted(ids)):
        undecided = _undecided(_disputed(None, column.in_(some))).with_only_columns(PoolItem.topic_id, PoolItem.id)
        for topic_id, item in session.execute(undecided):
            found[topic_id].add(item)
    return {topic_id: frozenset(of_topic) for topic_id, of_topic in found.items()}


def grades_on_decided(session: Session, made: Iterable[Decided]) -> list[DecidedGrade]:
    """People's own grades (not as adjudicators) of decided documents that were shown to them.

    `made` is the result of `decisions`; the last decision on an item counts.
    """
    decided = decided_grades(made)
    words = (
        select(User.name, GRADE, Judgement.pool_item_id)
        .join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(CURRENT, Judgement.grade.is_not(None), SHOWN, JUDGES, OF_PEOPLE)
    )
    return [
        DecidedGrade(name, grade, decided[item])
        for some in chunks(sorted(decided))
        for name, grade, item in session.execute(words.where(Judgement.pool_item_id.in_(some)))
    ]


def given_grades(session: Session, item_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Item id → the distinct grades by people (not as adjudicators), in ascending order."""
    given: dict[int, set[int]] = defaultdict(set)
    rows = session.execute(
        select(Judgement.pool_item_id, GRADE)
        .outerjoin(Repeated, Repeated.id == Judgement.carried_from_id)
        .join(Assignment, Assignment.id == func.coalesce(Repeated.assignment_id, Judgement.assignment_id))
        .where(Judgement.pool_item_id.in_(item_ids), CURRENT, Judgement.grade.is_not(None), OF_PEOPLE, JUDGES)
    )
    for item_id, grade in rows:
        given[item_id].add(grade)
    return {item_id: tuple(sorted(grades)) for item_id, grades in given.items()}


def _disputed(collection_id: int | None, in_topics: ColumnElement[bool] | None) -> Subquery:
    """Items on which people's grades differ, decided or not, with the lowest and the highest grade."""
    in_collection = true() if collection_id is None else Topic.collection_id == collection_id
    return (
        select(
            *(PoolItem.id, PoolItem.topic_id),
            *(func.min(Judgement.grade).label("low"), func.max(Judgement.grade).label("high")),
        )
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .where(in_collection, ACCEPTED, true() if in_topics is None else in_topics)
        .where(CURRENT, Judgement.grade.is_not(None), OF_PEOPLE)
        .group_by(PoolItem.id, PoolItem.topic_id)
        .having(func.min(Judgement.grade) != func.max(Judgement.grade), func.count().filter(SHOWN) > 0)
        .subquery()
    )


def _undecided(disputed: Subquery) -> Select[int]:
    """Ids of the disputed items without an adjudicator's grade."""
    decision = (
        select(Judgement.id)
        .outerjoin(Repeated, Repeated.id == Judgement.carried_from_id)
        .join(Assignment, Assignment.id == func.coalesce(Repeated.assignment_id, Judgement.assignment_id))
        .where(Judgement.pool_item_id == PoolItem.id, CURRENT, Judgement.grade.is_not(None), DECIDES, OF_PEOPLE)
        .correlate(PoolItem)
    )
    return select(PoolItem.id).join(disputed, disputed.c.id == PoolItem.id).where(~decision.exists())


def _is_unclaimed(judge_id: int) -> ColumnElement[bool]:
    """Whether no adjudicator holds an item, and this one has not decided it."""
    has_decided = and_(DECIDES, Assignment.judge_id == judge_id)
    return and_(~_has(has_decided), ~_has(and_(DECIDES, Assignment.state.in_(HELD))))


def _may_decide(judge_id: int) -> ColumnElement[bool]:
    """Whether this adjudicator was never assigned the item as a judge.

    An assignment that they returned counts too: a late judgement of it may still arrive.
    """
    own = and_(Assignment.judge_id == judge_id, JUDGES)
    had = select(Assignment.pool_item_id).where(own, Assignment.state == AssignmentState.RETURNED)
    return and_(~_has(own), PoolItem.id.not_in(had))


def _has(whose: ColumnElement[bool]) -> Exists:
    """Whether an item has a held or completed assignment that satisfies the condition."""
    return exists().where(Assignment.pool_item_id == PoolItem.id, HAS_IT, whose)


def _adjudications(collection_id: int | None, in_topics: ColumnElement[bool] | None) -> Select[int, str, int]:
    """Topic id, assignment state and count of adjudication assignments."""
    in_collection = true() if collection_id is None else Topic.collection_id == collection_id
    return (
        select(PoolItem.topic_id, Assignment.state, func.count())
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(in_collection, DECIDES, true() if in_topics is None else in_topics)
        .group_by(PoolItem.topic_id, Assignment.state)
    )


def judged_and_waiting(
    session: Session, collection: Collection, topic: Topic, judge_id: int, now: datetime, queue: Queue
) -> tuple[int, int]:
    """How many documents of a topic this judge has judged in the queue, and how many wait (0 in a dropped topic)."""
    in_topic = PoolItem.topic_id == topic.id
    is_accepted = topic.state == TopicState.ACCEPTED
    if queue == Queue.ADJUDICATION:
        own = own_disputes(session, collection.id, judge_id, in_topic).get(topic.id, OwnDisputes())
        return own.decided, own.waiting if is_accepted else 0
    waiting = waiting_items(session, judge_id, collection, in_topic, now)[topic.id] if is_accepted else 0
    return done_items(session, judge_id, in_topic)[topic.id], waiting


def done_items(
    session: Session, judge_id: int, in_topics: ColumnElement[bool], *, second_showings: bool = True
) -> Counter[int]:
    """Topic id → number of documents that this judge has judged; one judged in a second showing, too, counts twice.

    Without `second_showings` every document counts once.
    """
    left_out = [Purpose.CARRIED, Purpose.ADJUDICATION, *([] if second_showings else [Purpose.RE_SHOWN])]
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(
            Assignment.judge_id == judge_id,
            Assignment.state == AssignmentState.DONE,
            Assignment.purpose.not_in(left_out),
            in_topics,
        )
        .group_by(PoolItem.topic_id)
    )
    return Counter({topic_id: count for topic_id, count in rows})


def put_off_items(session: Session, judge_id: int, in_topics: ColumnElement[bool]) -> Counter[int]:
    """Topic id → number of pool items that this judge has deferred and still holds."""
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.judge_id == judge_id, Assignment.state == AssignmentState.LATER, JUDGES, in_topics)
        .group_by(PoolItem.topic_id)
    )
    return Counter({topic_id: count for topic_id, count in rows})
