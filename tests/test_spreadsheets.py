"""CSV: numbers exactly, text never as a formula."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.spreadsheets import csv_text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_read_back_to_the_same_numbers(numbers: list[float]) -> None:
    _, *rows = csv.reader(csv_text([["value"], *([number] for number in numbers)]).splitlines())
    assert [float(cell) for [cell] in rows] == numbers


def test_negative_numbers_stay_numbers_and_nothing_is_an_empty_cell() -> None:
    assert csv_text([("grade", "kappa", "team", "late"), (-1, -0.5, None, True)]) == (
        '"grade","kappa","team","late"\n"-1","-0.5","","True"\n'
    )


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1))
def test_no_text_begins_like_a_formula(text: str) -> None:
    [[first, last]] = csv.reader(io.StringIO(csv_text([[text, text]]), newline=""))
    assert first == last
    # Where a semicolon or a tab parts cells, also inside of quotes: each may be one of its own.
    for part in re.split("[;\t\n]", first):
        assert part[:1] not in set("=+-@＝＋－＠")  # noqa: RUF001 - the wide signs are meant
    assert first[0] not in "\t\n"


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1))
def test_text_stays_as_it_is_but_for_apostrophes(text: str) -> None:
    [[cell]] = csv.reader(io.StringIO(csv_text([[text]]), newline=""))
    assert cell.replace("'", "") == text.replace("'", "")
    assert cell == text or any(sign in text for sign in "=+-@\t\n＝＋－＠")  # noqa: RUF001 - likewise


def test_every_cell_of_csv_is_quoted_and_none_for_programs_that_know_no_quotes() -> None:
    rows = [("run", "AP"), ("alpha", 0.5)]
    assert csv_text(rows) == '"run","AP"\n"alpha","0.5"\n'
    assert csv_text(rows, separator="\t") == "run\tAP\nalpha\t0.5\n"


@pytest.mark.parametrize("opened_with", [";", "\t"])
def test_a_spreadsheet_whose_separator_is_another_finds_no_formula(opened_with: str) -> None:
    written = csv_text([["x", "ok;=1+2", "x\ty\t=2;z", "a\n@b"], ["ok;=1+2", None, 2, "-3"]])
    for row in csv.reader(io.StringIO(written, newline=""), delimiter=opened_with):
        assert [cell for cell in row if cell.startswith(("=", "@", "+", "-"))] == []


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("＝1", "'＝1"),  # noqa: RUF001 - likewise
        ("\r\n=1", "'\n'=1"),
        ("a\r=1", "a\n'=1"),
        ("ok;=1+2", "ok;'=1+2"),
        ("a=1", "a=1"),
        ("a;b - c", "a;b - c"),
    ],
)
def test_formulas_are_text_wherever_a_spreadsheet_would_look_for_one(text: str, cell: str) -> None:
    assert csv_text([[text]]) == f'"{cell}"\n'
