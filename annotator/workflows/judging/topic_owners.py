"""Assignment of topics to judges: by hand, or balanced by remaining work."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.balancing import TopicWork, balanced_owners
from annotator.storage import ACCEPTED, Assignment, Judgement, JudgingMode, Membership, PoolItem, Role, Topic, User
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.judging.eligibility import OPEN, reassign
from annotator.storage.tables.judging import HAS_IT, HELD, JUDGES


@dataclass(frozen=True)
class AssignedTopic:
    """A topic with its number of documents to judge, and its owner.

    `judged` has at least one judgement. `remaining` is what its owner (a new one, if there is none) holds and could
    draw: documents that want another judge, or are for everyone. Documents that repeat another's text count nowhere.
    """

    number: str
    title: str
    items: int
    judged: int
    remaining: int
    owner: str | None


@dataclass(frozen=True)
class JudgeWork:
    """A judge with the topics they own and what remains in them."""

    name: str
    topics: int
    remaining: int


@dataclass(frozen=True)
class Assigning:
    """The assignment of topics to judges; `gone` are owners who judge no more, whose topics nobody can draw."""

    mode: JudgingMode
    topics: tuple[AssignedTopic, ...]
    judges: tuple[JudgeWork, ...]
    gone: tuple[str, ...]

    @property
    def without_owner(self) -> int:
        """The number of topics whose owner is missing or judges no more."""
        return sum(topic.owner is None or topic.owner in self.gone for topic in self.topics)


@dataclass(frozen=True)
class Move:
    """A topic whose owner changes; None is nobody."""

    topic: AssignedTopic
    owner: str | None


@dataclass(frozen=True)
class AssigningPlan:
    """Topics whose owner would change, and the work of every judge before and after."""

    moves: tuple[Move, ...]
    judges: tuple[tuple[JudgeWork, JudgeWork], ...]

    @property
    def owners(self) -> dict[str, str | None]:
        """Topic number → new owner."""
        return {move.topic.number: move.owner for move in self.moves}


@dataclass(frozen=True)
class Reassigned:
    """How many topics changed owner, and how many documents were returned to the queue by that."""

    topics: int
    given_back: int


def show_assigning(session: Session, slug: str) -> Assigning:
    """The accepted topics with their owners, and the judges with their remaining work."""
    collection = find_collection(session, slug)
    judges = _judges(session, collection.id)
    rows = sorted(session.execute(_topics(collection.id)), key=lambda row: natural_order(row[0]))
    topics = tuple(AssignedTopic(*row) for row in rows)
    owners = {topic.owner for topic in topics if topic.owner is not None}
    return Assigning(
        JudgingMode(collection.judging_mode), topics, _work(topics, judges), tuple(sorted(owners - judges.keys()))
    )


def plan_by_hand(session: Session, slug: str, numbers: Sequence[str], judge: str | None) -> AssigningPlan:
    """Preview giving these topics to a judge, or to nobody; stores nothing.

    Raises `NotFoundError` for a topic that is not an accepted one and for a user who does not judge here.
    """
    return _plan(show_assigning(session, slug), dict.fromkeys(numbers, judge))


def plan_balance(session: Session, slug: str, judges: Sequence[str] = (), *, reassign: bool = False) -> AssigningPlan:
    """Preview balancing the topics among these judges, or all; stores nothing.

    Distributes topics that none of them owns, or all with `reassign`; topics without work keep their owner. Raises
    `NotFoundError` for a user who does not judge here, and when nobody does.
    """
    present = show_assigning(session, slug)
    _refuse_others(_names(present), judges)
    if not present.judges:
        raise NotFoundError("This collection has no judges yet: make somebody a judge first.")
    named = judges or [judge.name for judge in present.judges]
    # Other owners keep their topics, unless all are redistributed.
    staying = {judge.name for judge in present.judges} - set(named)
    work = [
        TopicWork(topic.number, topic.remaining, topic.owner)
        for topic in present.topics
        if reassign or topic.owner not in staying
    ]
    return _plan(present, balanced_owners(work, named, reassign=reassign))


def balance_topics(
    session: Session, slug: str, judges: Sequence[str] = (), *, reassign: bool = False
) -> tuple[AssigningPlan, Reassigned]:
    """Balance the topics as `plan_balance` plans it, and return the plan with what came of it.

    Raises as `plan_balance` and `assign_topics`.
    """
    lock_open_collection(session, slug, against_judging=True)
    plan = plan_balance(session, slug, judges, reassign=reassign)
    return plan, assign_topics(session, slug, plan.owners)


def by_owner(owners: Mapping[str, str | None]) -> dict[str | None, list[str]]:
    """Judge → the numbers of the topics they get; None → topics left without an owner."""
    topics: dict[str | None, list[str]] = {}
    for number, judge in owners.items():
        topics.setdefault(judge, []).append(number)
    return topics


def assign_topics(session: Session, slug: str, owners: Mapping[str, str | None]) -> Reassigned:
    """Set the owners of topics, number → name or None; leases that are no longer allowed are returned.

    Judgements are kept. Raises `NotFoundError` for a topic that is not an accepted one and for a user who does not
    judge here, and `ConflictError` when the collection is closed; nothing is stored then.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    judges = _judges(session, collection.id)
    _refuse_others(judges, [name for name in owners.values() if name is not None])
    accepted = select(Topic).where(Topic.collection_id == collection.id, ACCEPTED)
    topics = {topic.number: topic for topic in session.scalars(accepted)}
    _refuse_unknown(topics, owners)
    new = {number: None if name is None else judges[name] for number, name in owners.items()}
    moved = [(topics[number], owner_id) for number, owner_id in new.items() if topics[number].owner_id != owner_id]
    # Only topics that change owner: in others a judge may hold a document they found by searching.
    given_back = sum(reassign(session, topic, owner_id) for topic, owner_id in moved)
    return Reassigned(len(moved), given_back)


