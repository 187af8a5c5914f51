"""What a machine does to the ranking: tau of the best runs, significant pairs that are not confirmed or missed."""

import numpy as np
import pytest

from annotator.evaluation.agreement.machine_ranking import (
    Undefined,
    declares_model,
    machine_ranking,
    ranked,
    significant_pairs,
)
from annotator.evaluation.significance.rank_correlation import similarity_of

# Four topics; runs differ from each other by about a constant, so that every pair is significant.
NOISE = np.array([[0.001, 0.002, 0.004, 0.003], [0.002, 0.004, 0.001, 0.003], [0.004, 0.001, 0.003, 0.002]])
IN_ORDER = np.array([[0.9], [0.5], [0.1]]) + NOISE


def test_ap_correlation_of_ten_runs_is_as_published() -> None:
    """Yilmaz, Aslam and Robertson, SIGIR 2008, by the formula: 1 - 2/9, 1 - 2/81, and -1 for the reverse."""
    runs = list(range(10, 0, -1))
    top, bottom = [9, 10, *runs[2:]], [*runs[:8], 1, 2]
    found = [similarity_of(runs, other).tau_ap for other in (top, bottom, runs[::-1], runs)]
    assert found == pytest.approx([0.777778, 0.9753086, -1, 1], abs=1e-6)


def test_pairs_by_both_are_confirmed() -> None:
    pairs = significant_pairs(IN_ORDER, IN_ORDER)
    assert (pairs.runs, pairs.pairs, pairs.by_machine, pairs.by_people, pairs.both, pairs.opposite) == (
        3,
        3,
        3,
        3,
        3,
        0,
    )
    assert (pairs.unconfirmed.value, pairs.missed.value) == (0, 0)


def test_pairs_in_the_opposite_direction_are_neither_confirmed_nor_found() -> None:
    machine = IN_ORDER[[1, 0, 2]]  # the machine swaps the first two
    pairs = significant_pairs(machine, IN_ORDER)
    assert (pairs.both, pairs.opposite) == (2, 1)
    assert pairs.unconfirmed.value == pytest.approx(1 / 3)
    assert pairs.missed.value == pytest.approx(1 / 3)


def test_a_machine_that_sees_no_difference_misses_it() -> None:
    machine = IN_ORDER.copy()
    machine[1] = machine[0] + np.array([0.1, -0.1, 0.1, -0.1])
    pairs = significant_pairs(machine, IN_ORDER)
    assert (pairs.by_machine, pairs.by_people, pairs.both) == (2, 3, 2)
    assert pairs.missed.value == pytest.approx(1 / 3)
    other_way = significant_pairs(IN_ORDER, machine)
    assert other_way.unconfirmed.value == pytest.approx(1 / 3)
    assert other_way.missed.value == 0


def test_less_may_be_better() -> None:
    assert significant_pairs(IN_ORDER, IN_ORDER, -1).both == 3
    assert significant_pairs(IN_ORDER, IN_ORDER, 0).unconfirmed.reason is Undefined.NOT_SIGNIFICANT


@pytest.mark.parametrize("values", [IN_ORDER[:1], IN_ORDER[:, :1]])
def test_without_two_runs_and_topics_there_is_no_test(values: np.ndarray) -> None:
    pairs = significant_pairs(values, values)
    assert pairs.unconfirmed.reason is pairs.missed.reason is Undefined.NO_TEST


def test_tau_is_of_the_best_runs_by_people_with_their_ties() -> None:
    people = np.arange(12.0, 0, -1)
    machine = people.copy()
    machine[[0, 1]] = machine[[1, 0]]  # one of 45 pairs of the best ten
    topics = np.tile(people[:, np.newaxis], 2)
    found = machine_ranking(topics, topics, machine, people)
    assert found.taus[10].value == pytest.approx(1 - 2 / 45)
    assert found.taus[15].reason is Undefined.FEW_RUNS
    assert found.top_runs.runs == 3
    people[9:] = 3  # the last three tie with the tenth
    assert machine_ranking(topics, topics, people, people).taus[10].value == 1
    alike = machine_ranking(topics, topics, np.zeros(12), people)
    assert alike.taus[10].reason is Undefined.NO_ORDER
    reasons = alike.reasons
    assert reasons["tau_10"] == Undefined.NO_ORDER.sentence
    assert list(reasons) == ["tau_10", "tau_15", "unconfirmed", "missed", "unconfirmed_top", "missed_top"]


@pytest.mark.parametrize(
    ("text", "declares"),
    [
        ("reranked by GPT-4o.", True),
        ("gpt-4o", True),
        ("gpt-4o-mini", False),
        ("gpt-4o.1", False),
        ("xgpt-4o", False),
        ("bm25", False),
    ],
)
def test_a_model_is_declared_by_its_whole_name(text: str, declares: bool) -> None:  # noqa: FBT001 - a case
    assert declares_model("gpt-4o", ["", text]) is declares


def test_a_name_of_two_letters_is_not_looked_for() -> None:
    assert not declares_model("x1", ["x1"])


def test_equal_values_share_a_place_and_none_is_last() -> None:
    assert ranked([0.5, None, 0.7, 0.5]) == [2, 4, 1, 2]
