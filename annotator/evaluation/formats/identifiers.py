"""What may be the number of a topic or the id of a document: one word that every TREC file can carry."""

import re

from annotator.errors import InvalidValueError, Problems

MAX_IDENTIFIER_BYTES = 256
# Blanks and control characters past ASCII, which trec_eval takes for letters and other readers do not.
SPLITS_PAST_ASCII = r"\x80-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
SPLITTING_PAST_ASCII = re.compile(f"[{SPLITS_PAST_ASCII}]")
SPLITTING = re.compile(rf"[\x00-\x20\x7f{SPLITS_PAST_ASCII}\ud800-\udfff]")


def check_topic_number(problems: Problems, name: str, line: int, number: str) -> bool:
    """Note what is wrong with the number of a topic; True when nothing is."""
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
            "The topic number %(number)s cannot stand in an address: between its slashes is nothing, “.” or “..”.",
            number=number,
        )
    else:
        return True
    return False


def check_docno(problems: Problems, name: str, line: int, docno: str) -> bool:
    """Note what is wrong with the id of a document; True when nothing is."""
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
    """Tell whether no reader of TREC files would split it: no blank of any script, nothing that cannot be encoded."""
    return not SPLITTING.search(identifier)


def is_too_long(identifier: str) -> bool:
    """Tell whether its UTF-8 has more than `MAX_IDENTIFIER_BYTES` bytes."""
    return len(identifier.encode()) > MAX_IDENTIFIER_BYTES


def require_identifier(word: object) -> str:
    """Return it when it can be the number of a topic or the id of a document in a TREC file.

    Raises `InvalidValueError` otherwise.
    """
    if not isinstance(word, str):
        raise InvalidValueError("%(word)s stands for a topic or a document, but is no text.", word=repr(word))
    if not word or not is_one_word(word):
        raise InvalidValueError(
            "%(word)s stands for a topic or a document, but is not one word without blanks or control characters.",
            word=repr(word),
        )
    if is_too_long(word):
        raise InvalidValueError(
            "%(word)s stands for a topic or a document, but is too long for an identifier.", word=repr(word)
        )
    return word
