"""Charts of the report: where things stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.reporting import LONGEST_NAME, line_chart, row_chart

VALUES = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-6)


def test_a_point_stands_where_its_value_lies_between_the_ticks() -> None:
    chart = row_chart("Scores", "AP", "Run", [("a", 0.5, (0.25, 0.75)), ("b", 1.0, None), ("none", None, None)])
    assert chart is not None
    assert [tick.text for tick in chart.ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    first, last = chart.ticks[0].at, chart.ticks[-1].at
    half, whole = chart.rows
    assert half.x == pytest.approx((first + last) / 2)
    assert whole.x == last
    assert half.ends is not None
    assert list(half.ends) == pytest.approx([first + (last - first) / 4, first + (last - first) * 3 / 4])
    assert whole.y - half.y == 20


def test_lines_are_told_apart_without_colour() -> None:
    chart = line_chart("Tau", "Share", "tau", [("mean", [(1, 0.5), (2, None), (3, 1.0)]), ("least", [(1, -0.5)])])
    assert chart is not None
    assert [(line.name, len(line.points), line.dash != "", line.marked) for line in chart.lines] == [
        ("mean", 2, False, True),
        ("least", 1, True, False),
    ]
    assert chart.ticks_up[0].text == "-0.5"


def test_without_values_there_is_no_chart() -> None:
    assert row_chart("t", "a", "n", [("x", None, None)]) is None
    assert line_chart("t", "a", "u", [("x", [(1, None)]), ("y", [])]) is None


def test_a_long_name_is_cut() -> None:
    chart = row_chart("t", "a", "n", [("x" * 200, 1.0, None)])
    assert chart is not None
    assert len(chart.rows[0].name) == LONGEST_NAME


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_everything_lies_on_the_paper(values: list[float]) -> None:
    chart = row_chart("t", "a", "n", [(str(place), value, None) for place, value in enumerate(values)])
    assert chart is not None
    assert all(chart.left - 0.01 <= mark.x <= chart.width for mark in chart.rows)
    assert all(mark.y < chart.foot for mark in chart.rows)
    assert len(chart.ticks) <= 9
