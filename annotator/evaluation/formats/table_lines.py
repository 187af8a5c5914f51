"""Lines of columns set apart by blanks, as runs and qrels have them."""

import io
import re
from collections.abc import Collection, Iterator

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES, is_one_word

MAX_LINE_BYTES = 1 << 16
SHOWN_BYTES = 60
# The six blanks of C's isspace() separate; trec_eval takes every other byte for a part of a word.
CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def data_lines(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number (from 1) and columns of each line; blank lines and those that begin with `#` are passed over."""
    for line, content in enumerate(io.BytesIO(text), start=1):
        stripped = content.strip()
        if not stripped or stripped.startswith(b"#"):
            continue
        if len(content) > MAX_LINE_BYTES:
            problems.add(name, line, "The line is longer than %(limit)d bytes.", limit=MAX_LINE_BYTES)
        elif control := CONTROL_CHARACTER.search(content):
            problems.add(name, line, "Byte %(byte)d of the line is a control character.", byte=control.start() + 1)
        else:
            yield line, stripped.split()


def first_data_line(text: bytes) -> int:
    """The number (from 1) of the first line that is neither blank nor begins with `#`; 1 when there is none."""
    lines = enumerate(io.BytesIO(text), start=1)
    return next((line for line, content in lines if content.strip() and not content.lstrip().startswith(b"#")), 1)


def check_words(name: str, line: int, words: Collection[bytes], problems: Problems) -> bool:
    """Note the first of these words of a line that can be no identifier; True when there is none."""
    for word in words:
        if len(word) > MAX_IDENTIFIER_BYTES:
            problems.add(
                name,
                line,
                "%(word)s is longer than %(limit)d bytes, too long for an identifier.",
                word=shown(word),
                limit=MAX_IDENTIFIER_BYTES,
            )
            return False
        # In ASCII the columns have been set apart by blanks and lines with control characters refused.
        if not word.isascii() and not is_one_word(word.decode()):
            problems.add(
                name,
                line,
                "%(word)s has blanks or control characters inside; it must be one word.",
                word=repr(word.decode()),
            )
            return False
    return True


def counted_columns(count: int) -> Sentence:
    """So many columns, for a sentence with other words around it."""
    return Sentence("one column") if count == 1 else Sentence("%(count)d columns", {"count": count})


def counted_fields(count: int) -> Sentence:
    """A number of fields as a phrase, singular or plural."""
    return Sentence("one field") if count == 1 else Sentence("%(count)d fields", {"count": count})


def shown(word: bytes) -> str:
    """Return the word as a sentence can quote it: decoded, and cut when it is long."""
    return word.decode() if len(word) <= SHOWN_BYTES else word[:SHOWN_BYTES].decode(errors="ignore") + "…"
