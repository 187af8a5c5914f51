"""CSV: numbers exactly, text never as a formula."""

import csv
import io

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
        "grade,kappa,team,late\n-1,-0.5,,True\n"
    )


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), min_size=1))
def test_no_text_begins_like_a_formula(text: str) -> None:
    [[first, last]] = csv.reader(io.StringIO(csv_text([[text, text]]), newline=""))
    assert first == last
    assert first in {text, f"'{text}"}
    assert first[0] not in "=+-@\t\n＝＋－＠"  # noqa: RUF001 - the wide signs are meant


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("＝1", "'＝1"),  # noqa: RUF001 - likewise
        ("\r\n=1", '"\'\n=1"'),
        ("a\r=1", '"a\n=1"'),
        ("a=1", "a=1"),
    ],
)
def test_formulas_are_text_wherever_a_spreadsheet_would_look_for_one(text: str, cell: str) -> None:
    assert csv_text([[text]]) == f"{cell}\n"
