"""Uploaded files, the unpacked size and content of gzip data, and files that only their owner may read."""

import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
# What `zipfile` raises for archives that are damaged, encrypted, or of a version or with names that it does not know.
UNREADABLE_ZIP = (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError)
GZIP_WINDOW = 31  # zlib's wbits value for a gzip header and checksum with the largest window
PIECE_BYTES = 1 << 16
OWNER_ONLY = 0o600


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file, possibly gzipped, and the name under which it was sent."""

    name: str
    content: bytes


def unpack_to_more(streams: Iterable[IO[bytes]], most: int) -> bool:
    """Whether the files have more than `most` bytes in total, unpacked if gzipped; unpacking stops there."""
    left = most
    for stream in streams:
        left -= unpacked_size(stream, left)
        if left < 0:
            return True
    return False


def unpacked_size(stream: IO[bytes], most: int) -> int:
    """Count the bytes of a file from its start, unpacked if gzipped, up to slightly more than `most`.

    Of a zip archive the sizes of its files are added; no more than these are read from it.
    The size field of gzip covers only the last member and can be forged, so the unpacked bytes are counted. Corrupt
    data end the count; the reader of the file reports the error.
    """
    size = 0
    stream.seek(0)
    try:
        magic = stream.read(len(ZIP_MAGIC))
        if magic == ZIP_MAGIC and zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as archive:
                return sum(part.file_size for part in archive.infolist())
        if not magic.startswith(GZIP_MAGIC):
            return stream.seek(0, io.SEEK_END)
        stream.seek(0)
        for piece in gunzipped(iter(partial(stream.read, PIECE_BYTES), b"")):
            size += len(piece)
            if size > most:
                break
    except (zlib.error, EOFError, *UNREADABLE_ZIP):
        pass
    finally:
        stream.seek(0)
    return size


def gunzipped(packed: Iterable[bytes], most: int = PIECE_BYTES) -> Iterator[bytes]:
    """Unpack one or more gzip members in pieces of at most `most` bytes, as data may be compressed a thousandfold.

    Zeros after a member are padding of tapes and block devices. Raises `zlib.error` for corrupt data and `EOFError`
    for truncated data.
    """
    member = zlib.decompressobj(GZIP_WINDOW)
    for piece in packed:
        rest = piece
        while rest:
            if member.eof and (rest := rest.lstrip(b"\0")):
                member = zlib.decompressobj(GZIP_WINDOW)
            text = member.decompress(rest, most) if rest else b""
            while text:
                yield text
                text = member.decompress(member.unconsumed_tail, most)
            rest = member.unused_data if rest else b""
    if not member.eof:
        raise EOFError


def create_for_owner(path: Path) -> BinaryIO:
    """Create a file that only its owner can read, and open it for writing.

    Raises `FileExistsError` when the file exists.
    """
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY), "wb")
