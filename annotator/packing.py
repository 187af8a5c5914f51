"""Decompresses gzip, bzip2, xz and Zstandard in pieces of bounded size, recognised by their first bytes."""

import bz2
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import IO, Protocol

from annotator.files import PIECE_BYTES, UNREADABLE_ZIP, ZIP_MAGIC, gunzipped

MAGICS = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "Zstandard": re.compile(rb"\x28\xb5\x2f\xfd"),
}
LONGEST_MAGIC = 10
MOST_MEMORY = 1 << 27  # of a decompressor: xz and Zstandard let a file ask for gigabytes
ZSTANDARD_BYTES = 1 << 11  # unpacked at once: at most 64 MiB come out


class DamagedError(Exception):
    """The packed data are corrupt; `packing` names their format."""

    def __init__(self, packing: str) -> None:
        super().__init__(packing)
        self.packing = packing


class CutOffError(DamagedError):
    """The packed data end too early."""


def packing_of(beginning: bytes) -> str | None:
    """Return the name of the compression by the first bytes of a file; None when there is none."""
    return next((name for name, magic in MAGICS.items() if magic.match(beginning)), None)


def unpacked(packed: Iterable[bytes], packing: str, most: int = PIECE_BYTES) -> Iterator[bytes]:
    """Unpack one or more members or frames in pieces of at most `most` bytes, as data may be compressed a thousandfold.

    Raises `CutOffError` for truncated data and `DamagedError` for corrupt data.
    """
    try:
        if packing == "gzip":
            yield from gunzipped(packed, most)
        else:
            # A block of Zstandard may be four bytes for 128 KiB.
            small = _cut(packed, ZSTANDARD_BYTES) if packing == "Zstandard" else packed
            for piece in _members(small, _DECOMPRESSORS[packing], most):
                yield from _cut((piece,), most)
    except EOFError:
        raise CutOffError(packing) from None
    except (zlib.error, lzma.LZMAError, OSError) as error:
        # A file that cannot be read raises OSError with a number; bz2 raises it without one.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DamagedError(packing) from None


class _Decompressor(Protocol):
    """What the decompressors of bz2 and lzma have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY),
}


def _cut(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) <= most:
            yield piece
            continue
        for start in range(0, len(piece), most):
            yield piece[start : start + most]


def _members(packed: Iterable[bytes], begin: Callable[[], _Decompressor], most: int) -> Iterator[bytes]:
    member = begin()
    for piece in packed:
        rest = piece
        while rest:
            if member.eof and (rest := rest.lstrip(b"\0")):  # zeros after a member are padding
                member = begin()
            if not rest:
                break
            if text := member.decompress(rest, most):
                yield text
            while not member.eof and not member.needs_input:
                if text := member.decompress(b"", most):
                    yield text
            rest = member.unused_data if member.eof else b""
    if not member.eof:
        raise EOFError


class _Zstandard:
    """Decompresses one frame; the output of a call is bounded only by the length of what goes in."""

    needs_input = True

    def __init__(self) -> None:
        zstandard = import_module("zstandard")  # a thirtieth of a second, which only files of this kind need
        self._error = zstandard.ZstdError
        self._frame = zstandard.ZstdDecompressor(max_window_size=MOST_MEMORY).decompressobj()

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:  # noqa: ARG002 - zstandard has no such bound
        try:
            return bytes(self._frame.decompress(data))
        except self._error:
            raise DamagedError("Zstandard") from None


_DECOMPRESSORS["Zstandard"] = _Zstandard


def unpack_to_more(streams: Iterable[IO[bytes]], most: int) -> bool:
    """Whether the files have more than `most` bytes in total, unpacked if compressed; unpacking stops there."""
    left = most
    for stream in streams:
        left -= unpacked_size(stream, left)
        if left < 0:
            return True
    return False


def unpacked_size(stream: IO[bytes], most: int) -> int:
    """Count the bytes of a file from its start, unpacked if compressed, up to slightly more than `most`.

    Of a zip archive the sizes of its files are added; no more than these are read from it.
    The size field of gzip covers only the last member and can be forged, so the unpacked bytes are counted. Corrupt
    data end the count; the reader of the file reports the error.
    """
    size = 0
    stream.seek(0)
    try:
        magic = stream.read(LONGEST_MAGIC)
        if magic.startswith(ZIP_MAGIC) and zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as archive:
                return sum(part.file_size for part in archive.infolist())
        packing = packing_of(magic)
        if packing is None:
            return stream.seek(0, io.SEEK_END)
        stream.seek(0)
        for piece in unpacked(iter(partial(stream.read, PIECE_BYTES), b""), packing):
            size += len(piece)
            if size > most:
                break
    except (DamagedError, *UNREADABLE_ZIP):
        pass
    finally:
        stream.seek(0)
    return size
