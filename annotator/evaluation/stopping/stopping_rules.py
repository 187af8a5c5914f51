"""Rules that say when the judging of a topic may stop, on its documents in the order of judging.

A rule with a guarantee rests on documents that were drawn at random; all others are heuristics, which have done well
on some collections and promise nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.stopping.recall_estimates import (
    greatest_relevant,
    horvitz_thompson_deviation,
    hypergeometric_cdf,
)
from annotator.evaluation.stopping.reviewed_topic import NOWHERE, Marks, ReviewedTopic
from annotator.evaluation.stopping.target_set import least_positives, needed_positives

NO_VALUE = "-"
ROUNDING = 1e-9  # of numbers of documents that are computed as fractions
FIXED_PART = 100  # of NIST's budget of 2 R + 100 documents
LEAST_RATIO, GREATEST_RATIO = 6, 156  # of slopes before and after the knee
LEAST_RELEVANT, GREATEST_SHARE = 3, 0.6  # of a topic that is kept


class Certainty(StrEnum):
    """Whether a rule promises its target."""

    GUARANTEE = "guarantee"
    HEURISTIC = "heuristic"


class StoppingState(StrEnum):
    """The answer of a rule: stop, go on, it cannot tell yet or with this sample, or it does not apply."""

    STOP = "stop"
    GO_ON = "go-on"
    CANNOT_CERTIFY = "cannot-certify"
    NOT_APPLICABLE = "not-applicable"


class Rho(StrEnum):
    """The bound of the knee: by what is found at the knee, or that of the first look, which is kept."""

    ADAPTIVE = "adaptive"
    FIRST = "first"


@dataclass(frozen=True)
class StoppingSettings:
    """What the rules aim at: recall, the risk of missing it, documents in a row, and a budget of documents a topic."""

    target: float = 0.8
    alpha: float = 0.05
    in_a_row: int = 50
    budget: int | None = None
    rho: Rho = Rho.ADAPTIVE

    def __post_init__(self) -> None:
        """Raise `InvalidValueError` for a value out of range."""
        if not 0 < self.target < 1:
            raise InvalidValueError("The target recall must be between 0 and 1, not %(given)s.", given=self.target)
        if not 0 < self.alpha < 1:
            raise InvalidValueError("The risk must be between 0 and 1, not %(given)s.", given=self.alpha)
        if self.in_a_row < 1 or (self.budget is not None and self.budget < 1):
            raise InvalidValueError("Numbers of documents must be at least 1.")


USUAL_SETTINGS = StoppingSettings()


@dataclass(frozen=True)
class StoppingAnswer:
    """What a rule answers: with `STOP` after how many judged documents, and always why."""

    state: StoppingState
    reason: Sentence
    at: int | None = None


Decide = Callable[[ReviewedTopic, StoppingSettings], StoppingAnswer]


@dataclass(frozen=True)
class StoppingRule:
    """A rule, what it promises, and its source."""

    decide: Decide
    certainty: Certainty
    source: str


def _go_on(reason: Sentence) -> StoppingAnswer:
    return StoppingAnswer(StoppingState.GO_ON, reason)


def _first(is_met: Marks) -> int | None:
    """The index of the first true element."""
    return int(np.argmax(is_met)) if is_met.any() else None


def _in_all(topic: ReviewedTopic, number: int) -> int:
    """How many documents of the whole topic were judged when this many chosen ones were."""
    return int(topic.chosen[number - 1]) + 1


def knee(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop when the gain curve has bent: relevant documents came much faster before its knee than after it.

    The ratio of the slopes must reach 156 - min(relevant at the knee, 150); looks are taken after batches that grow by
    a tenth. The least number of documents, 100, needs no check: the ratio is never reached before the 156th. With
    rho=first the bound of the first look is kept, as the published code of AutoStop does, to reproduce its tables.
    """
    review = topic.review
    knees = review.knees
    if not review.looks.size:
        return _go_on(Sentence("Nothing is judged yet."))
    bounds = GREATEST_RATIO - np.minimum(knees.relevant, GREATEST_RATIO - LEAST_RATIO)
    if settings.rho is Rho.FIRST:
        bounds = np.full_like(bounds, bounds[0])
    at = _first(knees.ratios >= bounds)
    if at is None:
        return _go_on(
            Sentence(
                "The ratio of the slopes before and after the knee is %(ratio)s and must reach %(bound)d.",
                {"ratio": f"{knees.ratios[-1]:.1f}", "bound": int(bounds[-1])},
            )
        )
    reason = Sentence(
        "The ratio of the slopes before and after the knee reached %(ratio)s, the bound being %(bound)d.",
        {"ratio": f"{knees.ratios[at]:.1f}", "bound": int(bounds[at])},
    )
    return StoppingAnswer(StoppingState.STOP, reason, _in_all(topic, int(review.looks[at])))


