"""What a leaderboard would be without some of its topics, by hand."""

import pytest

from annotator.errors import ConflictError
from annotator.evaluation.leaderboard.leaderboard_making import effect_of_dropping
from annotator.evaluation.metrics.names import parse_measures

[AP, FOUND, GMAP] = parse_measures(["AP", "NumRelRet", "GMAP"])
VALUES = {
    "alpha": {"1": 0.9, "2": 0.1, "10": 0.2},
    "beta": {"1": 0.3, "2": 0.3, "10": 0.5},
    "gamma": {"1": 0.0, "2": 0.2, "10": 0.1},
}


def test_means_places_and_tau_with_and_without_a_topic() -> None:
    # With all: 1.2/3 = 0.4, 1.1/3, 0.3/3. Without topic 1: 0.15, 0.4, 0.15: alpha and gamma share the second place.
    effect = effect_of_dropping(AP, VALUES, ["1"])
    assert [run.run for run in effect.runs] == ["alpha", "beta", "gamma"]
    assert [run.with_them for run in effect.runs] == pytest.approx([0.4, 1.1 / 3, 0.1])
    assert [run.without_them for run in effect.runs] == pytest.approx([0.15, 0.4, 0.15])
    assert [(run.place_with, run.place_without) for run in effect.runs] == [(1, 2), (2, 1), (3, 2)]
    assert [run.moves for run in effect.runs] == [True, True, True]
    assert (effect.measure, effect.dropped, effect.topics_left) == ("AP", ("1",), 2)
    # Pairs: alpha-beta turned round, beta-gamma alike, alpha-gamma tied without: (1 - 1) / sqrt(3 * 2).
    assert effect.tau == pytest.approx(0)


def test_counts_are_summed_and_geometric_means_stay_geometric() -> None:
    found = effect_of_dropping(FOUND, {"alpha": {"1": 3, "2": 4}, "beta": {"1": 1, "2": 9}}, ["2"])
    assert [(run.with_them, run.without_them) for run in found.runs] == [(7, 3), (10, 1)]
    assert found.tau == -1
    geometric = effect_of_dropping(GMAP, {"alpha": {"1": 0.1, "2": 0.4, "3": 0.5}}, ["3"])
    assert geometric.runs[0].without_them == pytest.approx((0.1 * 0.4) ** 0.5)
    assert geometric.tau is None


@pytest.mark.parametrize(("measure", "places"), [("NumRelRet", [2, 1]), ("FN", [1, 2]), ("NumRel", [1, 1])])
def test_the_first_place_is_where_the_measure_says_it_is(measure: str, places: list[int]) -> None:
    [parsed] = parse_measures([measure])
    effect = effect_of_dropping(parsed, {"alpha": {"1": 3, "2": 4}, "beta": {"1": 5, "2": 9}}, ["2"])
    assert [run.place_with for run in effect.runs] == places


def test_topics_that_are_not_scored_change_nothing() -> None:
    effect = effect_of_dropping(AP, VALUES, ["7"])
    assert effect.dropped == ()
    assert all(run.with_them == run.without_them and not run.moves for run in effect.runs)


def test_the_last_topic_cannot_be_left_out() -> None:
    with pytest.raises(ConflictError, match="none left"):
        effect_of_dropping(AP, VALUES, ["1", "2", "10"])
