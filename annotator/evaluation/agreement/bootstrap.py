"""Intervals without a formula: topics are drawn anew, and in each its documents, some thousand times.

Documents of a topic are not independent, so that formulas, which take them to be, give intervals that are too narrow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.chance import agreements, cohen_chance
from annotator.evaluation.agreement.krippendorff import Level, alpha_values, coincidences_of
from annotator.evaluation.agreement.labels import kinds_of
from annotator.evaluation.agreement.results import Undefined
from annotator.evaluation.agreement.weights import Weights

DRAWS = 2_000
FEWEST_DRAWS = 100  # in which the value must exist, for percentiles to mean something
LEAST_SPREAD = 1e-12


@dataclass(frozen=True)
class BootstrapInterval:
    """A 95 % interval of percentiles; `interval` and `standard_error` are None exactly when `reason` says why."""

    interval: tuple[float, float] | None
    standard_error: float | None
    reason: Undefined | None
    draws: int
    undefined_draws: int  # resamples in which the value does not exist; they are left out


def kappa_interval(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    topic: NDArray[np.intp],
    weights: Weights,
    *,
    seed: int,
    draws: int = DRAWS,
) -> BootstrapInterval:
    """Bootstrap Cohen's kappa; one entry a document: both judges' places in the scale and its topic, from 0."""
    size = len(weights.disagreement)
    table = _documents_by_topic(topic, first * size + second, size**2)

    def kappas(resampled: NDArray[np.int64]) -> NDArray[np.float64]:
        return agreements(resampled.reshape(-1, size, size), weights, cohen_chance).value

    return _interval(table, kappas, seed, draws)


def alpha_interval(
    counts: NDArray[np.int64],
    topic: NDArray[np.intp],
    grades: Sequence[int],
    level: Level,
    *,
    seed: int,
    draws: int = DRAWS,
) -> BootstrapInterval:
    """Bootstrap Krippendorff's alpha; `counts`, (items, grades), and the topic of every item, from 0."""
    shared = counts.sum(axis=1) > 1
    kinds, kind = kinds_of(counts[shared])
    table = _documents_by_topic(topic[shared], kind, len(kinds))
    coincidences = coincidences_of(kinds)

    def alphas(resampled: NDArray[np.int64]) -> NDArray[np.float64]:
        return alpha_values(np.tensordot(resampled, coincidences, axes=1), grades, level)[0]

    return _interval(table, alphas, seed, draws)


def _documents_by_topic(topic: NDArray[np.intp], kind: NDArray[np.intp], kinds: int) -> NDArray[np.int64]:
    """How many documents of which kind a topic has, (topics with any, kinds)."""
    topics, place = np.unique(topic, return_inverse=True)
    return np.bincount(place * kinds + kind, minlength=topics.size * kinds).reshape(topics.size, kinds)


def _interval(
    table: NDArray[np.int64],
    values_of: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    seed: int,
    draws: int,
) -> BootstrapInterval:
    if not table.size:
        return BootstrapInterval(None, None, Undefined.NO_SHARED_DOCUMENT, draws, draws)
    values = values_of(_resample(table, seed, draws))
    defined = values[~np.isnan(values)]
    missing = draws - defined.size
    if defined.size < min(FEWEST_DRAWS, draws):
        return BootstrapInterval(None, None, Undefined.NO_RESAMPLE, draws, missing)
    if np.ptp(defined) < LEAST_SPREAD:
        return BootstrapInterval(None, None, Undefined.NO_SPREAD, draws, missing)
    low, high = np.percentile(defined, (2.5, 97.5)).tolist()
    return BootstrapInterval((low, high), float(defined.std(ddof=1)), None, draws, missing)


def _resample(table: NDArray[np.int64], seed: int, draws: int) -> NDArray[np.int64]:
    """Draw topics, then the documents of each, with replacement: how many of each kind, (draws, kinds)."""
    random = np.random.default_rng(seed)
    topics = len(table)
    times = random.multinomial(topics, np.full(topics, 1 / topics), size=draws)
    resampled = np.zeros((draws, table.shape[1]), np.int64)
    for topic, documents in enumerate(table):
        present = np.flatnonzero(documents)
        total = documents.sum()
        # A topic drawn twice gives its documents twice: one draw of twice as many is the same.
        resampled[:, present] += random.multinomial(times[:, topic] * total, documents[present] / total)
    return resampled
