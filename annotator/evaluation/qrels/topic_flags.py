"""Which topics measure little: too little or too much is relevant, after judging or at a first look."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from annotator.errors import Sentence

LEAST_RELEVANT = 3
TOO_RELEVANT_SHARE = 0.4  # of the judged documents; from this share on too many are relevant
TOO_RELEVANT_PERCENT = round(100 * TOO_RELEVANT_SHARE)
LEAST_JUDGED = 10  # before a share says anything of a topic of which documents still wait
# A quick look has the best of one ranking before it, so that far more than in a pool may look relevant.
LOOKS_NEEDED = 10
GREATEST_SHARE_OF_LOOKS = 0.8


class Fault(Enum):
    """What is wrong with a topic."""

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
    """What a quick look tells of a draft."""

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
    """A topic by its numbers: pool items, those with a settled grade, and the relevant ones of these."""

    number: str
    pooled: int
    judged: int
    relevant: int
    waiting: int  # unjudged documents, those that will still be pooled included


@dataclass(frozen=True)
class TopicFlag:
    """A topic that might better be dropped, and why; while documents wait to be judged the flag may still go."""

    topic: JudgedTopic
    fault: Fault

    @property
    def is_final(self) -> bool:
        """Whether the whole pool of the topic was seen."""
        return self.topic.waiting == 0


def flag_topics(topics: Sequence[JudgedTopic]) -> list[TopicFlag]:
    """Flag topics with fewer than three relevant documents, or with too many of the judged ones relevant.

    One of which nothing is judged is not flagged; nor one with few relevant while those that wait may be relevant, nor
    one with many by its first few judgements. TREC's Deep Learning tracks dropped by R < 3 and by a share of 0.6
    (2019) or 0.4 (2022, after judging). Few goes before many: two of three relevant is few.
    """
    flags = ((topic, fault_of(topic)) for topic in topics)
    return [TopicFlag(topic, fault) for topic, fault in flags if fault is not None]


def promise_of(looked: int, relevant: int) -> Promise:
    """Tell what a quick look at the best documents of a search or run says of a topic.

    Fewer than three of at least ten is as poor as after judging; too many are more than four in five, since the top of
    a ranking is where the relevant ones are.
    """
    if looked < LOOKS_NEEDED:
        return Promise.TOO_EARLY
    if relevant < LEAST_RELEVANT:
        return Promise.FEW
    return Promise.MANY if relevant > GREATEST_SHARE_OF_LOOKS * looked else Promise.GOOD


def fault_of(topic: JudgedTopic) -> Fault | None:
    """What is wrong with a topic, by the rules of `flag_topics`; None where nothing is, or nothing is judged."""
    if not topic.judged:
        return None
    if topic.relevant < LEAST_RELEVANT:
        return Fault.FEW if topic.relevant + topic.waiting < LEAST_RELEVANT else None
    is_early = topic.waiting > 0 and topic.judged < LEAST_JUDGED
    return Fault.MANY if not is_early and topic.relevant >= TOO_RELEVANT_SHARE * topic.judged else None
