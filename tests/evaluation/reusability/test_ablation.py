"""Runs scored by ever fewer judgements."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.reusability.ablation import SHARES, ablate, nested_samples, steps_of_ablating

NUMBERS = {1: "1", 2: "2"}


def documents(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


QRELS = {1: {1: 1, 2: 0, 3: 1, 4: 0, 5: NOT_GRADED}, 2: {1: 0, 2: 1, 3: 1}}
ABLATED = [{1: documents(1, 2, 3), 2: documents(2, 1)}, {1: documents(2, 1, 4), 2: documents(1, 9)}, {}]


def joined(qrels: Mapping[int, Mapping[int, int]], runs: Sequence[Mapping[int, np.ndarray]]) -> RegradedRuns:
    return RegradedRuns.join(runs, {topic: documents(*grades) for topic, grades in qrels.items()}, NUMBERS)


def grades_of(qrels: Mapping[int, Mapping[int, int]]) -> np.ndarray:
    return np.array([grade for of_topic in qrels.values() for grade in of_topic.values()], np.int16)


AP, PRECISION = (Scoring(parse_measure(name), 1, 1) for name in ("AP", "P@1"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2)), max_size=40), st.integers(0, 9))
def test_smaller_samples_are_part_of_greater_ones(entries: list[tuple[int, int]], seed: int) -> None:
    topic = np.array([one for one, _ in sorted(entries)], np.intp)
    grades = np.array([grade for _, grade in sorted(entries)], np.int16)
    samples = nested_samples(topic, grades, [1, *SHARES], np.random.default_rng(seed))
    assert samples[0].tolist() == (grades >= 0).tolist()
    for greater, smaller in pairwise(samples):
        assert not np.any(smaller & ~greater)
    for share, sample in zip([1, *SHARES], samples, strict=True):
        for one in range(4):
            whole = np.count_nonzero((topic == one) & (grades >= 0))
            expected = min(whole, max(1, math.floor(share * whole + 0.5)))
            assert np.count_nonzero(sample & (topic == one)) == expected


def test_fewer_judgements_are_scored_in_several_draws() -> None:
    runs, grades = joined(QRELS, ABLATED), grades_of(QRELS)
    done: list[None] = []
    [found] = ablate(runs, grades, [AP], seed=1, shares=[1, 0.5, 0.01], draws=3, advance=lambda: done.append(None))
    assert len(done) == steps_of_ablating(runs, shares=[1, 0.5, 0.01], draws=3) == 10
    known = {topic: {d: g for d, g in of_topic.items() if g >= 0} for topic, of_topic in QRELS.items()}
    expected = score_runs(ABLATED, known, NUMBERS, [AP.measure], 1, 1).means[:, 0].tolist()
    assert list(found.full) == list(found.steps[0].values) == expected
    # Seven are judged; of four and three documents a half is two and two, and a hundredth one each.
    assert [step.judgements for step in found.steps] == [7, 4, 2]
    assert found.steps[0].relevant == 4
    assert found.steps[0].tau == found.steps[0].least_tau == found.steps[0].tau_ap == Figure(1)
    for step in found.steps:
        assert step.mean == Figure(sum(step.values) / 3)
        bounds = [figure.value for figure in (step.least_tau, step.tau, step.greatest_tau)]
        assert None in bounds or bounds == sorted(value for value in bounds if value is not None)
    [whole] = ablate(runs, grades, [AP], seed=1, shares=[1])
    assert whole.share_that_suffices == 1


def test_the_same_seed_draws_the_same_samples() -> None:
    drawn = [ablate(joined(QRELS, ABLATED), grades_of(QRELS), [AP], seed=seed)[0].steps for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([], Missing.NO_RUN),
        (ABLATED[:1], Missing.ONE_RUN),
        ([ABLATED[0], ABLATED[0]], Missing.NO_ORDER),
    ],
)
def test_rankings_that_cannot_be_compared_say_why(runs: list[dict[int, np.ndarray]], reason: Missing) -> None:
    [found] = ablate(joined(QRELS, runs), grades_of(QRELS), [PRECISION], seed=1)
    for step in found.steps:
        assert step.tau == step.least_tau == step.greatest_tau == step.tau_ap == Figure(None, reason)
    assert found.share_that_suffices is None
    assert found.steps[0].mean == Figure(None, reason) if not runs else found.steps[0].mean.reason is None


def test_without_judgements_there_is_nothing_to_thin() -> None:
    assert ablate(joined(QRELS, ABLATED), np.full(8, NOT_GRADED), [AP], seed=1) == ()
