"""What a format of input files is, and how the one of a file is chosen: by its content or by its name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotator.errors import InvalidValueError, Problems

HEAD_BYTES = 1 << 16  # by which formats are detected


class Holds(StrEnum):
    """What a file holds."""

    RUNS = "runs"
    LABELS = "qrels and labels"
    TOPICS = "topics"
    DOCUMENTS = "documents"
    DOCNOS = "docnos"


@dataclass(frozen=True)
class Format:
    """A format of input files that hold one kind of thing.

    `title` is its name in a sentence, `about` says whose files have it, in Markdown. `fits` detects it by the beginning
    of the text; the first of a list that fits counts. `read` returns rows, topics or documents in its file's order;
    None for TREC's columns, which are read as they are. `example` is a small file, `writer` the command that writes
    it, `test` the file that has its tests.
    """

    name: str
    holds: Holds
    title: str
    about: str
    example: str
    fits: Callable[[bytes], bool]
    read: Callable[[str, bytes, Problems], Iterable[object]] | None
    test: str
    writer: str = ""


def never(_head: bytes) -> bool:
    """Fit no text: the format is detected before a file is unpacked, or only named."""
    return False


def always(_head: bytes) -> bool:
    """Fit every text: the format whose reader says what is wrong with the file."""
    return True


def choose(formats: Sequence[Format], text: bytes, input_format: str | None = None) -> Format:
    """The format of a text, or the one with that name; raises `InvalidValueError` when there is none."""
    if input_format is None:
        head = text[:HEAD_BYTES]
        return next(one for one in formats if one.fits(head))
    found = next((one for one in formats if one.name == input_format), None)
    if found is None:
        raise InvalidValueError(
            "There is no format %(name)s of %(holds)s; there are %(names)s.",
            name=input_format,
            holds=formats[0].holds.value,
            names=", ".join(one.name for one in formats),
        )
    return found
