"""A judge's own pace: the time a document takes them, what is left for them, and how they grade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.storage import Collection, PoolItem
from annotator.storage.agreement.adjudication_queue import own_disputes
from annotator.storage.collections.collection import accepted_topics, find_collection, find_topic
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.judging.own_judgements import GradeCount, grade_counts, latest_seconds
from annotator.storage.site.bulk_insert import among

# The pace is that of so many last judgements, and unknown before there are a few.
MEASURED = 50
LEAST_MEASURED = 5


@dataclass(frozen=True)
class OwnPace:
    """A judge's figures in a collection; `seconds` is the mean of their last judgements, None while there are few.

    `left_topic` and `left_all` are the documents left for them in the topic and in all topics.
    """

    seconds: float | None
    left_topic: int
    left_all: int
    grades: tuple[GradeCount, ...]

    @property
    def today(self) -> int:
        """The documents judged since the day began, and still with that judgement."""
        return sum(one.since for one in self.grades)

    @property
    def mean_today(self) -> float | None:
        """The mean grade since the day began."""
        return _mean([(one.grade, one.since) for one in self.grades])

    @property
    def mean_before(self) -> float | None:
        """The mean grade before that."""
        return _mean([(one.grade, one.all - one.since) for one in self.grades])


def own_pace(
    session: Session,
    slug: str,
    number: str,
    judge_id: int,
    *,
    since: datetime,
    now: datetime,
    queue: Queue = Queue.JUDGING,
    to_come: Mapping[str, int] | None = None,
) -> OwnPace:
    """A judge's own figures beside a topic; `since` is when their day began, `to_come` as in `topics_to_judge`.

    Raises `NotFoundError`.
    """
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, number)
    decides = queue == Queue.ADJUDICATION
    left = _left(session, collection, judge_id, now, queue)
    for id_, of_number in accepted_topics(session, collection.id).items() if to_come else ():
        left[id_] = left.get(id_, 0) + (to_come or {}).get(of_number, 0)
    seconds = latest_seconds(session, collection.id, judge_id, decides=decides, most=MEASURED)
    return OwnPace(
        sum(seconds) / len(seconds) if len(seconds) >= LEAST_MEASURED else None,
        left.get(topic.id, 0),
        sum(left.values()),
        tuple(grade_counts(session, collection.id, judge_id, topic.id, since, decides=decides)),
    )


def _left(session: Session, collection: Collection, judge_id: int, now: datetime, queue: Queue) -> dict[int, int]:
    """Topic id → documents left for this judge, in accepted topics."""
    if queue == Queue.ADJUDICATION:
        return {topic: counts.waiting for topic, counts in own_disputes(session, collection.id, judge_id).items()}
    in_topics = among(session, PoolItem.topic_id, accepted_topics(session, collection.id))
    return dict(waiting_items(session, judge_id, collection, in_topics, now))


def _mean(counts: Sequence[tuple[int | None, int]]) -> float | None:
    graded = [(grade, count) for grade, count in counts if grade is not None and count]
    total = sum(count for _, count in graded)
    return sum(grade * count for grade, count in graded) / total if total else None
