"""Decodes an uploaded file to text: checks its kind, decompresses it, checks encoding and size limit."""

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.columnar import RowsTooLargeError, as_json_lines, is_columnar
from annotator.files import PIECE_BYTES
from annotator.packing import LONGEST_MAGIC, CutOffError, DamagedError, packing_of, unpacked

# UTF-32 before UTF-16: its little-endian mark begins with that of UTF-16.
UNICODE_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Text without a byte order mark: every second byte, or three of four, are zero if the characters are ASCII.
UNMARKED = {
    re.compile(rb"(?:[\t\n\r\x20-\x7e]\0\0\0){2}"): "UTF-32",
    re.compile(rb"(?:\0\0\0[\t\n\r\x20-\x7e]){2}"): "UTF-32",
    re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){4}"): "UTF-16",
    re.compile(rb"(?:\0[\t\n\r\x20-\x7e]){4}"): "UTF-16",
}
TAR_MAGIC, TAR_OFFSET = b"ustar", 257
LONGEST_SIGNATURE = TAR_OFFSET + len(TAR_MAGIC)

GZIPPED = Sentence("compressed with gzip")
# Beside those that are unpacked here: twice compressed, or unknown.
COMPRESSED = {
    re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"): Sentence("compressed with bzip2"),
    re.compile(rb"\xfd7zXZ\0"): Sentence("compressed with xz"),
    re.compile(rb"\x5d\0\0[\x00-\xff]{2}\xff{8}"): Sentence("compressed with lzma"),
    re.compile(rb"(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"): Sentence("compressed with Zstandard"),
    re.compile(rb"\x04\x22\x4d\x18"): Sentence("compressed with LZ4"),
    re.compile(rb"\x1f\x9d"): Sentence("compressed with compress (.Z)"),
}
ZIP = re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)")
ZIP_ARCHIVE = Sentence("a zip archive")
# By the name of a part of the zip file; names are not compressed.
ZIP_KINDS = {
    b"xl/workbook": Sentence("an Excel workbook"),
    b"word/document": Sentence("a Word document"),
    b"ppt/presentation": Sentence("a PowerPoint presentation"),
    b"application/vnd.oasis.opendocument.spreadsheet": Sentence("an OpenDocument spreadsheet"),
    b"application/vnd.oasis.opendocument.text": Sentence("an OpenDocument text"),
}
TAR_ARCHIVE = Sentence("a tar archive")
ARCHIVES = {
    re.compile(rb"7z\xbc\xaf\x27\x1c"): Sentence("a 7-Zip archive"),
    re.compile(rb"Rar!\x1a\x07"): Sentence("a RAR archive"),
}
DOCUMENTS = {
    re.compile(rb"%PDF-"): Sentence("a PDF document"),
    re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"): Sentence("an old Word or Excel file"),
    re.compile(rb"\{\\rtf1"): Sentence("an RTF document"),
    re.compile(rb"PAR1\x15"): Sentence("a Parquet file"),
    re.compile(rb"ARROW1\0"): Sentence("an Arrow file"),
    re.compile(rb"SQLite format 3\0"): Sentence("an SQLite database"),
}

WEB_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)


def kind_of(data: bytes) -> Sentence | None:
    """Return the kind of file from its first bytes, such as “a PDF document”; None for text and for unknown kinds."""
    if packing_of(data) == "gzip":
        return GZIPPED
    if ZIP.match(data):
        return kind_of_zip(data)
    if data.startswith(TAR_MAGIC, TAR_OFFSET) and b"\0" in data[:TAR_OFFSET]:
        return TAR_ARCHIVE
    return next(
        (kind for kinds in (COMPRESSED, ARCHIVES, DOCUMENTS) for magic, kind in kinds.items() if magic.match(data)),
        None,
    )


def kind_of_zip(data: bytes) -> Sentence:
    """Return the kind of a zip file from the names of its parts, for which its beginning may suffice."""
    return next((kind for part, kind in ZIP_KINDS.items() if part in data), ZIP_ARCHIVE)


def unicode_of(data: bytes) -> str | None:
    """Return “UTF-16” or “UTF-32” for text in that encoding; None otherwise."""
    marked = next((name for mark, name in UNICODE_MARKS.items() if data.startswith(mark)), None)
    return marked or next((name for pattern, name in UNMARKED.items() if pattern.match(data)), None)


