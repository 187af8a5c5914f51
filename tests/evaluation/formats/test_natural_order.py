"""The order in which people expect numbers and names."""

from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.formats.identifiers import natural_order


def test_numbers_count_by_their_value_wherever_they_stand() -> None:
    assert sorted(["T10", "10", "T2", "9", "1-b", "1-a", "01"], key=natural_order) == [
        "01",
        "1-a",
        "1-b",
        "9",
        "10",
        "T2",
        "T10",
    ]


@given(st.lists(st.text()))
def test_any_texts_can_be_ordered(texts: list[str]) -> None:
    backwards = texts[::-1]
    assert sorted(texts, key=natural_order) == sorted(backwards, key=natural_order)


@given(st.text(), st.text())
def test_only_equal_texts_are_equal(first: str, second: str) -> None:
    assert (natural_order(first) == natural_order(second)) == (first == second)