def in_a_row(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop after a number of documents in a row without a relevant one."""
    review = topic.review
    places = np.arange(review.judged)
    last = np.maximum.accumulate(np.where(review.relevant, places, -1)) if review.judged else places
    rows = places - last
    at = _first(rows >= settings.in_a_row)
    if at is None:
        return _go_on(
            Sentence(
                "Documents in a row without a relevant one: %(count)d of %(wanted)d.",
                {"count": int(rows[-1]) if rows.size else 0, "wanted": settings.in_a_row},
            )
        )
    reason = Sentence("%(count)d documents in a row were not relevant.", {"count": settings.in_a_row})
    return StoppingAnswer(StoppingState.STOP, reason, _in_all(topic, at + 1))


def keep_or_drop(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop after 2 R + 100 documents, R being the relevant ones so far; drop topics with few or very many of them.

    A topic with fewer than 3 relevant documents, or with 60 % of the judged ones relevant, is dropped.
    """
    del settings
    review = topic.review
    judged = np.arange(1, review.judged + 1)
    is_met = judged >= 2 * review.found + FIXED_PART
    is_full = (judged >= FIXED_PART) & (review.found >= GREATEST_SHARE * judged)
    at = _first(is_met | is_full)
    if at is None:
        found = int(review.found[-1]) if review.judged else 0
        return _go_on(
            Sentence(
                "%(judged)d of 2 R + 100 = %(budget)d documents are judged.",
                {"judged": review.judged, "budget": 2 * found + FIXED_PART},
            )
        )
    found = int(review.found[at])
    values: dict[str, object] = {"relevant": found, "judged": at + 1}
    if is_full[at]:
        reason = Sentence("Drop the topic: %(relevant)d of %(judged)d documents are relevant, 60 %% or more.", values)
    elif found < LEAST_RELEVANT:
        reason = Sentence("Drop the topic: only %(relevant)d of %(judged)d documents are relevant.", values)
    else:
        reason = Sentence("2 R + 100 documents are judged, R being %(relevant)d: keep the topic.", values)
    return StoppingAnswer(StoppingState.STOP, reason, _in_all(topic, at + 1))


def budget(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop after a number of documents; without one, when a knee of ratio 6 has paid for itself, or at three quarters.

    The latter asks for ten times as many documents as random judging would need to meet a relevant one: 10 N / R of N
    candidates, R being the relevant documents so far.
    """
    if settings.budget is not None:
        if topic.judged < settings.budget:
            return _go_on(
                Sentence(
                    "%(judged)d of %(budget)d documents are judged.",
                    {"judged": topic.judged, "budget": settings.budget},
                )
            )
        reason = Sentence("The budget of %(budget)d documents is judged.", {"budget": settings.budget})
        return StoppingAnswer(StoppingState.STOP, reason, settings.budget)
    review = topic.review
    if not review.judged:
        return _go_on(Sentence("Nothing is judged yet."))
    most = -(-3 * review.candidates // 4)
    found = review.found[review.looks - 1] if review.looks.size else NOWHERE
    is_met = (review.knees.ratios >= LEAST_RATIO) & (review.looks * found >= 10 * review.candidates)
    at = _first(is_met)
    number = most if at is None or review.looks[at] > most else int(review.looks[at])
    if at is None and review.judged < most:
        return _go_on(
            Sentence(
                "Neither 10 N / R documents with a knee of ratio 6 nor three quarters of the %(candidates)d candidates "
                "are judged.",
                {"candidates": review.candidates},
            )
        )
    reason = Sentence(
        "%(judged)d of %(candidates)d candidates are judged, which is enough by the budget of Cormack and Grossman.",
        {"judged": number, "candidates": review.candidates},
    )
    return StoppingAnswer(StoppingState.STOP, reason, _in_all(topic, number))


def _without_sample(topic: ReviewedTopic) -> StoppingAnswer | None:
    """The answer of rules that need a random sample where there is none, or where it is not judged whole."""
    if not topic.strata:
        reason = Sentence("There is no random sample of this topic's documents.", {})
        return StoppingAnswer(StoppingState.NOT_APPLICABLE, reason)
    if topic.waiting:
        reason = Sentence("%(count)d documents of the random sample are not judged yet.", {"count": topic.waiting})
        return StoppingAnswer(StoppingState.CANNOT_CERTIFY, reason)
    return None


def target_set(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop when the review has itself come to enough of the relevant documents of a random sample judged first."""
    if (answer := _without_sample(topic)) is not None:
        return answer
    if len(topic.strata) > 1:
        reason = Sentence("The sample was drawn at several rates; a target set is a simple random sample.", {})
        return StoppingAnswer(StoppingState.NOT_APPLICABLE, reason)
    is_positive = topic.is_drawn & topic.relevant
    positives = int(is_positive.sum())
    needed = needed_positives(positives, settings.target, settings.alpha)
    if needed is None:
        reason = Sentence(
            "The sample has %(positives)d relevant documents, by which recall %(target)s cannot be certified: that "
            "takes a larger sample, with at least %(least)d.",
            {
                "positives": positives,
                "target": f"{settings.target:g}",
                "least": least_positives(settings.target, settings.alpha),
            },
        )
        return StoppingAnswer(StoppingState.CANNOT_CERTIFY, reason)
    reached = np.sort(topic.reached[is_positive]) if topic.reached.size else np.zeros(positives, np.int64)
    reached = reached[reached > 0]
    values: dict[str, object] = {"reached": int(reached.size), "positives": positives, "needed": needed}
    if reached.size < needed:
        return _go_on(
            Sentence(
                "The review has come to %(reached)d of the sample's %(positives)d relevant documents and must come to "
                "%(needed)d.",
                values,
            )
        )
    reason = Sentence(
        "The review came to %(needed)d of the sample's %(positives)d relevant documents, as many as are needed.", values
    )
    return StoppingAnswer(StoppingState.STOP, reason, max(int(reached[needed - 1]), topic.sample_complete_at))


def hypergeometric(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop when so few relevant documents can be left that recall below the target is refuted by the random sample.

    The hypergeometric probability of so few relevant documents in the sample, if recall were below the target, must be
    at most alpha. The sample is complete before anything is computed, so that looking again and again does no harm.
    With several strata each has its part of alpha.
    """
    if (answer := _without_sample(topic)) is not None:
        return answer
    size, drawn, _, found, _, _ = np.array(topic.sampled, np.int64).T
    bounds = greatest_relevant(found, size, drawn, settings.alpha / len(topic.sampled))
    # What is known by each document limits it, too; nothing is taken from what was judged later.
    most = topic.outside + np.minimum(bounds[:, None], size[:, None] - topic.irrelevant_inside).sum(axis=0)
    target = Fraction(str(settings.target))
    is_met = topic.found * target.denominator >= most * target.numerator
    at = _first(is_met & topic.is_sample_judged)
    possible = int(most[-1 if at is None else at])
    relevant = int(topic.found[-1] if at is None else topic.found[at])
    values: dict[str, object] = {"found": relevant, "possible": possible, "p": NO_VALUE}
    if len(topic.sampled) == 1:
        below = relevant * target.denominator // target.numerator + 1 - int(topic.outside[-1 if at is None else at])
        values["p"] = f"{float(hypergeometric_cdf(found, size, below, drawn)[0]):.3f}"
    reason = Sentence(
        "%(found)d relevant documents are found, and by the sample there are up to %(possible)d (p = %(p)s).", values
    )
    return _go_on(reason) if at is None else StoppingAnswer(StoppingState.STOP, reason, at + 1)


def retrospective(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop when the last documents, taken for a random sample of the rest, refute that recall is below the target.

    They are not one, and the least probability over several numbers of last documents is taken, so that nothing is
    promised. Looks, and the beginnings of the last documents, are at the ends of batches that grow by a tenth.
    """
    review = topic.review
    looks = review.looks
    if not looks.size:
        return _go_on(Sentence("Nothing is judged yet."))
    before = np.concatenate([[0], looks])
    found_before = np.concatenate([[0], review.found[looks - 1]])
    target = Fraction(str(settings.target))
    look, start = np.nonzero(looks[:, None] > before[None, :])
    found = review.found[looks - 1][look]
    relevant_in_rest = found * target.denominator // target.numerator + 1 - found_before[start]
    p = hypergeometric_cdf(
        found - found_before[start],
        review.candidates - before[start],
        relevant_in_rest,
        looks[look] - before[start],
    )
    least = np.minimum.reduceat(p, np.flatnonzero(np.diff(look, prepend=-1)))
    at = _first((least <= settings.alpha) & (review.found[looks - 1] > 0))
    if at is None:
        return _go_on(
            Sentence(
                "The least p value over the last documents is %(p)s and must reach %(alpha)s.",
                {"p": f"{least[-1]:.3f}", "alpha": f"{settings.alpha:g}"},
            )
        )
    reason = Sentence("The least p value over the last documents reached %(p)s.", {"p": f"{least[at]:.3f}"})
    return StoppingAnswer(StoppingState.STOP, reason, _in_all(topic, int(looks[at])))


def autostop(topic: ReviewedTopic, settings: StoppingSettings) -> StoppingAnswer:
    """Stop when the target share of the estimated number of relevant documents is found.

    The estimate is the Horvitz-Thompson sum over the documents that were drawn at random; what a strategy chose has no
    inclusion probability and does not count for it. It is uncertain: nothing is promised.
    """
    if (answer := _without_sample(topic)) is not None:
        return answer
    size, _, judged, relevant, _, _ = np.array(topic.sampled, np.int64).T
    sums = (size * relevant / judged)[:, None]
    totals = topic.outside + np.clip(sums, topic.relevant_inside, size[:, None] - topic.irrelevant_inside).sum(axis=0)
    if not totals[-1]:
        reason = Sentence("No relevant document is known, so nothing can be estimated.", {})
        return StoppingAnswer(StoppingState.CANNOT_CERTIFY, reason)
    deviation = horvitz_thompson_deviation(topic.sampled)
    is_met = (topic.found >= settings.target * totals - ROUNDING) & (totals > 0)
    at = _first(is_met & topic.is_sample_judged)
    values: dict[str, object] = {
        "found": int(topic.found[-1 if at is None else at]),
        "total": f"{totals[-1 if at is None else at]:.1f}",
        "deviation": NO_VALUE if deviation is None else f"{deviation:.1f}",
    }
    reason = Sentence(
        "%(found)d relevant documents are found of about %(total)s (standard deviation %(deviation)s).", values
    )
    return _go_on(reason) if at is None else StoppingAnswer(StoppingState.STOP, reason, at + 1)


CORMACK_GROSSMAN = "Cormack and Grossman, Engineering Quality and Reliability in TAR, SIGIR 2016"
CALLAGHAN = (
    "Callaghan and Müller-Hansen, Statistical stopping criteria for automated screening, Systematic Reviews 2020"
)

RULES: Mapping[str, StoppingRule] = {
    "target-set": StoppingRule(
        target_set,
        Certainty.GUARANTEE,
        "Lewis, Yang and Frieder, Certifying One-Phase Technology-Assisted Reviews, CIKM 2021",
    ),
    "hypergeometric": StoppingRule(hypergeometric, Certainty.GUARANTEE, CALLAGHAN),
    "autostop": StoppingRule(
        autostop,
        Certainty.HEURISTIC,
        "Li and Kanoulas, When to Stop Reviewing in Technology-Assisted Reviews, TOIS 2020",
    ),
    "knee": StoppingRule(knee, Certainty.HEURISTIC, CORMACK_GROSSMAN),
    "budget": StoppingRule(budget, Certainty.HEURISTIC, CORMACK_GROSSMAN),
    "hypergeometric-retrospective": StoppingRule(retrospective, Certainty.HEURISTIC, CALLAGHAN),
    "in-a-row": StoppingRule(in_a_row, Certainty.HEURISTIC, "in use for long; compared in Cormack and Grossman 2016"),
    "keep-or-drop": StoppingRule(
        keep_or_drop, Certainty.HEURISTIC, "Craswell et al., Overview of the TREC 2019 Deep Learning Track"
    ),
}


def find_rule(name: str) -> StoppingRule:
    """Return the rule of this name; raises `InvalidValueError` for an unknown one."""
    if name not in RULES:
        raise InvalidValueError(
            "There is no stopping rule “%(name)s”; there are %(names)s.", name=name, names=", ".join(RULES)
        )
    return RULES[name]


def decide(name: str, topic: ReviewedTopic, settings: StoppingSettings = USUAL_SETTINGS) -> StoppingAnswer:
    """Return the answer of a rule; where all candidates are judged there is nothing left, whatever the rule."""
    answer = find_rule(name).decide(topic, settings)
    if answer.state is not StoppingState.STOP and 0 < topic.candidates <= topic.judged:
        return StoppingAnswer(StoppingState.STOP, Sentence("All candidates are judged.", {}), topic.judged)
    return answer