def note_no_text(problems: Problems, name: str, data: bytes) -> bool:
    """Note that the (unpacked) data are a known kind of file that is not UTF-8 text; False when they are not."""
    kind = kind_of(data)
    if kind is GZIPPED:
        problems.add(name, None, "The file is compressed with gzip twice. Compress it once.")
    elif kind in COMPRESSED.values():
        problems.add(name, None, "The file is %(kind)s. Unpack it, or compress it with gzip.", kind=kind)
    elif kind is ZIP_ARCHIVE or kind is TAR_ARCHIVE or kind in ARCHIVES.values():
        problems.add(name, None, "The file is %(kind)s. Send the files in it, plain or gzip.", kind=kind)
    elif kind is not None:
        problems.add(name, None, "The file is %(kind)s, not text. Save its content as text in UTF-8.", kind=kind)
    elif WEB_PAGE.match(data):
        problems.add(
            name,
            None,
            "The file is a web page (HTML), perhaps an error page or a sign-in page. Download it again.",
        )
    elif encoding := unicode_of(data):
        problems.add(name, None, "The file is text in %(encoding)s. Save it as UTF-8.", encoding=encoding)
    else:
        return False
    return True


UNPACKED_LIMIT = 1 << 30
UTF8_MARK = b"\xef\xbb\xbf"
DECODED_BYTES = 1 << 20
READ_BYTES = 1 << 20


class TooLargeError(Exception):
    """The unpacked data exceed the limit."""


def unpack(name: str, data: bytes, limit: int = UNPACKED_LIMIT) -> bytes:
    """Return the file's text in UTF-8 without byte order mark, decompressed when it is gzip, bzip2, xz or Zstandard.

    Parquet and Arrow files are returned as JSON lines.

    Raises `FileRefusedError` when it is truncated, not text, empty, or longer than `limit` bytes.
    """
    problems = Problems()
    text = unpack_into(problems, name, data, limit)
    problems.refuse_if_any()
    return text or b""


def read_text(problems: Problems, name: str, source: Path | bytes, limit: int = UNPACKED_LIMIT) -> bytes | None:
    """Read a file and do as `unpack_into`; a file that is too large is read only as far as needed to detect it."""
    content: bytes | None = None
    with noting_damage(problems, name, limit):
        content = source if isinstance(source, bytes) else _content(source, limit)
    return None if content is None else unpack_into(problems, name, content, limit)


def read_stream(stream: BinaryIO, limit: int = UNPACKED_LIMIT) -> bytes:
    """Read a pipe or a device to its end, or to one byte beyond the limit, which shows that it is too large."""
    content = io.BytesIO()
    while piece := stream.read(min(READ_BYTES, limit + 1 - content.tell())):
        content.write(piece)
    return content.getvalue()


def is_too_large(path: Path, limit: int = UNPACKED_LIMIT) -> bool:
    """Whether a plain file exceeds the limit by its size; the size of a packed one is known only after unpacking."""
    with path.open("rb", buffering=0) as file:
        return _is_too_large(file, limit)


def unpack_into(problems: Problems, name: str, data: bytes, limit: int = UNPACKED_LIMIT) -> bytes | None:
    """Do as `unpack`, but note the problem and return None instead of raising."""
    before, text = problems.total, b""
    with noting_damage(problems, name, limit):
        text = _unpack(data, limit)
        if is_columnar(text):
            text = as_json_lines(problems, name, text, limit) or b""
            return None if problems.total > before else text
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
    is_packed = packing_of(file.read(LONGEST_MAGIC)) is not None
    file.seek(0)
    return not is_packed


@contextmanager
def noting_damage(problems: Problems, name: str, limit: int = UNPACKED_LIMIT) -> Iterator[None]:
    """Note why a file cannot be read or unpacked, and continue after the block."""
    try:
        yield
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
    except (TooLargeError, RowsTooLargeError):
        problems.add(name, None, "The unpacked file is larger than %(limit)d bytes. Split it.", limit=limit)
    except CutOffError as error:
        problems.add(
            name,
            None,
            "The %(packing)s data end too early: the file was cut off. Send it again.",
            packing=error.packing,
        )
    except DamagedError as error:
        problems.add(
            name,
            None,
            "The %(packing)s data are damaged. Compress the file again and send it again.",
            packing=error.packing,
        )


def _unpack(data: bytes, limit: int) -> bytes:
    """Decompress data; at most one piece beyond the limit is produced."""
    packing = packing_of(data)
    if packing is None:
        if len(data) > limit:
            raise TooLargeError
        return data
    text = io.BytesIO()  # hands over its buffer without a copy; joining pieces would need twice the memory
    # Small pieces: the data after a member are copied, and block gzip has a member every few kilobytes.
    for piece in unpacked((data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES)), packing):
        if text.tell() + len(piece) > limit:
            raise TooLargeError
        text.write(piece)
    return text.getvalue()


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
    """Decode in pieces that end with a line, so that the decoded text is never in memory as a whole."""
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
    """Return line and byte offset within the line, both from 1."""
    return text.count(b"\n", 0, offset) + 1, offset - text.rfind(b"\n", 0, offset)
