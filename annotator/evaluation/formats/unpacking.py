"""Turns an uploaded file into its text: gzip undone, encoding checked, within a limit."""

import io
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

from annotator.errors import Problems
from annotator.evaluation.formats.file_signatures import note_no_text

UNPACKED_LIMIT = 1 << 30
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's name for "gzip header and checksum, largest window"
UTF8_MARK = b"\xef\xbb\xbf"
PIECE_BYTES = 1 << 16
DECODED_BYTES = 1 << 20
READ_BYTES = 1 << 20


class TooLargeError(Exception):
    """More would come out than the limit allows."""


def unpack(name: str, data: bytes, limit: int = UNPACKED_LIMIT) -> bytes:
    """Return the file's text in UTF-8 without byte order mark, gunzipped when it is gzip (also of several members).

    Raises `FileRefusedError` when it is not whole, not text, empty, or longer than `limit` bytes.
    """
    problems = Problems()
    text = unpack_into(problems, name, data, limit)
    problems.refuse_if_any()
    return text or b""


def read_text(problems: Problems, name: str, source: Path | bytes, limit: int = UNPACKED_LIMIT) -> bytes | None:
    """Read a file and do as `unpack_into`; no more of it is read than shows that it is too large."""
    try:
        content = source if isinstance(source, bytes) else _content(source, limit)
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
    except TooLargeError:
        _note_too_large(problems, name, limit)
    else:
        return unpack_into(problems, name, content, limit)
    return None


def read_stream(stream: BinaryIO, limit: int = UNPACKED_LIMIT) -> bytes:
    """Read a pipe or a device to its end, or one byte past the limit, which shows that it is too large."""
    content = io.BytesIO()
    while piece := stream.read(min(READ_BYTES, limit + 1 - content.tell())):
        content.write(piece)
    return content.getvalue()


def is_too_large(path: Path, limit: int = UNPACKED_LIMIT) -> bool:
    """Tell a plain file larger than the limit by its size; how large a packed one is, only unpacking shows."""
    with path.open("rb", buffering=0) as file:
        return _is_too_large(file, limit)


def unpack_into(problems: Problems, name: str, data: bytes, limit: int = UNPACKED_LIMIT) -> bytes | None:
    """Do as `unpack`, but note the problem and return None instead of raising."""
    text = _gunzip_into(problems, name, data, limit)
    if text is None:
        return None
    before = problems.total
    text = text.removeprefix(UTF8_MARK)
    _check_text(problems, name, text)
    return None if problems.total > before else text


def _content(path: Path, limit: int) -> bytes:
    with path.open("rb", buffering=0) as file:
        if _is_too_large(file, limit):
            raise TooLargeError
        return read_stream(file, limit)


def _is_too_large(file: io.FileIO, limit: int) -> bool:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_size <= limit:
        return False
    is_packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(0)
    return not is_packed


def _note_too_large(problems: Problems, name: str, limit: int) -> None:
    problems.add(name, None, "The unpacked file is larger than %(limit)d bytes. Split it.", limit=limit)


def _gunzip_into(problems: Problems, name: str, data: bytes, limit: int) -> bytes | None:
    try:
        return _gunzip(data, limit)
    except TooLargeError:
        _note_too_large(problems, name, limit)
    except EOFError:
        problems.add(name, None, "The gzip data end too early: the file was cut off. Send it again.")
    except zlib.error:
        problems.add(name, None, "The gzip data are damaged. Compress the file again and send it anew.")
    return None


def _gunzip(data: bytes, limit: int) -> bytes:
    if not data.startswith(GZIP_MAGIC):
        if len(data) > limit:
            raise TooLargeError
        return data
    unpacked = io.BytesIO()  # gives its buffer away without a copy; joining pieces would need the memory twice
    end = len(data.rstrip(b"\0")) if data.endswith(b"\0" * 9) else len(data)  # padding of tapes and block devices
    position = 0
    while position < end:
        position = _gunzip_member(data, position, unpacked, limit)
    return unpacked.getvalue()


def _gunzip_member(data: bytes, position: int, unpacked: io.BytesIO, limit: int) -> int:
    """Unpack one gzip member and return where it ended; at most one piece more than the limit is ever made."""
    member = zlib.decompressobj(GZIP_WINDOW)
    while not member.eof:
        packed = member.unconsumed_tail
        if not packed:
            # Small pieces: what follows the end of a member is copied, and block gzip has a member every few kilobytes.
            packed = data[position : position + PIECE_BYTES]
            position += len(packed)
        piece = member.decompress(packed, PIECE_BYTES)
        if not packed and not piece and not member.eof:
            raise EOFError
        if unpacked.tell() + len(piece) > limit:
            raise TooLargeError
        unpacked.write(piece)
    return position - len(member.unused_data)


def _check_text(problems: Problems, name: str, text: bytes) -> None:
    if not text:
        problems.add(name, None, "The file is empty.")
    elif note_no_text(problems, name, text):
        return
    elif b"\0" in text:
        line, byte = _place(text, text.index(b"\0"))
        problems.add(name, line, "Byte %(byte)d is NUL: this is no text file. Send text, plain or gzip.", byte=byte)
    elif not text.isascii():
        _check_encoding(problems, name, text)


def _check_encoding(problems: Problems, name: str, text: bytes) -> None:
    """Decode by pieces that end with a line, so that the decoded text never stands in memory whole."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + DECODED_BYTES) + 1 or len(text)
        try:
            text[start:end].decode()
        except UnicodeDecodeError as error:
            line, byte = _place(text, start + error.start)
            problems.add(name, line, "Byte %(byte)d is not UTF-8. Save the file as UTF-8.", byte=byte)
            return
        start = end


def _place(text: bytes, offset: int) -> tuple[int, int]:
    """Return line and byte within the line, both from 1."""
    return text.count(b"\n", 0, offset) + 1, offset - text.rfind(b"\n", 0, offset)
