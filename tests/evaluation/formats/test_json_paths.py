"""Paths into JSON: what they lead to, and which are malformed."""

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.json_paths import parse_path, text_of_value

VALUE = {"a": {"b": [{"c": "one"}, {"c": "two"}, {}]}, "x.y": 1, "n": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", [VALUE]),
        ("$", [VALUE]),
        ("a.b[0].c", ["one"]),
        ("$.a.b[1].c", ["two"]),
        ("a.b[*].c", ["one", "two"]),
        ('["x.y"]', [1]),
        ("a.b[9].c", []),
        ("a[0]", []),
        ("a.b.c", []),
        ("x.y", []),
        ("n", [None]),
        ("n[*]", []),
    ],
)
def test_a_path_leads_to_values(path: str, found: list[object]) -> None:
    assert list(parse_path(path).values(VALUE)) == found


@pytest.mark.parametrize("path", ["a..b", "a.[0]", "a[", "a[x]", "a['x']", "a[0]b", "a.", "x" * 201])
def test_a_malformed_path_is_named(path: str) -> None:
    with pytest.raises(InvalidValueError, match="is not a path into JSON"):
        parse_path(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one", "one"),
        (7, "7"),
        (0.5, "0.5"),
        (True, None),
        (None, None),
        ({"a": "b"}, None),
        (["one", 2, None, ["three"]], "one\n2\nthree"),
        ([], None),
        ([None, {}], None),
    ],
)
def test_the_text_of_a_value(value: object, text: str | None) -> None:
    assert text_of_value(value) == text
