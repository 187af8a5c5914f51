"""Settings of the judging queue (assignment mode, overlap, repeats) and their cost in judgements."""

from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage import ACCEPTED, Collection, JudgingMode, Membership, PoolItem, Role, Topic
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    lock_open_collection,
    topic_ids,
)
from annotator.storage.judging.eligibility import return_unowned
from annotator.storage.judging.foreseen_marks import ForeseenMarks, foresee_marks, set_foreseen
from annotator.storage.judging.judgements_wanted import foresee_wanted, settle_needs
from annotator.storage.judging.progress import Effort, judging_effort
from annotator.storage.tables.collections import DEFAULT_POLICIES, EARLIER_DEFAULT_OWNED

WHOLE = 100
MOST_COMMON_ITEMS = 1_000


@dataclass(frozen=True)
class QueueChange:
    """New values of settings; None leaves one unchanged. Shares are per cent of each topic's documents."""

    judging_mode: JudgingMode | None = None
    overlap_share: int | None = None
    reshow_share: int | None = None
    common_items: int | None = None


@dataclass(frozen=True)
class QueueCost:
    """How many judgements the accepted topics want in all, and how many of these for which reason.

    `for_everyone` and `test_questions` count documents, each shown to every one of the `judges` of their topic;
    `identical` counts documents that take their grade from another with the same text.
    """

    items: int
    judgements: int
    overlap: int
    for_everyone: int
    test_questions: int
    identical: int
    judges: int
    reshow_share: int

    @property
    def all_judgements(self) -> int:
        """The total if every judge works on every topic, common documents and repeats included."""
        once = self.judgements + self.for_everyone * self.judges
        return once + once * self.reshow_share // WHOLE


@dataclass(frozen=True)
class MoreJudging:
    """The additional judgements that a change of settings requires, and the time they take."""

    judgements: int
    effort: Effort


def read_mode(text: str) -> JudgingMode:
    """Parse the name of a mode; raises `InvalidValueError`, naming all modes."""
    try:
        return JudgingMode(text)
    except ValueError:
        raise InvalidValueError(
            "“%(mode)s” is not a way of sharing out the work; there are %(choices)s.",
            mode=text,
            choices=", ".join(JudgingMode),
        ) from None


def change_queue(
    session: Session, slug: str, change: QueueChange, *, foreseen: ForeseenMarks | None = None
) -> str | None:
    """Change the settings of the queue, and return the consensus policy if it changes with them.

    Items already drawn or judged as overlap, or for everyone, stay so. Leases of judges who may not have the item in
    the new mode are returned. A consensus policy that is the default of the old mode becomes that of the new one; any
    other stays. `foreseen` has the marks of the items, where `foresee_queue` computed them before. Raises
    `InvalidValueError` for a share or number out of range and `ConflictError` when the collection is closed.
    """
    _check(change)
    collection = lock_open_collection(session, slug, against_judging=True)
    before = _of_items(collection)
    was_shared = collection.judging_mode == JudgingMode.SHARED
    has_default = _has_default(collection)
    for name, value in vars(change).items():
        if value is not None:
            setattr(collection, name, value)
    is_shared = collection.judging_mode == JudgingMode.SHARED
    follows = has_default and is_shared != was_shared
    policy = DEFAULT_POLICIES[JudgingMode(collection.judging_mode)] if follows else collection.consensus_policy
    is_another, collection.consensus_policy = policy != collection.consensus_policy, policy
    # Lock order: returning a lease locks assignments before their items.
    if was_shared and collection.judging_mode == JudgingMode.OWNED and return_unowned(session, collection):
        foreseen = None  # it has marks that stay because those items were drawn
    if _of_items(collection) != before and not set_foreseen(session, collection, foreseen):
        settle_needs(session, collection.id, list(topic_ids(session, collection.id).values()))
    return policy if is_another else None


def foresee_queue(
    session: Session, slug: str, change: QueueChange, *, judgements_wanted: int | None = None
) -> ForeseenMarks | None:
    """Compute the marks of the items under other settings, which takes long for a large pool; None if they stay.

    Stores and locks nothing. Raises `InvalidValueError` as `change_queue`.
    """
    if change == QueueChange() and judgements_wanted is None:
        return None  # also in a closed collection, where the files for participants may still change
    collection = find_open_collection(session, slug)
    settings = changed_queue(collection, change)
    if judgements_wanted is None and _of_items(settings) == _of_items(collection):
        return None
    settings.judgements_wanted = judgements_wanted or settings.judgements_wanted
    return foresee_marks(session, settings)


def _has_default(collection: Collection) -> bool:
    """Whether the consensus policy is the default of the mode, now or in an earlier version of the program."""
    mode = JudgingMode(collection.judging_mode)
    is_earlier = mode is JudgingMode.OWNED and collection.consensus_policy == EARLIER_DEFAULT_OWNED
    return is_earlier or collection.consensus_policy == DEFAULT_POLICIES[mode]


def queue_cost(session: Session, slug: str) -> QueueCost:
    """The cost of the current settings for the current pool."""
    collection = find_collection(session, slug)
    judges = select(func.count()).where(Membership.collection_id == collection.id, Membership.role == Role.JUDGE)
    counts = session.execute(_counts(collection)).one()
    return QueueCost(*counts, judges=session.scalars(judges).one(), reshow_share=collection.reshow_share)


def changed_queue(collection: Collection, change: QueueChange) -> Collection:
    """A copy of the row, in no session, with the changed settings; raises as `change_queue`."""
    _check(change)
    changed = copied(collection)
    for name, value in vars(change).items():
        if value is not None:
            setattr(changed, name, value)
    return changed


def copied(collection: Collection) -> Collection:
    """A copy of the row, in no session: changes of it are not stored."""
    return Collection(**{name: getattr(collection, name) for name in Collection.__table__.columns.keys()})  # noqa: SIM118 - iterates over columns


def more_judging(session: Session, collection: Collection, settings: Collection, *, settles: bool) -> MoreJudging:
    """The additional work under other settings; `settles` as where the number of judgements wanted is set again."""
    present = queue_cost(session, collection.slug)
    changed = replace(present, reshow_share=settings.reshow_share)
    if settles or _of_items(settings) != _of_items(collection):
        changed = replace(changed, **foresee_wanted(session, settings)._asdict())
    return MoreJudging(changed.all_judgements - present.all_judgements, judging_effort(session, settings))


def _of_items(collection: Collection) -> tuple[str, int, int]:
    """The settings on which the number of judgements per item depends; applying them to a large pool is slow."""
    return collection.judging_mode, collection.overlap_share, collection.common_items


def _counts(collection: Collection) -> Select[int, int, int, int, int, int]:
    def those(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.count().filter(condition)

    return (
        select(
            func.count(),
            func.coalesce(func.sum(PoolItem.judgements_wanted), 0),
            those(PoolItem.is_overlap.is_(True)),
            those(PoolItem.for_everyone & PoolItem.known_grade.is_(None)),
            those(PoolItem.known_grade.is_not(None)),
            those(PoolItem.duplicate_of_id.is_not(None)),
        )
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, ACCEPTED)
    )


def _check(change: QueueChange) -> None:
    for share in (change.overlap_share, change.reshow_share):
        if share is not None and not 0 <= share <= WHOLE:
            raise InvalidValueError("A share is from 0 to 100 percent, not %(given)d.", given=share)
    if change.common_items is not None and not 0 <= change.common_items <= MOST_COMMON_ITEMS:
        raise InvalidValueError(
            "A topic can have 0 to %(most)d common documents, not %(given)d.",
            most=MOST_COMMON_ITEMS,
            given=change.common_items,
        )
