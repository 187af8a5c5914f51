"""Reads a run file in chunks, decompressed, so that no file is in memory as a whole."""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO

from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.formats.unpacking import UNPACKED_LIMIT, UTF8_MARK, TooLargeError
from annotator.packing import LONGEST_MAGIC, DamagedError, packing_of, unpacked

CHUNK_BYTES = 1 << 19  # small enough for the processor's cache, large enough for few NumPy calls


def chunks_of(
    source: Path | bytes, start: int = 0, end: int | None = None, *, chunk_bytes: int | None = None
) -> Iterator[bytes]:
    """Yield the text, or the plain file's bytes from `start` to `end`, in chunks that end with a line.

    Uncompressed text has chunks of `chunk_bytes`, if given.

    The byte order mark is removed. Raises `UnusualError` for truncated packed data, for a line that is too
    long, and for text beyond the limit of `unpack`.
    """
    if isinstance(source, bytes) and not is_packed(source):
        return _cut(source, start, len(source) if end is None else end, chunk_bytes or CHUNK_BYTES)
    return _stretch(source, start, end)


def _stretch(source: Path | bytes, start: int, end: int | None) -> Iterator[bytes]:
    pieces = _pieces(source, start, end)
    packing = packing_of_source(source) if start == 0 else None
    if packing is not None:
        pieces = unpacked(pieces, packing, CHUNK_BYTES)
    try:
        pieces = within(pieces, UNPACKED_LIMIT)
        first = beginning_of(pieces) if start == 0 else b""
        yield from whole_lines(chain((first.removeprefix(UTF8_MARK),), pieces))
    except (DamagedError, TooLargeError):
        raise UnusualError from None


def _pieces(source: Path | bytes, start: int, end: int | None) -> Iterator[bytes]:
    if isinstance(source, bytes):
        for begin in range(start, len(source) if end is None else end, CHUNK_BYTES):
            yield source[begin : begin + CHUNK_BYTES]
        return
    with source.open("rb", buffering=0) as file:
        file.seek(start)
        left = UNPACKED_LIMIT + 1 if end is None else end - start
        while left and (piece := file.read(min(CHUNK_BYTES, left))):
            left -= len(piece)
            yield piece


def _cut(text: bytes, start: int, end: int, chunk_bytes: int) -> Iterator[bytes]:
    """Do as `whole_lines`, with one copy of each chunk."""
    if end - start > UNPACKED_LIMIT:
        raise UnusualError
    begin = start + len(UTF8_MARK) if start == 0 and text.startswith(UTF8_MARK) else start
    for piece_end in [*range(start + chunk_bytes, end, chunk_bytes), end]:
        cut = text.rfind(b"\n", begin, piece_end) + 1 or begin
        if piece_end - cut > MAX_LINE_BYTES:
            raise UnusualError
        if cut > begin:
            yield text[begin:cut]
            begin = cut
    if begin < end:
        yield text[begin:end]


def beginning_of(pieces: Iterator[bytes]) -> bytes:
    """Return enough of the beginning to detect the kind of file, and whether anything follows the byte order mark."""
    first = b""
    while len(first) <= len(UTF8_MARK) and (piece := next(pieces, b"")):
        first += piece
    return first


def within(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """Yield the pieces; raises `TooLargeError` when they have more than `limit` bytes in all."""
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise TooLargeError
        yield piece


def whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Split the text into chunks that end with a line, except the last; raises `UnusualError` for a line too long."""
    rest = b""
    for piece in pieces:
        text = rest + piece
        cut = text.rfind(b"\n") + 1
        rest = text[cut:]
        if cut:
            yield text[:cut]
        if len(rest) > MAX_LINE_BYTES:
            raise UnusualError
    if rest:
        yield rest


def packing_of_source(source: Path | bytes) -> str | None:
    """The compression of the data; None when there is none."""
    if isinstance(source, bytes):
        return packing_of(source[:LONGEST_MAGIC])
    with source.open("rb", buffering=0) as file:
        return packing_of(file.read(LONGEST_MAGIC))


def is_packed(source: Path | bytes) -> bool:
    """Whether the data are compressed."""
    return packing_of_source(source) is not None


def stretches_of(path: Path, length: int) -> list[tuple[int, int]]:
    """Split a plain run file into ranges of about `length` bytes, each beginning with the first line of a topic."""
    size = path.stat().st_size
    with path.open("rb") as file:
        cuts = {_start_of_topic(file, start, size) for start in range(length, size - length // 2, length)}
    bounds = sorted({0, *cuts, size})
    return list(pairwise(bounds))


def _start_of_topic(file: BinaryIO, start: int, end: int) -> int:
    """Return the offset of the first line after `start` whose topic differs from the line before it, or `end`."""
    file.seek(start)
    file.readline(MAX_LINE_BYTES)  # the line begins before `start`
    topic: bytes | None = None
    while line := file.readline(MAX_LINE_BYTES):
        first = line.split(None, 1)[:1]
        if first and topic not in (None, first[0]):
            return file.tell() - len(line)
        topic = first[0] if first else topic
    return end
