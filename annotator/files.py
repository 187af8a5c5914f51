"""A file as somebody sent it, what gzip has packed and how large it is; and files that only their owner may read."""

import io
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's name for "gzip header and checksum, largest window"
PIECE_BYTES = 1 << 16
OWNER_ONLY = 0o600


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file, perhaps gzipped, under the name its sender knows it by."""

    name: str
    content: bytes


def unpack_to_more(streams: Iterable[IO[bytes]], most: int) -> bool:
    """Whether files have more bytes in all than `most`, unpacked when they are gzip; no more than that is unpacked."""
    left = most
    for stream in streams:
        left -= unpacked_size(stream, left)
        if left < 0:
            return True
    return False


def unpacked_size(stream: IO[bytes], most: int) -> int:
    """Count the bytes of a file from its beginning, unpacked when it is gzip, up to a little more than `most`.

    What gzip says of its own size is that of the last member alone, and anybody can write another number there: so the
    bytes are counted as they come out. Damaged data end the count; whoever reads the file says what is wrong with it.
    """
    size = 0
    stream.seek(0)
    try:
        if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
            return stream.seek(0, io.SEEK_END)
        stream.seek(0)
        for piece in gunzipped(iter(partial(stream.read, PIECE_BYTES), b"")):
            size += len(piece)
            if size > most:
                break
    except (zlib.error, EOFError):
        pass
    finally:
        stream.seek(0)
    return size


def gunzipped(packed: Iterable[bytes], most: int = PIECE_BYTES) -> Iterator[bytes]:
    """Unpack gzip of one member or several, in pieces of at most `most` bytes: it may be packed a thousandfold.

    Zeros behind a member are padding of tapes and block devices. Raises `zlib.error` for damaged data and `EOFError`
    for data that end too early.
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
    """Open a new file for writing that only its owner can read, from its first byte on.

    Raises `FileExistsError` when there is one of that name.
    """
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY), "wb")
