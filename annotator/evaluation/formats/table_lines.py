"""Parsing shared by several formats: whitespace-separated columns, JSON objects, TREC's SGML."""

import html
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES, is_one_word
from annotator.evaluation.formats.json_values import list_objects

MAX_LINE_BYTES = 1 << 16
SHOWN_BYTES = 60
# The separators are the six blanks of C's isspace(); for trec_eval every other byte is part of a word.
CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def data_lines(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number (from 1) and columns of each line; blank lines and those that begin with `#` are skipped."""
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
    """Return the number (from 1) of the first line that is neither blank nor begins with `#`; 1 when there is none."""
    lines = enumerate(io.BytesIO(text), start=1)
    return next((line for line, content in lines if content.strip() and not content.lstrip().startswith(b"#")), 1)


def check_words(name: str, line: int, words: Collection[bytes], problems: Problems) -> bool:
    """Note the first of these words of a line that is no identifier; True when there is none."""
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
        # In ASCII the columns were split at blanks, and lines with control characters refused.
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
    """A number of columns as a phrase, singular or plural."""
    return Sentence("one column") if count == 1 else Sentence("%(count)d columns", {"count": count})


def counted_fields(count: int) -> Sentence:
    """A number of fields as a phrase, singular or plural."""
    return Sentence("one field") if count == 1 else Sentence("%(count)d fields", {"count": count})


def shown(word: bytes) -> str:
    """Decode a word for quoting in a sentence, truncated when it is long."""
    return word.decode() if len(word) <= SHOWN_BYTES else word[:SHOWN_BYTES].decode(errors="ignore") + "…"


MOST_PARSED = 1 << 16  # length of the prefix of a line that is checked for JSON

LIST_BEGINNING = re.compile(rb"\[\s*(?:\{|$)")
# The first key of an object, possibly of the first object of a list.
OBJECT_BEGINNING = re.compile(rb'\[?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:')
UNSTORABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def json_objects(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield number (from 1) and object of each line that is not blank, or of each entry of a file that is one list."""
    beginning = first_line_of(text)
    if LIST_BEGINNING.match(beginning) or beginning == b"{":
        yield from list_objects(name, text, problems)
        return
    for line, content in enumerate(io.BytesIO(text), start=1):
        if not content.strip():
            continue
        try:
            record = json.loads(content.rstrip())
        except json.JSONDecodeError as error:
            problems.add(name, line, "The line is not valid JSON: look at column %(column)d.", column=error.colno)
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets nested thousands deep
            problems.add(name, line, "The line is JSON nested too deep, or with too long a number.")
        else:
            if isinstance(record, dict):
                yield line, record
            else:
                problems.add(name, line, "The line is not a JSON object; each line must be one: {…}.")


def first_line_of(text: bytes) -> bytes:
    """Return the first line that is not blank, stripped."""
    return next((line.strip() for line in io.BytesIO(text) if line.strip()), b"")


def is_json(first_line: bytes) -> bool:
    """Whether a file with this first line is JSON: one object or list a line, or one over many lines."""
    if first_line in {b"{", b"[", b"[{"}:
        return True
    if not first_line.startswith((b"{", b"[")) or len(first_line) > MOST_PARSED:
        return OBJECT_BEGINNING.match(first_line) is not None
    try:
        return isinstance(json.loads(first_line), dict | list)
    except (ValueError, RecursionError):
        return OBJECT_BEGINNING.match(first_line) is not None


def text_of(name: str, line: int, record: Mapping[str, object], keys: Sequence[str], problems: Problems) -> str | None:
    """Return the first of these keys that has a value; None when none has, or when the value is no text (noted)."""
    for key in keys:
        value = record.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            problems.add(name, line, "The value of %(key)s is not text.", key=key)
            return None
        if unstorable := UNSTORABLE_CHARACTER.search(value):
            problems.add(
                name,
                line,
                "The value of %(key)s has the character U+%(code)s, which no text can hold.",
                key=key,
                code=f"{ord(unstorable[0]):04X}",
            )
            return None
        return value
    return None


def identifier_of(
    name: str, line: int, record: Mapping[str, object], keys: Sequence[str], problems: Problems
) -> str | None:
    """Do as `text_of`, but convert integers, as many files have integer ids."""
    digits = {key: str(value) for key, value in record.items() if type(value) is int and key in keys}
    return text_of(name, line, {**record, **digits} if digits else record, keys, problems)


def with_metadata(record: Mapping[str, object], keys: Sequence[str]) -> Mapping[str, object]:
    """The record with texts of its `metadata`, as BEIR has it, under those of these keys that it lacks itself."""
    metadata = record.get("metadata")
    if not isinstance(metadata, Mapping):
        return record
    return {key: metadata[key] for key in keys if isinstance(metadata.get(key), str)} | dict(record)


def shown_text(text: str) -> str:
    """The beginning of a text for a sentence, without what no text can hold."""
    storable = UNSTORABLE_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text[:SHOWN_BYTES])
    return storable if len(text) <= SHOWN_BYTES else f"{storable}…"


CHARACTER_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]*(?:\s[^<>]*)?>")
BETWEEN_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n\s*")


def resolve_references(markup: str) -> str:
    """Replace references such as `&amp;`; an ampersand that begins no complete reference stays."""
    return CHARACTER_REFERENCE.sub(lambda reference: html.unescape(reference[0]), markup)


def plain_line(markup: str) -> str:
    """Remove tags and put the text on one line."""
    return " ".join(resolve_references(TAG.sub(" ", markup)).split())


def paragraphs(text: str) -> str:
    """Join the lines of each paragraph; empty lines between paragraphs stay."""
    return "\n\n".join(" ".join(part.split()) for part in BETWEEN_PARAGRAPHS.split(text.strip()))
