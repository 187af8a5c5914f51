"""Validation of topic numbers, docnos and free text, and natural sorting."""

import re
import unicodedata

from annotator.errors import InvalidValueError, Problems

MAX_IDENTIFIER_BYTES = 256
# Blanks and control characters beyond ASCII, which trec_eval treats as letters and other readers do not.
SPLITS_PAST_ASCII = r"\x80-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
SPLITTING_PAST_ASCII = re.compile(f"[{SPLITS_PAST_ASCII}]")
SPLITTING = re.compile(rf"[\x00-\x20\x7f{SPLITS_PAST_ASCII}\ud800-\udfff]")


def check_topic_number(problems: Problems, name: str, line: int, number: str) -> bool:
    """Note the problems of a topic number; True when there are none."""
    if not number:
        problems.add(name, line, "The topic has no number.")
    elif not is_one_word(number):
        problems.add(
            name,
            line,
            "The topic number %(number)s has blanks or control characters inside; it must be one word.",
            number=repr(number),
        )
    elif is_too_long(number):
        problems.add(
            name, line, "The topic number is longer than %(limit)d bytes. Shorten it.", limit=MAX_IDENTIFIER_BYTES
        )
    elif number.startswith("#"):
        problems.add(
            name,
            line,
            "The topic number %(number)s begins with #, so its lines in runs and qrels would be comments. Drop the #.",
            number=number,
        )
    elif not {"", ".", ".."}.isdisjoint(number.split("/")):
        problems.add(
            name,
            line,
            "The topic number %(number)s cannot be part of an address: between its slashes is nothing, “.” or “..”.",
            number=number,
        )
    else:
        return True
    return False


def check_docno(problems: Problems, name: str, line: int, docno: str) -> bool:
    """Note the problems of a docno; True when there are none."""
    if not docno:
        problems.add(name, line, "The document has no id.")
    elif not is_one_word(docno):
        problems.add(
            name,
            line,
            "The document id %(docno)s has blanks or control characters inside; it must be one word.",
            docno=repr(docno),
        )
    elif is_too_long(docno):
        problems.add(
            name, line, "The document id is longer than %(limit)d bytes. Shorten it.", limit=MAX_IDENTIFIER_BYTES
        )
    else:
        return True
    return False


def is_one_word(identifier: str) -> bool:
    """Whether no reader of TREC files would split it: no blank of any script, nothing that cannot be encoded."""
    return not SPLITTING.search(identifier)


def is_too_long(identifier: str) -> bool:
    """Whether its UTF-8 has more than `MAX_IDENTIFIER_BYTES` bytes."""
    return len(identifier.encode()) > MAX_IDENTIFIER_BYTES


def require_identifier(word: object) -> str:
    """Return the word if it is valid as a topic number or docno in a TREC file.

    Raises `InvalidValueError` otherwise.
    """
    if not isinstance(word, str):
        raise InvalidValueError("%(word)s is given as a topic or document id, but is not text.", word=repr(word))
    if not word or not is_one_word(word):
        raise InvalidValueError(
            "%(word)s is given as a topic or document id, but is not one word without blanks or control characters.",
            word=repr(word),
        )
    if is_too_long(word):
        raise InvalidValueError(
            "%(word)s is given as a topic or document id, but is too long for an identifier.", word=repr(word)
        )
    return word


def natural_order(text: str) -> list[tuple[int, int, str]]:
    """A sorting key that compares runs of digits as numbers and the rest by letters."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts]


# Characters that show nothing: Unicode's Default_Ignorable_Code_Point, with letters among them; the blank of Braille.
SHOWN_AS_NOTHING = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})  # of controls, formats and blanks


def is_blank(text: str) -> bool:
    """Whether nothing would be seen of a text."""
    return all(unicodedata.category(sign) in UNSEEN_CATEGORIES for sign in SHOWN_AS_NOTHING.sub("", text))


# PostgreSQL stores no NUL, and a lone surrogate is invalid in UTF-8.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_free_text(text: str, most: int) -> None:
    """Raise `InvalidValueError` for a text of more than `most` characters, or one that cannot be stored."""
    if len(text) > most:
        raise InvalidValueError(
            "“%(beginning)s…” is too long: %(length)d characters, where at most %(most)d are possible.",
            beginning=UNSTORABLE.sub("", text[:40]),
            length=len(text),
            most=most,
        )
    if UNSTORABLE.search(text):
        raise InvalidValueError("A text has a character that cannot be stored: NUL, or half of a surrogate pair.")
