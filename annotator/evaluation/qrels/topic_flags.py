"""Flags for topics that measure little: too few or too many relevant documents, after judging or at a first look."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from annotator.errors import Sentence

LEAST_RELEVANT = 3
TOO_RELEVANT_SHARE = 0.4  # share of the judged documents from which on too many are relevant
TOO_RELEVANT_PERCENT = round(100 * TOO_RELEVANT_SHARE)
LEAST_JUDGED = 10  # judged documents required before a share is meaningful while others are unjudged
# A quick look shows the best of one ranking, so more documents than in a pool may be relevant.
LOOKS_NEEDED = 10
GREATEST_SHARE_OF_LOOKS = 0.8


class Fault(Enum):
    """The defects of a topic."""

    FEW = Sentence(
        "Fewer than %(least)d documents are relevant: one of them found or missed decides the values of every run.",
        {"least": LEAST_RELEVANT},
    )
    MANY = Sentence(
        "%(percent)d %% or more of the judged documents are relevant: many more will be unjudged, and every run looks "
        "good.",
        {"percent": TOO_RELEVANT_PERCENT},
    )

    @property
    def sentence(self) -> Sentence:
        """The sentence for readers."""
        sentence: Sentence = self.value
        return sentence


class Promise(Enum):
    """The result of a quick look at a draft topic."""

    TOO_EARLY = Sentence(
        "Look at %(needed)d documents at least: with fewer the numbers are unreliable.", {"needed": LOOKS_NEEDED}
    )
    FEW = Sentence(
        "Poor: fewer than %(least)d look relevant. So few cannot separate systems; widen the topic or drop it.",
        {"least": LEAST_RELEVANT},
    )
    MANY = Sentence(
        "Poor: nearly everything looks relevant, so that every system will look good. Narrow the topic or drop it."
    )
    GOOD = Sentence("Promising: some look relevant and some do not.")

    @property
    def sentence(self) -> Sentence:
        """The sentence for readers."""
        sentence: Sentence = self.value
        return sentence


@dataclass(frozen=True)
class JudgedTopic:
    """The counts of a topic: pool items, those with a consensus grade, and the relevant ones of these."""

    number: str
    pooled: int
    judged: int
    relevant: int
    waiting: int  # unjudged documents, including those still to be pooled


@dataclass(frozen=True)
class TopicFlag:
    """A topic that might be dropped, and why; the flag may disappear while documents are unjudged."""

    topic: JudgedTopic
    fault: Fault

    @property
    def is_final(self) -> bool:
        """Whether the whole pool of the topic is judged."""
        return self.topic.waiting == 0


def flag_topics(topics: Sequence[JudgedTopic]) -> list[TopicFlag]:
    """Flag topics with fewer than three relevant documents, or with a too large relevant share of the judged ones.

    One of which nothing is judged is not flagged; nor one with few relevant while those that wait may be relevant, nor
    one with many by its first few judgements. TREC's Deep Learning tracks dropped by R < 3 and by a share of 0.6
    (2019) or 0.4 (2022, after judging). Few goes before many: two of three relevant is few.
    """
    flags = ((topic, fault_of(topic)) for topic in topics)
    return [TopicFlag(topic, fault) for topic, fault in flags if fault is not None]


def promise_of(looked: int, relevant: int) -> Promise:
    """Return the result of a quick look at the top documents of a search or run for a topic.

    Fewer than three of at least ten is as poor as after judging; too many are more than four in five, since the top of
    a ranking is where the relevant ones are.
    """
    if looked < LOOKS_NEEDED:
        return Promise.TOO_EARLY
    if relevant < LEAST_RELEVANT:
        return Promise.FEW
    return Promise.MANY if relevant > GREATEST_SHARE_OF_LOOKS * looked else Promise.GOOD


def fault_of(topic: JudgedTopic) -> Fault | None:
    """Return the defect of a topic by the rules of `flag_topics`; None without any, or without judgements."""
    if not topic.judged:
        return None
    if topic.relevant < LEAST_RELEVANT:
        return Fault.FEW if topic.relevant + topic.waiting < LEAST_RELEVANT else None
    is_early = topic.waiting > 0 and topic.judged < LEAST_JUDGED
    return Fault.MANY if not is_early and topic.relevant >= TOO_RELEVANT_SHARE * topic.judged else None
