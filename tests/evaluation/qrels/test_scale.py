"""Scales: what people write for the grades of a collection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.scale import (
    GradeMeaning,
    check_relevant_from,
    format_scale,
    parse_scale,
)


def test_grades_come_in_order_with_names_and_descriptions() -> None:
    assert parse_scale("2=Very | Answers it.\n\n 0 = No\n1=Yes |\n") == (
        GradeMeaning(0, "No"),
        GradeMeaning(1, "Yes"),
        GradeMeaning(2, "Very", "Answers it."),
    )


def test_commas_separate_on_one_line_and_belong_to_descriptions_on_several() -> None:
    assert [grade.name for grade in parse_scale("0=No, 1=Yes")] == ["No", "Yes"]
    assert parse_scale("0=No\n1=Yes | Helps, in part")[1].description == "Helps, in part"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "at least two grades"),
        ("0=No", "at least two grades"),
        ("0=No,0=Yes", "0 is in the scale twice"),
        ("0=No,ten=Yes", "“ten=Yes” is not a grade"),
        ("0=No,1=", "“1=” is not a grade"),
        ("0=No,1", "“1” is not a grade"),
        ("-1=Spam,0=No", "“-1=Spam” is not a grade"),
        ("0=No,10=Yes", "from 0 to 9, not 10"),
        ("0=No," + "9" * 5000 + "=Yes", "is not a grade"),
        ("0=No,٣=Yes", "“٣=Yes” is not a grade"),
    ],
)
def test_a_scale_that_is_none_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        parse_scale(text)


@pytest.mark.parametrize("relevant_from", [0, 2, 9])
def test_relevant_from_is_a_grade_above_the_lowest(relevant_from: int) -> None:
    grades = parse_scale("0=No,1=Yes,3=Very")
    check_relevant_from(1, grades)
    check_relevant_from(3, grades)
    with pytest.raises(InvalidValueError, match=rf"\(1, 3\), not {relevant_from}"):
        check_relevant_from(relevant_from, grades)


words = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="|="), min_size=1)


@given(st.dictionaries(st.integers(0, 9), st.tuples(words, st.just("") | words), min_size=2))
def test_a_scale_that_is_written_reads_back(meanings: dict[int, tuple[str, str]]) -> None:
    scale = tuple(GradeMeaning(value, *meanings[value]) for value in sorted(meanings))
    assert parse_scale(format_scale(scale)) == scale
