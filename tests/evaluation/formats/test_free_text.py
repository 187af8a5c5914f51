"""Texts people write: as long as is sensible, and such that every database holds them."""

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text, is_blank


@pytest.mark.parametrize("text", ["", "one line", "two\nlines\twith tabs", "한글 🙂", "x" * 50])
def test_text_is_taken(text: str) -> None:
    check_free_text(text, 50)


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of a pair"])
def test_text_that_no_database_holds_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="cannot be stored"):
        check_free_text(text, 50)


def test_text_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(InvalidValueError, match=r"“y{40}…” is too long: 51 characters, where at most 50"):
        check_free_text("y" * 51, 50)


@pytest.mark.parametrize(
    "text",
    [
        *("", " \t\r\n", "\x01\x7f\x85", "\u00a0\u2028\u2029\u3000", "\u00ad\u200b\u2060\ufeff", "\u3164\u115f\uffa0"),
        *(
            "\u2800",
            "\ufff0\ufff8",
            "\ufff9\ufffb",
            "\U0001bca0\U0001bca3",
            "\U0001d173\U0001d17a",
            "\U000e0001\U000e0fff",
        ),
    ],
    ids=ascii,
)
def test_a_text_of_which_nothing_is_seen_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}.{text}")


@pytest.mark.parametrize("text", ["0", "한", "\u0301", "\U0001d172", "\ufffd", "🙂"], ids=ascii)
def test_a_text_with_a_sign_is_not_blank(text: str) -> None:
    assert not is_blank(text)
