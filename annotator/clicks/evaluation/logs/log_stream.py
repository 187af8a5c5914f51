"""Reads a log piece by piece, gzip undone on the way, and tells how far it is."""

import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.unpacking import GZIP_MAGIC, GZIP_WINDOW, UTF8_MARK, note_no_text

CHUNK_BYTES = 1 << 20

# By the name that people know it by: where its bytes are.
Source = Path | bytes | BinaryIO
LogFile = tuple[str, Source]
Advance = Callable[[int], None]


class DamagedError(Exception):
    """The rest of the file cannot be read; why has been noted."""


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
    try:
        pieces = _pieces(source, advance)
        first = _beginning(pieces)
        if first.startswith(GZIP_MAGIC):
            pieces = _gunzipped(name, first, pieces, problems)
            first = _beginning(pieces)
        if unpacked_limit is not None:
            pieces = _limited(name, len(first), pieces, problems, unpacked_limit)
        if _is_text(name, first, problems):
            yield from _whole_lines(name, first.removeprefix(UTF8_MARK), pieces, problems)
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
    except DamagedError:
        return


def _pieces(source: Source, advance: Advance) -> Iterator[bytes]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield from _pieces(file, advance)
        return
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    while piece := stream.read(CHUNK_BYTES):
        advance(len(piece))
        yield piece


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """Take as much as shows what the file is, and whether there is anything behind its mark."""
    first = b""
    while len(first) <= len(UTF8_MARK) and (piece := next(pieces, b"")):
        first += piece
    return first


def _gunzipped(name: str, first: bytes, pieces: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    """Undo gzip of one member or several, whose first piece has been read."""
    member = zlib.decompressobj(GZIP_WINDOW)
    packed = first
    while packed:
        if member.eof:
            if not packed.strip(b"\0"):  # padding of tapes and block devices
                packed = next(pieces, b"")
                continue
            member = zlib.decompressobj(GZIP_WINDOW)
        try:
            yield from _unpacked(member, packed)
        except zlib.error:
            problems.add(name, None, "The gzip data are damaged. Compress the file again and send it again.")
            raise DamagedError from None
        packed = member.unused_data or next(pieces, b"")
    if not member.eof:
        problems.add(name, None, "The gzip data end too early: the file was cut off. Send it again.")
        raise DamagedError


def _unpacked(member: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    """Yield all that a member makes of these data, in small pieces: they may be packed a thousandfold."""
    is_all = False
    while not is_all:
        piece = member.decompress(packed, CHUNK_BYTES)
        packed = member.unconsumed_tail
        is_all = not packed and len(piece) < CHUNK_BYTES
        if piece:
            yield piece


def _limited(name: str, total: int, pieces: Iterator[bytes], problems: Problems, limit: int) -> Iterator[bytes]:
    for piece in pieces:
        total += len(piece)
        if total > limit:
            problems.add(name, None, "The unpacked file is larger than %(limit)d bytes. Split it.", limit=limit)
            raise DamagedError
        yield piece


def _is_text(name: str, first: bytes, problems: Problems) -> bool:
    if not first.removeprefix(UTF8_MARK):
        problems.add(name, None, "The file is empty.")
        return False
    return not note_no_text(problems, name, first)


def _whole_lines(name: str, first: bytes, pieces: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    lines = 0
    rest = first
    for piece in pieces:
        text = rest + piece
        cut = text.rfind(b"\n") + 1
        rest = text[cut:]
        if cut:
            lines += text.count(b"\n", 0, cut)
            yield text[:cut]
        if len(rest) > MAX_LINE_BYTES:
            problems.add(name, lines + 1, "The line is longer than %(limit)d bytes.", limit=MAX_LINE_BYTES)
            raise DamagedError
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"
