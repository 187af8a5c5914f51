"""How the work of judging is shared out, what is judged more than once, and what that costs."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage import ACCEPTED, Collection, JudgingMode, Membership, PoolItem, Role, Topic
from annotator.storage.collection import find_collection, lock_open_collection, topic_ids
from annotator.storage.judge_queue import return_unowned
from annotator.storage.needs import settle_needs

WHOLE = 100
MOST_COMMON_ITEMS = 1_000


@dataclass(frozen=True)
class QueueChange:
    """What to change; None leaves a thing as it is. Shares are of the documents of each topic, in percent."""

    judging_mode: JudgingMode | None = None
    overlap_share: int | None = None
    reshow_share: int | None = None
    common_items: int | None = None


@dataclass(frozen=True)
class QueueCost:
    """How many judgements the accepted topics want in all, and of these how many for which reason.

    `for_everyone` and `test_questions` are documents, which each of the `judges` who works on their topic sees;
    `identical` are documents that take their grade from another with the same text.
    """

    items: int
    judgements: int
    overlap: int
    for_everyone: int
    test_questions: int
    identical: int
    judges: int


def read_mode(text: str) -> JudgingMode:
    """The mode of that name; `InvalidValueError` names those that there are."""
    try:
        return JudgingMode(text)
    except ValueError:
        raise InvalidValueError(
            "“%(mode)s” is not a way of sharing out the work; there are %(choices)s.",
            mode=text,
            choices=", ".join(JudgingMode),
        ) from None


def change_queue(session: Session, slug: str, change: QueueChange) -> None:
    """Change how work is shared out; what has been drawn or judged as overlap, or for everyone, stays so.

    What is in the hands of judges who may not have it by a new mode goes back. Raises `InvalidValueError` for a share
    or number that cannot be and `ConflictError` when the collection is closed.
    """
    _check(change)
    collection = lock_open_collection(session, slug, against_judging=True)
    before = _of_items(collection)
    was_shared = collection.judging_mode == JudgingMode.SHARED
    for name, value in vars(change).items():
        if value is not None:
            setattr(collection, name, value)
    # First, for whoever gives something back locks assignments, and then their items.
    if was_shared and collection.judging_mode == JudgingMode.OWNED:
        return_unowned(session, collection)
    if _of_items(collection) != before:
        settle_needs(session, collection.id, list(topic_ids(session, collection.id).values()))


def queue_cost(session: Session, slug: str) -> QueueCost:
    """What the present settings come to, for the pool as it is."""
    collection = find_collection(session, slug)
    judges = select(func.count()).where(Membership.collection_id == collection.id, Membership.role == Role.JUDGE)
    counts = session.execute(_counts(collection)).one()
    return QueueCost(*counts, judges=session.scalars(judges).one())


def _of_items(collection: Collection) -> tuple[str, int, int]:
    """The settings that say how often each item is judged; to bring a large pool into line with them takes a while."""
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
            "Of a topic, 0 to %(most)d documents can be for every judge, not %(given)d.",
            most=MOST_COMMON_ITEMS,
            given=change.common_items,
        )
