"""Tables: plain columns off a terminal, exact CSV."""

import csv
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.cli.tables import csv_table, show_json, show_table


def test_columns_are_as_wide_as_their_widest_cell_and_numbers_stand_to_the_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_table(
        ["TAG", "AP", "N", "SENT", "IN"],
        [
            ["뉴스", 0.12345, 7, datetime(2026, 3, 1, 9, tzinfo=UTC), True],
            ["a" * 200, None, 1000, None, False],
        ],
    )
    wide = "a" * 200
    assert capsys.readouterr().out.splitlines() == [
        f"{'TAG':<200}      AP     N  SENT               IN",
        # Each of the two syllables takes two columns of a terminal.
        f"{'뉴스':<198}  0.1235     7  2026-03-01T09:00Z  yes",
        f"{wide}       -  1000  -                  no",
    ]


def test_nothing_in_a_cell_steers_the_terminal_or_breaks_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["TITLE"], [["a\x1b[31m\tb\nc"]])
    assert capsys.readouterr().out == "TITLE\na [31m b c\n"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_in_csv_read_back_to_the_same_numbers(numbers: list[float]) -> None:
    _, *rows = csv.reader(csv_table(["value"], [[number] for number in numbers]).splitlines())
    assert [float(cell) for [cell] in rows] == numbers


@given(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1))
def test_no_text_in_csv_begins_like_a_formula(text: str) -> None:
    _, [cell] = csv.reader(io.StringIO(csv_table(["text"], [[text]])))
    assert cell in {text, f"'{text}"}
    assert cell[0] not in "=+-@\t"


def test_json_is_in_utf_8_and_refuses_what_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"title": "뉴스"})
    assert capsys.readouterr().out == '{\n  "title": "뉴스"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        show_json(float("nan"))
