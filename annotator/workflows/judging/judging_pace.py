"""How judging proceeds: the burn-down of a collection, the work of each judge, and judges who are late."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.pooling.burn_down import BurnDown, burn_down
from annotator.storage import ACCEPTED, Collection, JudgingMode, Membership, Role, Topic, User
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.progress import DayOfJudge, days_of_judges
from annotator.storage.topics.revisions import judged_revisions
from annotator.workflows.collections.topic_memory import TopicMemory
from annotator.workflows.pools.pools import TopicProgress

# The days of the judges of each topic.
DaysMemory = TopicMemory[list[DayOfJudge]]
# A judge with documents left is late after so many days without a judgement.
DAYS_UNTIL_LATE = 7


@dataclass(frozen=True)
class JudgePace:
    """A judge's documents of today, of the last seven days and in all; `last_day` is None before the first one.

    Days are those of UTC. `is_late`: documents are left for them, and they have judged none for seven days.
    """

    judge: str
    today: int
    week: int
    total: int
    last_day: date | None
    is_late: bool


@dataclass(frozen=True)
class JudgingPace:
    """The burn-down of a collection, and every person who judges or has judged in it, by name."""

    burn_down: BurnDown
    judges: tuple[JudgePace, ...]

    @property
    def late(self) -> tuple[JudgePace, ...]:
        """The judges who are late."""
        return tuple(judge for judge in self.judges if judge.is_late)


def judging_pace(
    session: Session,
    slug: str,
    progress: Sequence[TopicProgress],
    *,
    now: datetime,
    memory: DaysMemory | None = None,
) -> JudgingPace:
    """How judging proceeds in a collection; `progress` is that of its topics.

    Imported labels, which have no day of their own, are part of the progress and of no day. Without a memory every
    judgement is read, which takes seconds at a million.
    """
    collection = find_collection(session, slug)
    today = now.astimezone(UTC).date()
    by_day = _by_day(session, collection.id, memory)
    remaining = {topic.number: topic.remaining for topic in progress}
    given = Counter[date]()
    for one in by_day:
        given[one.day] += one.judged
    members = _members(session, collection)
    names = {**_names(session, by_day), **{id_: name for id_, (name, _) in members.items()}}
    with_work = _with_work(session, collection, remaining, set(members))
    judges = [
        _pace(
            names[id_],
            [one for one in by_day if one.judge_id == id_],
            today,
            late_after=members[id_][1] if id_ in with_work else None,
        )
        for id_ in names
    ]
    return JudgingPace(
        burn_down(given, sum(remaining.values()), today),
        tuple(sorted(judges, key=lambda judge: judge.judge)),
    )


@dataclass(frozen=True)
class JudgedByDay:
    """The documents that each judge judged on each day, from the first to the last without gaps; judges by name."""

    judges: tuple[str, ...]
    days: tuple[tuple[date, tuple[int, ...]], ...]


def judged_by_day(session: Session, slug: str, *, most: int, memory: DaysMemory | None = None) -> JudgedByDay:
    """The last `most` days until the last judgement; imported labels, which have no day of their own, are left out."""
    by_day = _by_day(session, find_collection(session, slug).id, memory)
    if not by_day:
        return JudgedByDay((), ())
    names = _names(session, by_day)
    last = max(one.day for one in by_day)
    first = max(min(one.day for one in by_day), last - timedelta(days=most - 1))
    judged = {(names[one.judge_id], one.day): one.judged for one in by_day if one.day >= first}
    judges = tuple(sorted({name for name, _ in judged}))
    days = (first + timedelta(days=place) for place in range((last - first).days + 1))
    return JudgedByDay(judges, tuple((day, tuple(judged.get((name, day), 0) for name in judges)) for day in days))


def _by_day(session: Session, collection_id: int, memory: DaysMemory | None) -> list[DayOfJudge]:
    """The days of all judges, over all accepted topics."""
    marks = judged_revisions(session, collection_id)
    of_topics = (memory or DaysMemory()).values(collection_id, marks, lambda stale: days_of_judges(session, stale))
    judged = Counter[tuple[int, date]]()
    for one in chain.from_iterable(of_topics.values()):
        judged[one.judge_id, one.day] += one.judged
    return [DayOfJudge(judge_id, day, count) for (judge_id, day), count in judged.items()]


def _pace(name: str, days: Sequence[DayOfJudge], today: date, *, late_after: date | None) -> JudgePace:
    """One judge; `late_after` is the day of joining if documents are left for them, else None."""
    last_day = max((one.day for one in days), default=None)
    began = None if late_after is None else max(late_after, last_day or late_after)
    return JudgePace(
        name,
        today=sum(one.judged for one in days if one.day == today),
        week=sum(one.judged for one in days if today - timedelta(days=7) < one.day <= today),
        total=sum(one.judged for one in days),
        last_day=last_day,
        is_late=began is not None and (today - began).days >= DAYS_UNTIL_LATE,
    )


def _members(session: Session, collection: Collection) -> dict[int, tuple[str, date]]:
    """User id → name and day of joining, of the judges."""
    rows = session.execute(
        select(User.id, User.name, Membership.added_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.collection_id == collection.id, Membership.role == Role.JUDGE)
    )
    return {id_: (name, added_at.astimezone(UTC).date()) for id_, name, added_at in rows}


def _names(session: Session, days: Sequence[DayOfJudge]) -> dict[int, str]:
    ids = {one.judge_id for one in days}
    return {id_: name for id_, name in session.execute(select(User.id, User.name).where(User.id.in_(ids)))}


def _with_work(session: Session, collection: Collection, remaining: dict[str, int], judges: set[int]) -> set[int]:
    """Ids of the judges for whom documents are left: in their own topics, or in any where topics are shared."""
    if collection.state != "open" or not any(remaining.values()):
        return set()
    if collection.judging_mode == JudgingMode.SHARED:
        return judges
    rows = session.execute(select(Topic.number, Topic.owner_id).where(Topic.collection_id == collection.id, ACCEPTED))
    return judges & {owner for number, owner in rows if owner is not None and remaining.get(number)}
