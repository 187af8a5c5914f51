"""How much of the pool is relevant: so much that far more must be unjudged, or so little that it measures nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.errors import Sentence
from annotator.evaluation.leaderboard.collection_figures import Missing, share_of
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.qrels.topic_flags import (
    LEAST_JUDGED,
    TOO_RELEVANT_PERCENT,
    TOO_RELEVANT_SHARE,
    Fault,
    JudgedTopic,
    fault_of,
)

CAREFUL_SHARE = 0.17  # relevant share of the judged documents from which on care is needed


class Density(SentenceEnum):
    """What the relevant share of the judged documents means for systems that did not feed the pool."""

    HEALTHY = Sentence(
        "Healthy: less than 17 %% of the judged documents are relevant; in the classic TREC pools it was about 6 %%."
    )
    CAREFUL = Sentence(
        "Careful: 17 %% or more of the judged documents are relevant, as in collections known to favour the systems "
        "that fed the pool (17 to 23 %%)."
    )
    TOO_MANY = Sentence(
        "Too many: %(percent)d %% or more of the judged documents are relevant, so that many more will be unjudged; "
        "TREC's Deep Learning tracks dropped topics from 40 to 60 %% on.",
        {"percent": TOO_RELEVANT_PERCENT},
    )


@dataclass(frozen=True)
class TopicDensity:
    """A topic, and how much of what was judged is relevant."""

    topic: JudgedTopic
    share: Figure
    density: Density | None  # None while too little is judged to say

    @property
    def is_flagged(self) -> bool:
        """Whether too many are relevant."""
        return fault_of(self.topic) is Fault.MANY

    @property
    def has_too_few(self) -> bool:
        """Whether fewer are relevant than a topic needs, and those that wait to be judged cannot change that."""
        return fault_of(self.topic) is Fault.FEW


@dataclass(frozen=True)
class PoolDensity:
    """The whole pool, and each topic in the order in which it was given."""

    topics: tuple[TopicDensity, ...]
    share: Figure  # of all topics together
    density: Density | None
    median_share: Figure  # of the topics of which something is judged

    @property
    def flagged(self) -> tuple[str, ...]:
        """The topics of which too much is relevant."""
        return tuple(one.topic.number for one in self.topics if one.is_flagged)

    @property
    def too_few(self) -> tuple[str, ...]:
        """The topics of which too little is relevant."""
        return tuple(one.topic.number for one in self.topics if one.has_too_few)


def pool_density(topics: Sequence[JudgedTopic]) -> PoolDensity:
    """Give the relevant share of the judged documents, by topic and of all, and words for it.

    A topic whose first few judgements are all there is, while documents wait, has a share but no word yet.
    """
    judged = sum(topic.judged for topic in topics)
    share = share_of(sum(topic.relevant for topic in topics), judged, Missing.NO_JUDGEMENT)
    of_topics = tuple(_of_topic(topic) for topic in topics)
    known = [one.share.value for one in of_topics if one.share.value is not None]
    middle = Figure(float(np.median(known))) if known else Figure(None, Missing.NO_JUDGEMENT)
    waiting = sum(topic.waiting for topic in topics)
    return PoolDensity(of_topics, share, _density(share, judged, waiting), middle)


def _of_topic(topic: JudgedTopic) -> TopicDensity:
    share = share_of(topic.relevant, topic.judged, Missing.NO_JUDGEMENT)
    return TopicDensity(topic, share, _density(share, topic.judged, topic.waiting))


def _density(share: Figure, judged: int, waiting: int) -> Density | None:
    if share.value is None or (waiting and judged < LEAST_JUDGED):
        return None
    if share.value >= TOO_RELEVANT_SHARE:
        return Density.TOO_MANY
    return Density.CAREFUL if share.value >= CAREFUL_SHARE else Density.HEALTHY
