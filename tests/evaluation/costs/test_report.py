"""Effectiveness against a cost: the Pareto front, the runs within a bound, the order of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.costs.facts import KNOWN_FACTS
from annotator.evaluation.costs.report import CostedRun, CostReport, Question, make_report, pareto_front
from annotator.evaluation.costs.statements import Statement
from annotator.evaluation.leaderboard.leaderboard import BoardRun, Leaderboard, LeaderboardRow, View
from annotator.evaluation.metrics.measures import Better

AT = datetime(2026, 3, 1, tzinfo=UTC)
Numbers = Sequence[float | None]
numbers = st.one_of(st.none(), st.integers(0, 6).map(float))


def front(values: Numbers, costs: Numbers, *, cost_better: Better = Better.LESS) -> list[bool]:
    return pareto_front(values, costs, value_better=Better.MORE, cost_better=cost_better)


@pytest.mark.parametrize(
    ("values", "costs", "expected"),
    [
        ([], [], []),
        ([0.5], [10], [True]),
        # The second is worse and slower than the first; the third is slower than both and better.
        ([0.5, 0.4, 0.6], [10, 20, 30], [True, False, True]),
        # As good and slower, as fast and worse.
        ([0.5, 0.5, 0.4], [10, 20, 10], [True, False, False]),
        # Alike on both counts, none beats the other.
        ([0.5, 0.5], [10, 10], [True, True]),
        # Who says nothing, or has no score, neither is on the front nor takes anybody off it.
        ([0.5, None, 0.1], [10, 1, None], [True, False, False]),
    ],
)
def test_the_front_has_the_runs_that_none_beats(values: Numbers, costs: Numbers, expected: list[bool]) -> None:
    assert front(values, costs) == expected


def test_where_more_is_better_the_fast_indexers_are_on_the_front() -> None:
    # Documents a second: the first indexes slowest and is best, the second is beaten by the third on both counts.
    assert front([0.6, 0.4, 0.5], [10, 20, 30], cost_better=Better.MORE) == [True, False, True]


@pytest.mark.parametrize("better", [(Better.NEITHER, Better.LESS), (Better.MORE, Better.NEITHER)])
def test_there_is_no_front_where_no_end_is_better(better: tuple[Better, Better]) -> None:
    assert pareto_front([0.5], [10], value_better=better[0], cost_better=better[1]) == [False]


@given(st.lists(st.tuples(numbers, numbers), max_size=12))
def test_who_is_off_the_front_is_beaten_by_one_who_is_on_it(runs: list[tuple[float | None, float | None]]) -> None:
    on_front = front([value for value, _ in runs], [cost for _, cost in runs])
    best = [run for run, is_on in zip(runs, on_front, strict=True) if is_on]
    for (value, cost), is_on in zip(runs, on_front, strict=True):
        if value is None or cost is None:
            assert not is_on
            continue
        beaten_by = [
            (other, price)
            for other, price in best
            if (other or 0) >= value and (price or 0) <= cost and (other, price) != (value, cost)
        ]
        assert is_on == (not beaten_by)


@given(st.lists(st.tuples(numbers, numbers), max_size=12), st.randoms())
def test_the_front_does_not_depend_on_the_order_of_runs(
    runs: list[tuple[float | None, float | None]], random: object
) -> None:
    shuffled = list(runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis gives a random.Random

    def chosen(some: list[tuple[float | None, float | None]]) -> list[tuple[float | None, float | None]]:
        is_on = front([value for value, _ in some], [cost for _, cost in some])
        return sorted((run for run, is_it in zip(some, is_on, strict=True) if is_it), key=repr)

    assert chosen(runs) == chosen(shuffled)


def board(values: Mapping[str, float], better: Better = Better.MORE) -> Leaderboard:
    rows = tuple(
        LeaderboardRow(
            *(BoardRun(tag, None, AT, fed_pool=True), None, (value,), {}, (None,), (None,), (None,), ("",), ""),
            best_of_team=False,
        )
        for tag, value in values.items()
    )
    return Leaderboard(
        *(("nDCG@10",), (None,), "nDCG@10", better, rows, ("1",), 0, (), 3, "live", "majority", 1, "abc", 0),
        *(View(), "10", None, ()),
    )


def run(tag: str, **stated: float | str) -> CostedRun:
    told = {}
    for address, value in stated.items():
        key, _, detail = address.partition("__")
        number = None if isinstance(value, str) else value
        one = Statement(key, detail, number, value if isinstance(value, str) else "")
        told[one.address] = one
    return CostedRun(tag, None, told)


RUNS = [
    run("slow", latency_p95=120.0, hardware="a cluster"),
    run("fast", latency_p95=12.0, latency_at__1000000=9.0, latency_at__200000=4.0),
    run("silent"),
    run("dull", latency_p95=50.0),
]
SCORES = board({"slow": 0.7, "fast": 0.5, "silent": 0.6, "dull": 0.4})


def report(question: Question = Question(), scores: Leaderboard | None = SCORES) -> CostReport:  # noqa: B008 - frozen
    return make_report(KNOWN_FACTS, RUNS, scores, question)


def tags(made: CostReport) -> list[str]:
    return [row.run.tag for row in made.rows]


def test_runs_stand_best_first_and_those_on_the_front_are_marked() -> None:
    made = report()
    assert tags(made) == ["slow", "silent", "fast", "dull"]
    assert [row.run.tag for row in made.rows if row.is_on_front] == ["slow", "fast"]
    assert [row.run.tag for row in made.points] == ["fast", "dull", "slow"]


@pytest.mark.parametrize("within", ["50", "50 ms", "0.05 s"])
def test_within_50_ms_leaves_out_who_is_slower_and_who_does_not_say(within: str) -> None:
    made = report(Question(within=within))
    assert tags(made) == ["fast", "dull"]
    assert (made.within, made.over, made.silent) == (50, 1, 1)


def test_a_bound_of_what_is_better_the_more_there_is_bounds_below() -> None:
    runs = [run("a", indexing_rate=100.0), run("b", indexing_rate=300.0)]
    made = make_report(KNOWN_FACTS, runs, None, Question("indexing_rate", "200"))
    assert tags(made) == ["b"]


def test_only_what_some_run_states_has_a_column_and_sizes_stand_in_their_order() -> None:
    made = report()
    assert [column.address for column in made.columns] == [
        "latency_p95",
        "latency_at@200000",
        "latency_at@1000000",
        "hardware",
    ]
    assert [column.address for column in made.axes] == [column.address for column in made.columns[:3]]


def test_any_number_that_is_stated_can_be_the_cost() -> None:
    made = report(Question("latency_at@200000"))
    assert [(row.run.tag, row.cost) for row in made.rows] == [
        ("slow", None),
        ("silent", None),
        ("fast", 4),
        ("dull", None),
    ]


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run("a")], "latency_p95"),
        ([run("a", latency_p50=3.0, index_size=9.0)], "latency_p50"),
        ([run("a", hardware="x", corpus_size=5.0, index_size=9.0)], "index_size"),
    ],
)
def test_the_cost_is_a_latency_if_any_run_states_one(runs: list[CostedRun], expected: str) -> None:
    assert make_report(KNOWN_FACTS, runs, None, Question()).axis.address == expected


@pytest.mark.parametrize(
    ("question", "error", "said"),
    [
        (Question("speed"), NotFoundError, "“speed” is no fact"),
        (
            Question("hardware"),
            InvalidValueError,
            "“hardware” is not a numeric column, so runs cannot be compared by it",
        ),
        (Question("latency_at"), InvalidValueError, "Add a detail"),
        (Question(within="soon"), InvalidValueError, "“soon” is no number of ms"),
    ],
)
def test_what_cannot_be_asked_is_refused(question: Question, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        report(question)


def test_without_scores_runs_stand_by_name_and_there_is_no_front() -> None:
    made = report(scores=None)
    assert tags(made) == ["dull", "fast", "silent", "slow"]
    assert not made.has_front
    assert made.points == []


def test_where_less_of_the_measure_is_better_the_least_comes_first() -> None:
    made = report(scores=replace(SCORES, better=Better.LESS))
    assert tags(made) == ["dull", "fast", "silent", "slow"]
    assert [row.run.tag for row in made.rows if row.is_on_front] == ["dull", "fast"]
