"""Reads a run file piece by piece, gzip undone on the way, so that no file is in memory whole."""

import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.formats.unpacking import GZIP_MAGIC, GZIP_WINDOW, UNPACKED_LIMIT, UTF8_MARK

CHUNK_BYTES = 1 << 19  # its arrays stay in the processor's cache, and NumPy's calls are few


def chunks_of(
    source: Path | bytes, start: int = 0, end: int | None = None, *, chunk_bytes: int | None = None
) -> Iterator[bytes]:
    """Yield the text, or the plain file's bytes from `start` to `end`, in pieces that end with a line.

    Text that is not packed comes in pieces of `chunk_bytes`, if they are given.

    The byte order mark is left out. Raises `UnusualError` for gzip data that are not whole or are padded, for a line
    that is too long, and for more than `unpack` takes.
    """
    if isinstance(source, bytes) and not is_packed(source):
        return _cut(source, start, len(source) if end is None else end, chunk_bytes or CHUNK_BYTES)
    pieces = _pieces(source, start, end)
    if start == 0 and is_packed(source):
        pieces = _gunzipped(pieces)
    return _whole_lines(pieces, is_beginning=start == 0)


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
    """Do as `_whole_lines`, with one copy of each piece."""
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


def _gunzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Undo gzip of one member or several."""
    member = zlib.decompressobj(GZIP_WINDOW)
    for piece in pieces:
        packed = piece
        while packed:
            if member.eof:
                member = zlib.decompressobj(GZIP_WINDOW)
            try:
                yield member.decompress(packed, CHUNK_BYTES)
            except zlib.error:
                raise UnusualError from None
            packed = member.unconsumed_tail or member.unused_data
    if not member.eof:
        raise UnusualError


def _whole_lines(pieces: Iterator[bytes], *, is_beginning: bool) -> Iterator[bytes]:
    total = 0
    rest = b""
    for piece in pieces:
        total += len(piece)
        if total > UNPACKED_LIMIT:
            raise UnusualError
        text = rest + piece
        if is_beginning:
            if UTF8_MARK.startswith(text):  # no more than the mark so far
                rest = text
                continue
            text = text.removeprefix(UTF8_MARK)
            is_beginning = False
        cut = text.rfind(b"\n") + 1
        rest = text[cut:]
        if len(rest) > MAX_LINE_BYTES:
            raise UnusualError
        if cut:
            yield text[:cut]
    if is_beginning:
        rest = rest.removeprefix(UTF8_MARK)
    if rest:
        yield rest


def is_packed(source: Path | bytes) -> bool:
    """Tell whether the data are gzip."""
    if isinstance(source, bytes):
        return source.startswith(GZIP_MAGIC)
    with source.open("rb", buffering=0) as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def stretches_of(path: Path, length: int) -> list[tuple[int, int]]:
    """Divide a plain run file into stretches of about `length` bytes, each from the first line of a topic."""
    size = path.stat().st_size
    with path.open("rb") as file:
        cuts = {_start_of_topic(file, start, size) for start in range(length, size - length // 2, length)}
    bounds = sorted({0, *cuts, size})
    return list(pairwise(bounds))


def _start_of_topic(file: BinaryIO, start: int, end: int) -> int:
    """Return where the first line after `start` begins whose topic is not that of the line before it, or `end`."""
    file.seek(start)
    file.readline(MAX_LINE_BYTES)  # its beginning is before `start`
    topic: bytes | None = None
    while line := file.readline(MAX_LINE_BYTES):
        first = line.split(None, 1)[:1]
        if first and topic not in (None, first[0]):
            return file.tell() - len(line)
        topic = first[0] if first else topic
    return end
