"""What a document file says, in whatever format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document; texts that are not there are empty, `line` (from 1) is where it begins.

    `body` is as the file has it, markup and all; `title` is one line of plain text when it came out of markup.
    """

    docno: str
    title: str
    body: str
    url: str | None
    language: str | None
    line: int
