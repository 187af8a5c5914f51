"""Uploaded files, the content of gzip data, and files that only their owner may read."""

import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
# What `zipfile` raises for archives that are damaged, encrypted, or of a version or with names that it does not know.
UNREADABLE_ZIP = (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError)
GZIP_WINDOW = 31  # zlib's wbits value for a gzip header and checksum with the largest window
PIECE_BYTES = 1 << 16
OWNER_ONLY = 0o600


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file, possibly compressed, and the name under which it was sent.

    `input_format` names its format (`formats.registry`), which is detected without it.
    """

    name: str
    content: bytes
    input_format: str | None = None


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
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_ONLY), "w+b")
