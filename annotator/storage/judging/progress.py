"""Progress of judging by item and by topic, and the time that a judgement takes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, String, and_, cast, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.storage.judging.judgements_wanted import mean_wanted
from annotator.storage.judging.leases import DECIDING
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import HAS_OWN_TIME, Judgement, not_withdrawn
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic


def item_progress(in_topics: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Query of pool items: `topic_id`, `document_id`, `is_judged`, `missing` judgements and `is_complete`.

    `in_topics` is a condition on topics. `missing` is negative for an item with more judgements than it wants.
    Judgements by machines and adjudicators do not count.
    """
    given = (
        select(Judgement.pool_item_id, func.count().label("count"))
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(in_topics)
        .where(Judgement.current, Judgement.judge_id.not_in(MACHINES), Judgement.assignment_id.not_in(DECIDING))
        .group_by(Judgement.pool_item_id)
        .cte("given")
    )
    of_standing = given.alias("given_to_standing")
    standing = aliased(PoolItem)
    missing = PoolItem.judgements_wanted - func.coalesce(given.c.count, 0)
    missing_of_standing = standing.judgements_wanted - func.coalesce(of_standing.c.count, 0)
    return (
        select(
            PoolItem.topic_id,
            PoolItem.document_id,
            given.c.pool_item_id.is_not(None).label("is_judged"),
            missing.label("missing"),
            and_(missing <= 0, or_(standing.id.is_(None), missing_of_standing <= 0)).label("is_complete"),
        )
        .join(Topic, Topic.id == PoolItem.topic_id)
        .outerjoin(given, given.c.pool_item_id == PoolItem.id)
        .outerjoin(standing, standing.id == PoolItem.duplicate_of_id)
        .outerjoin(of_standing, of_standing.c.pool_item_id == standing.id)
        .where(in_topics)
    )


def judged_topic_ids(session: Session, ids: Sequence[int]) -> set[int]:
    """Ids of the topics with any judgement, replaced judgements included."""
    statement = select(PoolItem.topic_id).where(exists().where(Judgement.pool_item_id == PoolItem.id)).distinct()
    return {
        topic_id
        for chunk in chunks(list(ids))
        for topic_id in session.scalars(statement.where(PoolItem.topic_id.in_(chunk)))
    }


class TopicCount(NamedTuple):
    """An accepted topic with a pool: numbers of its items and of those without judgements."""

    id: int
    number: str
    pooled: int
    waiting: int


def topic_counts(session: Session, collection_id: int, *, machines: bool) -> list[TopicCount]:
    """Counts for each accepted topic with a pool; judgements by machines count only with `machines`."""
    is_judged = exists().where(Judgement.pool_item_id == PoolItem.id, Judgement.current)
    if not machines:
        is_judged = is_judged.where(Judgement.judge_id.not_in(MACHINES))
    rows = session.execute(
        select(Topic.id, Topic.number, func.count(), func.count().filter(~is_judged))
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .group_by(Topic.id, Topic.number)
    )
    return [TopicCount(*row) for row in rows]


class DayOfJudge(NamedTuple):
    """The number of documents that a judge judged on a day, in UTC."""

    judge_id: int
    day: date
    judged: int


def days_of_judges(session: Session, topic_ids: Iterable[int]) -> dict[int, list[DayOfJudge]]:
    """Topic id → the documents judged by each person on each day; only topics that have any.

    Imported labels, withdrawn judgements, changes and adjudications are left out.
    """
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    at = Judgement.judged_at
    day = func.date(at) if is_sqlite else func.date(func.timezone("UTC", at))
    found = defaultdict[int, list[DayOfJudge]](list)
    for some in chunks(sorted(topic_ids)):
        rows = session.execute(
            select(PoolItem.topic_id, Judgement.judge_id, cast(day, String), func.count())
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .where(PoolItem.topic_id.in_(some), HAS_OWN_TIME, Judgement.judge_id.not_in(MACHINES))
            .where(Judgement.replaces_id.is_(None), Judgement.carried_from_id.is_(None))
            .where(not_withdrawn(Judgement.__table__), Judgement.assignment_id.not_in(DECIDING))
            .group_by(PoolItem.topic_id, Judgement.judge_id, day)
        )
        for topic_id, judge_id, text, count in rows:
            found[topic_id].append(DayOfJudge(judge_id, date.fromisoformat(text), count))
    return found


SECONDS_UNMEASURED = 30.0
LEAST_MEASURED = 50
# If so many of the site's latest judgements belong to the collection, the median is taken from these alone.
LATEST, LEAST_RECENT = 50_000, 2_000
SECONDS_AN_HOUR = 3_600


@dataclass(frozen=True)
class Effort:
    """Time per judgement in seconds: the median, or a default while there are too few.

    `judgements_wanted` is the mean per document, second opinions included. Judges are paid `pay_per_hour` in
    `currency`, None when that is not stated.
    """

    seconds: float
    is_measured: bool
    judgements_wanted: float
    pay_per_hour: float | None = None
    currency: str = ""

    def hours(self, judgements: int) -> float:
        """Hours of judging for so many judgements, summed over judges."""
        return judgements * self.seconds / SECONDS_AN_HOUR

    def price(self, judgements: int) -> float | None:
        """The pay for so many judgements; None when the pay is not stated."""
        return None if self.pay_per_hour is None else self.hours(judgements) * self.pay_per_hour


def judging_effort(session: Session, collection: Collection) -> Effort:
    """The effort of judging in a collection with its present settings."""
    effort = Effort(
        SECONDS_UNMEASURED,
        is_measured=False,
        judgements_wanted=mean_wanted(collection),
        pay_per_hour=collection.pay_per_hour,
        currency=collection.pay_currency,
    )
    recent = _recent_seconds(session, collection.id)
    if len(recent) >= LEAST_RECENT:
        return replace(effort, seconds=median(recent), is_measured=True)
    seconds = (
        select(Judgement.seconds)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, Judgement.seconds.is_not(None))
    )
    count = session.scalars(select(func.count()).select_from(seconds.subquery())).one()
    if count < LEAST_MEASURED:
        return effort
    middle = session.scalars(seconds.order_by(Judgement.seconds).offset((count - 1) // 2).limit(2 - count % 2)).all()
    of_middle = sum(each for each in middle if each is not None) / len(middle)
    return replace(effort, seconds=of_middle, is_measured=True)


def _recent_seconds(session: Session, collection_id: int) -> list[float]:
    """The times of this collection's judgements among the site's latest: at a million all take seconds to sort."""
    newest = session.scalar(select(func.max(Judgement.id))) or 0
    latest = (
        select(Judgement.pool_item_id, Judgement.seconds)
        .where(Judgement.id > newest - LATEST, Judgement.seconds.is_not(None))
        .limit(LATEST)  # without it SQLite would read all judgements of the collection, and then look at their ids
        .subquery()
    )
    of_collection = (
        select(latest.c.seconds)
        .join(PoolItem, PoolItem.id == latest.c.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
    )
    return list(session.scalars(of_collection))
