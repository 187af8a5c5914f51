"""Stopping rules tried on existing judgements, in the order of a strategy: recall, cost and reliability of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.stopping.reviewed_topic import Marks, ReviewedTopic
from annotator.evaluation.stopping.stopping_rules import (
    RULES,
    USUAL_SETTINGS,
    Certainty,
    StoppingSettings,
    StoppingState,
    decide,
)

ROUNDING = 1e-9
# Rules that need a random sample, which is drawn and judged first.
OF_SAMPLE = ("target-set", "hypergeometric", "autostop")
USUAL_SAMPLE_SHARE = 0.2
USUAL_DRAWS = 5

Documents = NDArray[np.int32]


@dataclass(frozen=True)
class StoppingTrial:
    """What to try: the rules' settings, and the share of each topic's documents that is drawn, so many times."""

    settings: StoppingSettings = USUAL_SETTINGS
    sample_share: float = USUAL_SAMPLE_SHARE
    draws: int = USUAL_DRAWS

    def __post_init__(self) -> None:
        """Raise `InvalidValueError` for a value out of range."""
        if not 0 < self.sample_share < 1:
            raise InvalidValueError(
                "The share of a sample must be between 0 and 1, not %(given)s.", given=self.sample_share
            )


USUAL_TRIAL = StoppingTrial()


@dataclass(frozen=True)
class RuleOutcome:
    """The result of a rule over topics with a relevant document, and over draws where it needs a sample.

    `recall` is the mean over topics, `judged` the share of all judgements that it takes with those of the sample,
    `reliability` how often the target was reached, and `stopped` how often it stopped before the end of the order.
    """

    rule: str
    certainty: Certainty
    recall: float
    judged: float
    reliability: float
    stopped: float


def try_rules(
    orders: Mapping[int, Documents], relevant: Mapping[int, Mapping[int, bool]], trial: StoppingTrial, *, seed: int
) -> tuple[RuleOutcome, ...]:
    """Try every rule on the topics, given by the order of their judged documents and which of them are relevant.

    `relevant` has all judged documents of each topic, also those that the order lacks. Topics without a relevant one
    are left out, since they have no recall. The draws depend on the seed and the place of the topic.
    """
    used = [topic for topic in orders if any(relevant[topic].values())]
    outcomes = []
    for name, rule in RULES.items():
        draws = trial.draws if name in OF_SAMPLE else 1
        tried = [
            outcome
            for place, topic in enumerate(used)
            for outcome in _outcomes(name, orders[topic], relevant[topic], trial, [seed, place], draws)
        ]
        columns = np.array(tried, np.float64).reshape(-1, 4)
        recall, judged, size, stopped = columns.T
        is_reached = recall >= trial.settings.target - ROUNDING
        outcomes.append(
            RuleOutcome(
                name,
                rule.certainty,
                float(recall.mean()),
                float(judged.sum() / size.sum()),
                float(is_reached.mean()),
                float(stopped.mean()),
            )
        )
    return tuple(outcomes)


Outcome = tuple[float, int, int, bool]  # recall, documents judged, all judged documents, whether it stopped


def _outcomes(
    name: str,
    order: Documents,
    relevant: Mapping[int, bool],
    trial: StoppingTrial,
    seed: Sequence[int],
    draws: int,
) -> Iterator[Outcome]:
    marks = _marks(order, relevant)
    total, size = sum(relevant.values()), len(relevant)
    for draw in range(draws):
        topic = ReviewedTopic(marks, size)
        if name in OF_SAMPLE:
            topic = _with_sample(order, relevant, trial.sample_share, np.random.default_rng([*seed, draw]))
        answer = decide(name, topic, trial.settings)
        at = answer.at if answer.state is StoppingState.STOP and answer.at is not None else topic.judged
        found = int(topic.found[at - 1]) if at else 0
        yield found / total, at, size, at < topic.judged


def _with_sample(
    order: Documents, relevant: Mapping[int, bool], share: float, generator: np.random.Generator
) -> ReviewedTopic:
    """Judge a sample of all documents first, then the others in this order."""
    documents = np.array(list(relevant), np.int32)
    drawn = generator.permutation(documents)[: max(round(share * documents.size), 1)]
    is_drawn = np.isin(order, drawn)
    sequence = np.concatenate([drawn, order[~is_drawn]])
    before = np.cumsum(~is_drawn)
    reached_of = dict(zip(order[is_drawn].tolist(), (drawn.size + before[is_drawn]).tolist(), strict=True))
    return ReviewedTopic(
        _marks(sequence, relevant),
        documents.size,
        np.zeros(sequence.size, np.int64),
        np.arange(sequence.size) < drawn.size,
        ((documents.size, drawn.size),),
        np.array([reached_of.get(document, 0) for document in sequence.tolist()], np.int64),
    )


def _marks(documents: Documents, relevant: Mapping[int, bool]) -> Marks:
    return np.array([relevant[document] for document in documents.tolist()], np.bool_)
