"""How long judging takes in a collection: measured, or a usual time while too little is measured."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.judgements_wanted import mean_wanted
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

SECONDS_UNMEASURED = 30.0
LEAST_MEASURED = 50
SECONDS_AN_HOUR = 3_600


@dataclass(frozen=True)
class Effort:
    """How long judging takes: the median of the judgements so far, or a usual time while there are too few.

    `judgements_wanted` is the mean of a document, the share with a second opinion included.
    """

    seconds: float
    is_measured: bool
    judgements_wanted: float

    def hours(self, judgements: int) -> float:
        """How long all judges together are busy with so many judgements."""
        return judgements * self.seconds / SECONDS_AN_HOUR


def judging_effort(session: Session, collection: Collection) -> Effort:
    """How long judging takes in a collection by its present settings."""
    seconds = (
        select(Judgement.seconds)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, Judgement.seconds.is_not(None))
    )
    count = session.scalars(select(func.count()).select_from(seconds.subquery())).one()
    if count < LEAST_MEASURED:
        return Effort(SECONDS_UNMEASURED, is_measured=False, judgements_wanted=mean_wanted(collection))
    middle = session.scalars(seconds.order_by(Judgement.seconds).offset((count - 1) // 2).limit(2 - count % 2)).all()
    median = sum(each for each in middle if each is not None) / len(middle)
    return Effort(median, is_measured=True, judgements_wanted=mean_wanted(collection))
