"""LARA: people are asked where a machine is least certain, and its certainty is calibrated by what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.adaptive import Adaptive, Verdict, explain
from annotator.evaluation.pooling.least_certain import calibration, chances_of_relevance
from annotator.evaluation.pooling.pool_simulation import trials
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.pooling.topic_runs import topic_runs
from annotator.evaluation.qrels.machine_labels import PackedLabels

ODDS = st.lists(st.tuples(st.floats(-4, 4), st.booleans()), max_size=12)
CHANCES = {0: 0.9, 1: 0.52, 2: 0.1, 3: 0.35, 4: 0.7}


def begun(chances: dict[int, float]) -> Adaptive:
    runs = topic_runs("1", [np.arange(6, dtype=np.int32)], {number: f"d{number}" for number in range(6)})
    return parse_strategy("lara", {"budget": 6, "machine": "llm"}).begin(runs, 1, chances)


def labels(
    grades: list[int], confidences: list[float] | None = None, shares: list[list[float]] | None = None
) -> PackedLabels:
    return PackedLabels(
        np.arange(len(grades), dtype=np.int64),
        np.array(grades, np.int64),
        None if confidences is None else np.array(confidences),
        None if shares is None else np.array(shares),
    )


def test_without_judgements_the_order_is_that_of_the_machines_certainty() -> None:
    choices = begun(CHANCES).choose(6)
    # |.52 - .5| < |.35 - .5| < |.7 - .5| < |.9 - .5| = |.1 - .5|, and what has no label last.
    assert [choice.document for choice in choices] == [1, 3, 4, 0, 2, 5]
    assert choices[0].reason == {"rank": 2.0, "chance": 0.52}
    assert choices[-1].reason == {"rank": 6.0}


def test_a_machine_that_is_found_too_generous_is_less_certain_of_what_it_finds_relevant() -> None:
    state = begun({0: 0.8, 1: 0.8, 2: 0.8, 3: 0.3, 4: 0.8})
    assert state.choose()[0].document == 3
    state.learn(Verdict(document, is_relevant=False) for document in (0, 1))
    assert [one.document for one in state.choose(3)] == [2, 4, 3]
    state.learn([Verdict(4, None)])  # it could not be judged: nothing is learnt from it
    assert [one.document for one in state.choose(2)] == [2, 3]


def test_documents_without_a_label_teach_nothing() -> None:
    taught, untaught = begun(CHANCES), begun(CHANCES)
    taught.learn([Verdict(5, is_relevant=True)])
    assert [one.document for one in taught.choose(5)] == [one.document for one in untaught.choose(5)]


def test_without_judgements_nothing_is_calibrated() -> None:
    assert calibration([]) == (1.0, 0.0)


@given(judged=ODDS)
def test_the_calibration_is_where_likelihood_and_prior_have_no_slope(judged: list[tuple[float, bool]]) -> None:
    slope, offset = calibration(judged)
    odds, relevant = (np.array([one[column] for one in judged], np.float64) for column in (0, 1))
    left = relevant - 1 / (1 + np.exp(-(slope * odds + offset)))
    assert float((left * odds).sum()) - (slope - 1) == pytest.approx(0, abs=1e-6)
    assert float(left.sum()) - offset == pytest.approx(0, abs=1e-6)


def test_chances_are_probabilities_of_relevant_grades_or_confidences_or_by_grade() -> None:
    assert chances_of_relevance(labels([0, 1, 2]), [0, 1, 2], 1) == {0: 0.166667, 1: 0.5, 2: 0.833333}
    confident = labels([0, 2, 1], [0.8, 0.7, float("nan")])
    assert chances_of_relevance(confident, [0, 1, 2], 1) == {0: 0.2, 1: 0.7, 2: 0.5}
    shared = labels([0, 1], None, [[0.5, 0.25, 0.25], [float("nan")] * 3])
    assert chances_of_relevance(shared, [0, 1, 2], 1) == {0: 0.5, 1: 0.5}


def test_it_needs_a_machine_and_is_simulated_by_none() -> None:
    with pytest.raises(InvalidValueError, match="The strategy lara needs the name of a machine judge"):
        parse_strategy("lara", {"budget": 6})
    with pytest.raises(InvalidValueError, match="The strategy lara asks a machine judge, and is not simulated"):
        trials(("lara",), (0,), None)
    assert "lara" not in {trial.strategy.name for trial in trials((), (0,), None)}


def test_a_choice_says_how_certain_the_machine_is() -> None:
    [first, *_, last] = begun(CHANCES).choose(6)
    assert str(explain(first.reason, "bm25")) == (
        "Of no other document is the machine less certain, given the judgements: it is relevant with a chance of "
        "0.520. Its best rank is 2, of bm25."
    )
    assert str(explain(last.reason, "bm25")) == "The machine has not graded it. Its best rank is 6, of bm25."
