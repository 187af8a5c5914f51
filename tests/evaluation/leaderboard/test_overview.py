"""What an overview paper shows of a leaderboard: the best run of each team, and the distribution of each topic."""

from types import SimpleNamespace
from typing import Any

import pytest

from annotator.evaluation.leaderboard.overview import best_of_each_team, topic_spreads
from annotator.evaluation.metrics.measures import Better


def board(values: dict[str, dict[str, float]], better: Better = Better.MORE) -> Any:  # noqa: ANN401 - of what is read
    rows = [
        SimpleNamespace(
            tag=tag,
            team=tag[0] if tag[0].islower() else None,
            by_topic={topic: (value,) for topic, value in of_run.items()},
        )
        for tag, of_run in values.items()
    ]
    topics = tuple(next(iter(values.values()))) if values else ()
    return SimpleNamespace(rows=rows, topics=topics, better=better)


SCORES = {
    "a1": {"1": 0.0, "2": 0.9, "10": 0.5},
    "a2": {"1": 0.4, "2": 0.9, "10": 0.5},
    "b1": {"1": 0.2, "2": 0.1, "10": 0.5},
}


def test_the_hardest_topic_comes_first_with_its_quartiles_and_best_runs() -> None:
    first, second, third = topic_spreads(board(SCORES))
    assert (first.topic, first.best, first.least, first.median, first.most) == ("1", ("a2",), 0.0, 0.2, 0.4)
    assert [first.first, first.third] == pytest.approx([0.1, 0.3])
    assert (second.topic, second.best) == ("10", ("a1", "a2", "b1"))
    assert (third.topic, third.best) == ("2", ("a1", "a2"))
    assert first.best_value(Better.MORE) == 0.4


def test_of_a_measure_where_less_is_better_the_greatest_median_is_the_hardest() -> None:
    spreads = topic_spreads(board(SCORES, Better.LESS))
    assert [one.topic for one in spreads] == ["2", "10", "1"]
    assert spreads[-1].best == ("a1",)
    assert spreads[-1].best_value(Better.LESS) == 0.0


def test_the_first_run_of_each_team_is_its_best_and_runs_without_a_team_stand_alone() -> None:
    best = best_of_each_team(board({**SCORES, "X": SCORES["a1"], "Y": SCORES["a1"]}))
    assert [row.tag for row in best] == ["a1", "b1", "X", "Y"]
    assert best_of_each_team(board({})) == ()
    assert topic_spreads(board({})) == ()
