"""What a format of output files is, and how one is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from annotator.errors import InvalidValueError


class Writes(StrEnum):
    """What an output file holds."""

    COLLECTION = "collections"
    QRELS = "qrels"
    JUDGEMENTS = "judgements"
    SCORES = "scores"


@dataclass(frozen=True, kw_only=True)
class OutputFormat:
    """A format of output files that hold one kind of thing.

    `title` is its name in a sentence, `about` says what reads it, in Markdown. `media` is its media type, `ending` what
    follows the name of the collection in the name of a file. `commands` write it with `--format NAME`; `example` is a
    small file, empty for binary ones; `test` has the test that reads it back.
    """

    name: str
    writes: Writes
    title: str
    about: str
    media: str
    ending: str
    commands: Sequence[str]
    test: str
    example: str = ""


Named = TypeVar("Named", bound=OutputFormat)


def named(formats: Sequence[Named], name: str) -> Named:
    """The format of this name; raises `InvalidValueError` when there is none."""
    found = next((one for one in formats if one.name == name), None)
    if found is None:
        raise InvalidValueError(
            "There is no format %(name)s of %(holds)s; there are %(names)s.",
            name=name,
            holds=formats[0].writes.value,
            names=", ".join(one.name for one in formats),
        )
    return found
