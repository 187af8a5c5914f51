"""Words to mark: the stems of a title's words, no words that are everywhere, CJK text wherever it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.search.search_snippets import MarkKind, marks_in

PREFIX, WHOLE, SUBSTRING = MarkKind.PREFIX, MarkKind.WHOLE, MarkKind.SUBSTRING


@pytest.mark.parametrize(
    ("title", "marks"),
    [
        ("What is the origin of COVID-19?", [("origin", PREFIX), ("covid", PREFIX), ("19", WHOLE)]),
        ("international organized crimes", [("international", PREFIX), ("organiz", PREFIX), ("crime", PREFIX)]),
        ("populations of cities", [("populat", PREFIX), ("cities", PREFIX)]),
        ("anthropological and political news", [("anthropolog", PREFIX), ("polit", PREFIX), ("news", PREFIX)]),
        ("hydrogen cars", [("hydrogen", PREFIX), ("car", WHOLE)]),
        ("the judge\u2019s glasses", [("judg", PREFIX), ("glass", PREFIX)]),
        ("boxes and churches", [("boxes", PREFIX), ("church", PREFIX)]),
        ("US tax law", [("us", WHOLE), ("tax", WHOLE), ("law", WHOLE)]),
        ("WHO IS WHO", []),
        ("Café society", [("café", PREFIX), ("societ", PREFIX)]),
        ("cat cat CAT", [("cat", WHOLE)]),
        ("cats or dogs, gas or news", [("cat", WHOLE), ("dog", WHOLE), ("gas", WHOLE), ("news", PREFIX)]),
        ("C++ or R", []),
        ("the of and", []),
        ("", []),
        # Particles are cut off, and a noun of one syllable is left as it is.
        ("한국의 반도체 시장에서", [("한국", SUBSTRING), ("반도체", SUBSTRING), ("시장", SUBSTRING)]),
        ("물은 어디에", [("물은", SUBSTRING), ("어디", SUBSTRING)]),
        # Kana between Han signs is grammar.
        ("日本の経済政策について", [("日本", SUBSTRING), ("経済政策", SUBSTRING)]),
        ("中国经济", [("中国经济", SUBSTRING)]),
    ],
)
def test_what_is_marked(title: str, marks: list[tuple[str, MarkKind]]) -> None:
    assert marks_in(title) == marks


@given(st.text(max_size=200))
def test_every_mark_is_in_the_title(title: str) -> None:
    marks = marks_in(title)
    assert len(set(marks)) == len(marks)
    assert all(mark.text for mark in marks)
