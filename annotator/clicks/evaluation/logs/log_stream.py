"""Reads a log piece by piece, gzip undone on the way, and tells how far it is."""

import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.table_stream import beginning_of, whole_lines, within
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.formats.unpacking import UTF8_MARK, note_no_text, noting_damage
from annotator.files import GZIP_MAGIC, gunzipped

CHUNK_BYTES = 1 << 20

# By the name that people know it by: where its bytes are.
Source = Path | bytes | BinaryIO
LogFile = tuple[str, Source]
Advance = Callable[[int], None]


def size_of(file: LogFile) -> int:
    """How many bytes there are to read; 0 of what is no plain file, or none at all."""
    _, source = file
    if isinstance(source, bytes):
        return len(source)
    return source.stat().st_size if isinstance(source, Path) and source.is_file() else 0


def chunks_of_log(
    file: LogFile, problems: Problems, advance: Advance, unpacked_limit: int | None = None
) -> Iterator[bytes]:
    """Yield the text in pieces that end with a line, the last one's end added where it lacks; without byte order mark.

    `advance` is told of bytes of the file as they are read. What is wrong with the file as a whole is noted, and then
    nothing more is yielded.
    """
    name, source = file
    with noting_damage(problems, name, unpacked_limit or 0):
        pieces = _pieces(source, advance)
        first = beginning_of(pieces)
        pieces = chain((first,), pieces)
        if first.startswith(GZIP_MAGIC):
            pieces = gunzipped(pieces, CHUNK_BYTES)
        if unpacked_limit is not None:
            pieces = within(pieces, unpacked_limit)
        first = beginning_of(pieces).removeprefix(UTF8_MARK)
        if not first:
            problems.add(name, None, "The file is empty.")
        elif not note_no_text(problems, name, first):
            yield from _lines(name, chain((first,), pieces), problems)


def _pieces(source: Source, advance: Advance) -> Iterator[bytes]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield from _pieces(file, advance)
        return
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    while piece := stream.read(CHUNK_BYTES):
        advance(len(piece))
        yield piece


def _lines(name: str, pieces: Iterable[bytes], problems: Problems) -> Iterator[bytes]:
    lines = 0
    try:
        for text in whole_lines(pieces):
            lines += text.count(b"\n")
            yield text if text.endswith(b"\n") else text + b"\n"
    except UnusualError:
        problems.add(name, lines + 1, "The line is longer than %(limit)d bytes.", limit=MAX_LINE_BYTES)
