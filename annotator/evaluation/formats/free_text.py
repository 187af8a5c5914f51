"""What people write freely: how long it may be, and that every database can hold it."""

import re

from annotator.errors import InvalidValueError

# PostgreSQL stores no NUL, and half a surrogate pair is no text in UTF-8.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_free_text(text: str, most: int) -> None:
    """Refuse a text of more than `most` characters, or with one that cannot be stored, by `InvalidValueError`."""
    if len(text) > most:
        raise InvalidValueError(
            "“%(beginning)s…” is too long: %(length)d characters, where at most %(most)d are possible.",
            beginning=UNSTORABLE.sub("", text[:40]),
            length=len(text),
            most=most,
        )
    if UNSTORABLE.search(text):
        raise InvalidValueError("A text has a character that cannot be stored: NUL, or half of a surrogate pair.")
