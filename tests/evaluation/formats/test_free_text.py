"""Texts people write: as long as is sensible, and such that every database holds them."""

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text


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