def _judges(session: Session, collection_id: int) -> dict[str, int]:
    """Name → user id of every judge of the collection."""
    rows = session.execute(
        select(User.name, User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.collection_id == collection_id, Membership.role == Role.JUDGE)
        .order_by(User.name)
    )
    return {name: id_ for name, id_ in rows}


def _topics(collection_id: int) -> Select[str, str, int, int, int, str | None]:
    """The columns of `AssignedTopic`."""
    is_judged = exists().where(Judgement.pool_item_id == PoolItem.id, Judgement.current)
    owners = and_(Assignment.pool_item_id == PoolItem.id, Assignment.judge_id == Topic.owner_id, HAS_IT)
    could_draw = and_(Assignment.id.is_(None), or_(OPEN, PoolItem.for_everyone))
    return (
        select(
            Topic.number,
            Topic.title,
            func.count(PoolItem.id),
            func.count().filter(is_judged),
            func.count().filter(PoolItem.id.is_not(None), or_(could_draw, and_(Assignment.state.in_(HELD), JUDGES))),
            User.name,
        )
        .select_from(Topic)
        .outerjoin(PoolItem, and_(PoolItem.topic_id == Topic.id, PoolItem.duplicate_of_id.is_(None)))
        .outerjoin(Assignment, owners)
        .outerjoin(User, User.id == Topic.owner_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .group_by(Topic.id, User.name)
    )


def _work(topics: Sequence[AssignedTopic], judges: Mapping[str, object]) -> tuple[JudgeWork, ...]:
    owned = {name: [topic for topic in topics if topic.owner == name] for name in judges}
    return tuple(JudgeWork(name, len(own), sum(topic.remaining for topic in own)) for name, own in owned.items())


def _plan(present: Assigning, owners: Mapping[str, str | None]) -> AssigningPlan:
    """The topics whose owner would change; the work after is based on what remains now."""
    _refuse_others(_names(present), [owner for owner in owners.values() if owner is not None])
    topics = {topic.number: topic for topic in present.topics}
    _refuse_unknown(topics, owners)
    moves = [
        Move(topic, owners[number])
        for number, topic in topics.items()
        if owners.get(number, topic.owner) != topic.owner
    ]
    then = _work(_moved(present.topics, moves), _names(present))
    return AssigningPlan(tuple(moves), tuple(zip(present.judges, then, strict=True)))


def _moved(topics: Sequence[AssignedTopic], moves: Sequence[Move]) -> list[AssignedTopic]:
    owners = {move.topic.number: move.owner for move in moves}
    return [replace(topic, owner=owners.get(topic.number, topic.owner)) for topic in topics]


def _names(present: Assigning) -> dict[str, None]:
    return dict.fromkeys(judge.name for judge in present.judges)


def _refuse_others(judges: Container[str], names: Iterable[str]) -> None:
    """Raise `NotFoundError` for names of users who do not judge here."""
    for name in names:
        if name not in judges:
            raise NotFoundError("“%(name)s” is no judge of this collection.", name=name)


def _refuse_unknown(topics: Container[str], numbers: Iterable[str]) -> None:
    """Raise `NotFoundError` for numbers that are not accepted topics."""
    for number in numbers:
        if number not in topics:
            raise NotFoundError("There is no accepted topic “%(number)s” in this collection.", number=number)
