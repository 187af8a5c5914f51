"""What splits an identifier, character by character."""

import sys
import unicodedata

from annotator.evaluation.formats.identifiers import SPLITTING_PAST_ASCII, is_one_word

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1)]


def test_only_blanks_control_characters_and_what_cannot_be_encoded_split_a_word() -> None:
    splitting = [char for char in EVERY_CHARACTER if not is_one_word(f"a{char}b")]
    assert splitting == [
        char for char in EVERY_CHARACTER if char.isspace() or unicodedata.category(char) in {"Cc", "Cs"}
    ]


def test_past_ascii_the_same_characters_are_searched_for_in_whole_files() -> None:
    # Files are UTF-8, so surrogates (Cs) are never in them.
    found = [char for char in EVERY_CHARACTER if SPLITTING_PAST_ASCII.search(char)]
    assert found == [
        char
        for char in EVERY_CHARACTER
        if not char.isascii() and not is_one_word(char) and unicodedata.category(char) != "Cs"
    ]
