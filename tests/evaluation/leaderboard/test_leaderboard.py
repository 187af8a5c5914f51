"""What stands on a leaderboard beside the values: order, intervals, marks, notices; and how it is written out."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from annotator.errors import NotFoundError
from annotator.evaluation.leaderboard.leaderboard import (
    BoardRun,
    BoardValues,
    Leaderboard,
    View,
    judged_beside,
    make_rows,
    needed,
)
from annotator.evaluation.leaderboard.leaderboard_making import (
    BoardRequest,
    board_values,
    make_leaderboard,
    scored_topics,
)
from annotator.evaluation.leaderboard.leaderboard_notices import notices
from annotator.evaluation.leaderboard.leaderboard_table import exact_rows, latex, markdown, readable_rows
from annotator.evaluation.leaderboard.topic_scores import Grading, score_topics
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import parse_measure, parse_measures
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.significance.means import IntervalMethod
from annotator.evaluation.significance.results import Undefined

AT = datetime(2026, 3, 1, tzinfo=UTC)
TOPICS = tuple(map(str, range(10, 20)))
DIFFICULTY = np.linspace(0.1, 0.7, 10)
WOBBLE = 0.01 * np.array([1, -1] * 5)


def runs(*named: str, fed: bool = True) -> list[BoardRun]:
    """From `TAG` or `TAG TEAM`."""
    return [BoardRun(tag, team or None, AT, fed) for tag, _, team in (name.partition(" ") for name in named)]


def values(named: Sequence[BoardRun], *scores: np.ndarray, measure: str = "AP", judged: float = 1.0) -> BoardValues:
    measures = parse_measures([measure])
    stacked = np.stack(scores)
    by_measure = {one: stacked if one in measures else np.full(stacked.shape, judged) for one in needed(measures)}
    return BoardValues(named, TOPICS[: stacked.shape[1]], measures, by_measure)


@pytest.mark.parametrize(
    ("measure", "beside"),
    [("nDCG@20", "Judged@20"), ("AP", "Judged@10"), ("RR", "Judged@10"), ("P(rel=2)@5", "Judged@5")],
)
def test_beside_a_score_stands_how_far_is_judged_what_it_looks_at(measure: str, beside: str) -> None:
    assert str(judged_beside(parse_measure(measure))) == beside


@pytest.mark.parametrize("measure", ["Judged@5", "Unjudged@5", "NumRel", "NumRet"])
def test_nothing_stands_beside_what_says_it_itself_and_beside_counts(measure: str) -> None:
    assert judged_beside(parse_measure(measure)) is None


def test_runs_stand_best_first_by_the_measure_chosen_or_by_name_or_team() -> None:
    named = runs("b red", "a10 blue", "a2 red", "c")
    board = values(named, *(np.full(10, mean) for mean in (0.2, 0.5, 0.5, 0.9)))

    def order(sort: str | None) -> list[str]:
        return [row.tag for row in make_rows(board, View(sort=sort))[0]]

    assert order(None) == order("AP") == order("nonsense") == ["c", "a2", "a10", "b"]
    assert order("run") == ["a2", "a10", "b", "c"]
    assert order("team") == ["a10", "a2", "b", "c"]
    assert make_rows(board, View(sort="team"))[1:3] == ("team", Better.NEITHER)


def test_the_best_run_of_a_team_with_several_is_marked() -> None:
    named = runs("low red", "high red", "lone blue", "free", "other")
    rows, *_ = make_rows(values(named, *(np.full(10, mean) for mean in (0.2, 0.5, 0.4, 0.9, 0.8))), View())
    assert [row.tag for row in rows if row.best_of_team] == ["high"]


def test_the_interval_of_a_mean_is_students_over_topics() -> None:
    [row], *_ = make_rows(values(runs("a"), np.array([0.2, 0.4, 0.6]), measure="utility"), View())
    # sd 0.2, standard error 0.2 / sqrt(3); t of 2 degrees at 97.5 % is 4.302653.
    half = 4.302653 * 0.2 / 3**0.5
    [interval] = row.intervals
    assert interval is not None
    assert interval.bounds == pytest.approx((0.4 - half, 0.4 + half), abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "scores", "bounds"),
    [
        # sd and half the interval as above: 0.496828; AP is from 0 to 1, DCG from 0 without an upper end.
        ("AP", (0.2, 0.4, 0.6), (0, 0.896828)),
        ("AP", (0.4, 0.6, 0.8), (0.103172, 1)),
        ("DCG", (0.2, 0.4, 0.6), (0, 0.896828)),
        ("DCG", (0.6, 0.8, 1.0), (0.303172, 1.296828)),
    ],
)
def test_no_interval_goes_beyond_what_a_measure_can_be(
    measure: str, scores: Sequence[float], bounds: tuple[float, float]
) -> None:
    [row], *_ = make_rows(values(runs("a"), np.array(scores), measure=measure), View())
    [interval] = row.intervals
    assert interval is not None
    assert interval.bounds == pytest.approx(bounds, abs=1e-6)


def test_runs_that_are_equal_but_for_rounding_share_a_place() -> None:
    # As numbers of 64 bits (0.1 + 0.2) + 0.3 is more than (0.3 + 0.2) + 0.1, by the last of its digits.
    up, down = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    assert np.mean(up) != np.mean(down)
    board = values(runs("b blue", "c", "a blue", "d"), up, down, down, up - 0.05, measure="P@10")
    rows, *_ = make_rows(board, View())
    assert [(row.tag, row.place) for row in rows] == [("a", 1), ("b", 1), ("c", 1), ("d", 4)]
    assert [row.tag for row in rows if row.best_of_team] == ["a"]


def test_there_are_no_places_where_neither_more_nor_less_is_better() -> None:
    rows, *_ = make_rows(values(runs("a", "b"), DIFFICULTY, DIFFICULTY + 1, measure="NumRet"), View())
    assert [row.place for row in rows] == [None, None]


def test_the_interval_by_bootstrap_stays_within_the_scores_and_is_the_same_again() -> None:
    board, view = values(runs("a"), DIFFICULTY), View(IntervalMethod.BOOTSTRAP)
    [row], *_ = make_rows(board, view)
    [interval] = row.intervals
    assert interval is not None
    assert interval.bounds is not None
    low, high = interval.bounds
    assert 0.1 < low < 0.4 < high < 0.7
    assert make_rows(board, view)[0][0].intervals == row.intervals


def test_counts_and_geometric_means_have_no_interval() -> None:
    for measure in ("NumRet", "GMAP"):
        [row], *_ = make_rows(values(runs("a"), DIFFICULTY, measure=measure), View())
        assert row.intervals == (None,)


def test_stars_say_which_runs_differ_from_the_baseline_and_which_way() -> None:
    named = runs("base", "same", "more", "less", "always")
    board = values(
        named, DIFFICULTY, DIFFICULTY, DIFFICULTY + 0.1 + WOBBLE, DIFFICULTY - 0.1 + WOBBLE, DIFFICULTY + 0.1
    )
    rows = {row.tag: row for row in make_rows(board, View(baseline="base"))[0]}
    assert {tag: row.stars for tag, row in rows.items()} == {
        "base": ("",),
        "same": ("",),
        "more": ("+***",),
        "less": ("-***",),
        "always": ("",),  # there is no spread that would make a t
    }
    reasons = {tag: row.p[0].reason for tag, row in rows.items() if row.p[0] is not None}
    assert reasons["base"] is reasons["same"] is Undefined.NO_DIFFERENCE
    assert reasons["always"] is Undefined.SAME_DIFFERENCE
    with pytest.raises(NotFoundError, match="“nobody” is not among the runs"):
        make_rows(board, View(baseline="nobody"))


@pytest.mark.parametrize("measure", ["Judged@10", "Unjudged@10", "NumRet", "NumRel", "NumRelRet", "RBPResidual"])
def test_what_is_no_merit_gets_neither_stars_nor_letters(measure: str) -> None:
    board = values(runs("base", "more"), DIFFICULTY, DIFFICULTY + 0.1 + WOBBLE, measure=measure)
    for row in make_rows(board, View(baseline="base", letters=True))[0]:
        assert (row.stars, row.p, row.letters) == (("",), (None,), "")


def test_runs_that_do_not_differ_share_a_letter() -> None:
    board = values(runs("a", "b", "c"), DIFFICULTY + 0.3 + WOBBLE, DIFFICULTY + 0.3 - WOBBLE, DIFFICULTY + WOBBLE / 2)
    rows, *_, reason = make_rows(board, View(letters=True))
    assert ({row.tag: row.letters for row in rows}, reason) == ({"a": "a", "b": "a", "c": "b"}, None)
    alone, *_, why = make_rows(values(runs("a"), DIFFICULTY), View(letters=True))
    assert (alone[0].letters, why) == ("", Undefined.ONE_RUN)


def said(board: BoardValues, *, relevant: Sequence[int] = (1,) * 10, judges: int = 2, best_grade: int = 2) -> str:
    rows, *_ = make_rows(board, View())
    return " ".join(map(str, notices(board, rows, relevant[: len(board.topics)], judges, best_grade)))


def test_nothing_is_said_of_a_leaderboard_with_enough_of_everything() -> None:
    assert said(values(runs("a", "b"), DIFFICULTY, DIFFICULTY + WOBBLE)) == ""


@pytest.mark.parametrize(
    ("board", "more", "sentence"),
    [
        (values(runs("a"), DIFFICULTY), {}, "one run only"),
        (values(runs("a", "b"), DIFFICULTY[:1], DIFFICULTY[1:2]), {}, "Only one topic is scored"),
        (values(runs("a", "b"), DIFFICULTY, DIFFICULTY + WOBBLE), {"judges": 1}, "All grades are from one judge"),
        (values(runs("a", "b"), DIFFICULTY, DIFFICULTY), {}, "the same AP on every topic. Which is better is not def"),
        (values(runs("a", "b"), DIFFICULTY * 0, DIFFICULTY * 0), {"relevant": (0,) * 10}, "No document is relevant in"),
        (values(runs("a", "b"), DIFFICULTY, WOBBLE), {"relevant": (0, 1) * 5}, "every run: 10, 12, 14, 16, 18."),
        (values(runs("a", "b"), DIFFICULTY, WOBBLE, measure="AP(rel=3)"), {}, "AP(rel=3) counts grade 3 and higher"),
        (
            values(runs("a", "b"), DIFFICULTY, WOBBLE, judged=0.94),
            {},
            "less than 95 % of the documents that a score uses are jud",
        ),
        (values(runs("a", "b", fed=False), DIFFICULTY, WOBBLE), {}, "None of these runs was pooled."),
        (values([*runs("a"), *runs("b", fed=False)], DIFFICULTY, WOBBLE), {}, "marked ○: 1 of 2."),
    ],
)
def test_what_there_is_too_little_of_is_said(board: BoardValues, more: dict[str, int], sentence: str) -> None:
    assert sentence in said(board, **more)  # type: ignore[arg-type]  # a table of several kinds


def made(view: View, *named: BoardRun) -> Leaderboard:
    """Two topics of two documents; the first run finds the relevant one of each, the second one of them."""
    topics = {
        1: replace(GradedTopic.of({1: 1, 2: 0}, b"1 0 x 1\n1 0 y 0\n"), judges=frozenset({1, 2})),
        2: replace(GradedTopic.of({1: 1}, b"2 0 x 1\n"), judges=frozenset({1}), disputed=frozenset({2})),
        3: GradedTopic.of({}),
    }
    best, other = np.array([1, 2], np.int32), np.array([2, 1], np.int32)
    lists = {1: [best, other], 2: [best, best]}
    request = BoardRequest(
        *(tuple(named), {1: "1", 2: "2", 3: "3"}, ("9",), parse_measures(["AP", "NumRet"]), Grading(1, 2), view),
        source="live",
        policy="majority",
    )
    scored = scored_topics(request, topics)
    scores = score_topics(scored, {}, lists, len(named), needed(request.measures), request.grading)
    return make_leaderboard(request, topics, board_values(request, topics, scores))


FOUND = [*runs("best|1 red", "other_2 red")]


def test_a_leaderboard_is_put_together_from_topics_and_lists() -> None:
    board = made(View(), *FOUND)
    assert [(row.tag, row.values) for row in board.rows] == [("best|1", (1.0, 4)), ("other_2", (0.75, 4))]
    assert board.rows[1].by_topic == {"1": (0.5, 2), "2": (1.0, 2)}
    # Of the second topic one document of two is judged.
    assert [row.judged for row in board.rows] == [(0.75, None), (0.75, None)]
    assert (board.grades, board.topics, board.topics_left_out, board.disputed_left_out) == (3, ("1", "2"), 1, 1)
    assert (board.topics_dropped, board.source, board.policy) == (("9",), "live", "majority")


def test_exact_rows_have_bounds_p_and_letters_and_name_the_grades() -> None:
    board = made(View(baseline="best|1", letters=True), *FOUND)
    headings, first, second = exact_rows(board)
    row = dict(zip(map(str, headings), second, strict=True))
    assert (first[0], second[0]) == ("best|1", "other_2")
    # 0.5 and 1: standard error 0.25, t of one degree at 97.5 % is 12.7062.
    assert [row["AP low"], row["AP high"]] == [0, 1]  # 12.7062 standard errors of 0.25 go beyond
    # The difference is -0.5 and 0, t -1 of one degree: p 1/2.
    assert row["AP p"] == pytest.approx(0.5)
    assert (row["Judged@10"], row["NumRet"], row["fed_pool"], row["best_of_team"]) == (0.75, 4, "yes", "no")
    assert (row["qrels"], row["grades"], row["fingerprint"], row["trec_eval"]) == ("live", 3, board.fingerprint, "10")
    assert first[headings.index("AP low")] is None  # the same on every topic


def test_readable_rows_show_how_far_is_judged_once_for_each_depth() -> None:
    headings, first, _ = readable_rows(made(View(), *FOUND))
    assert headings == ["RUN", "TEAM", "AP", "95%", "Judged@10", "NumRet", "MARKS"]
    assert first == ["best|1", "red", 1.0, None, 0.75, 4, "◆"]


def test_markdown_and_latex_escape_what_would_end_a_cell() -> None:
    board = made(View(), *FOUND)
    assert r"| best\|1 | red | 1.0000 |  | 0.7500 | 4 | ◆ |" in markdown(board).splitlines()
    assert r"other\_2 & red & 0.7500 & [0.0000,1.0000] & 0.7500 & 4 &  \\" in latex(board).splitlines()
    assert r"\begin{tabular}{llrrrrr}" in latex(board).splitlines()
