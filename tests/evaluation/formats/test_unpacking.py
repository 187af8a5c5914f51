"""What comes out of an uploaded file, and what is refused before anyone reads it."""

import gzip
import io
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import FileRefusedError, Problems
from annotator.evaluation.formats.unpacking import (
    READ_BYTES,
    is_too_large,
    read_stream,
    read_text,
    unpack,
    unpack_into,
)
from annotator.files import PIECE_BYTES

TEXT = "1 Q0 d1 1 2.5 bm25\n1 Q0 dé 2 1.5 bm25\n".encode()
LONG_LINES = b"x" * (1 << 20) + b"\nabc\xe9\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (TEXT, TEXT),
        (gzip.compress(TEXT, mtime=0), TEXT),
        (gzip.compress(TEXT, mtime=0) + gzip.compress(b"2 Q0 d 1 1 bm25\n", mtime=0), TEXT + b"2 Q0 d 1 1 bm25\n"),
        (gzip.compress(TEXT, mtime=0) + b"\0" * 512, TEXT),
        (b"\xef\xbb\xbf" + TEXT, TEXT),
        (gzip.compress(b"\xef\xbb\xbf" + TEXT, mtime=0), TEXT),
    ],
    ids=["plain", "gzip", "two members", "padded gzip", "byte order mark", "byte order mark in gzip"],
)
def test_the_text_comes_out(data: bytes, text: bytes) -> None:
    assert unpack("a.run", data) == text


@pytest.mark.parametrize(
    ("data", "report"),
    [
        (b"", "a.run: The file is empty."),
        (b"\xef\xbb\xbf", "a.run: The file is empty."),
        (gzip.compress(b"", mtime=0), "a.run: The file is empty."),
        (gzip.compress(TEXT, mtime=0)[:-1], "a.run: The gzip data end too early: the file was cut off. Send it again."),
        (gzip.compress(TEXT, mtime=0)[:12], "a.run: The gzip data end too early: the file was cut off. Send it again."),
        (
            gzip.compress(TEXT, mtime=0)[:-8] + b"\1" * 8,  # the checksum
            "a.run: The gzip data are damaged. Compress the file again and send it again.",
        ),
        (
            gzip.compress(TEXT, mtime=0) + b"more",
            "a.run: The gzip data are damaged. Compress the file again and send it again.",
        ),
        (b"1 Q0\nd\0 1", "a.run:2: Byte 2 is NUL: this is no text file. Send text, plain or gzip."),
        (TEXT.decode().encode("utf-16"), "a.run: The file is text in UTF-16. Save it as UTF-8."),
        (b"abc\xe9 1\n", "a.run:1: Byte 4 is not UTF-8. Save the file as UTF-8."),
        (b"ok\n\xc3\xa9\xc3\n", "a.run:2: Byte 3 is not UTF-8. Save the file as UTF-8."),
        (LONG_LINES * 2, "a.run:2: Byte 4 is not UTF-8. Save the file as UTF-8."),
        (b"\n" * (1 << 21) + b"\xff", "a.run:2097153: Byte 1 is not UTF-8. Save the file as UTF-8."),
    ],
)
def test_what_is_no_whole_text_is_refused_in_one_sentence(data: bytes, report: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        unpack("a.run", data)
    assert [str(problem) for problem in refused.value.problems] == [report]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_limit_is_the_last_size_that_is_taken(pack: type[bytes]) -> None:
    assert len(unpack("a.run", pack(b"x" * 1000), limit=1000)) == 1000
    problems = Problems()
    assert unpack_into(problems, "a.run", pack(b"x" * 1001), limit=1000) is None
    assert str(problems.first[0]) == "a.run: The unpacked file is larger than 1000 bytes. Split it."


def test_of_a_stream_no_more_is_read_than_shows_that_it_is_too_large() -> None:
    stream = io.BytesIO(b"x" * 2000)
    assert read_stream(stream, 999) == b"x" * 1000
    assert stream.tell() == 1000
    for size in (0, 999, 1000):
        assert read_stream(io.BytesIO(b"x" * size), 1000) == b"x" * size


def test_a_stream_of_many_pieces_is_read_whole() -> None:
    text = b"".join(b"%d\n" % number for number in range(READ_BYTES // 4))
    assert len(text) > READ_BYTES
    assert read_stream(io.BytesIO(text)) == text


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="/dev/zero is Unix's")
def test_a_device_is_read_up_to_the_limit() -> None:
    problems = Problems()
    assert read_text(problems, "zero", Path("/dev/zero"), limit=1 << 20) is None
    assert [str(problem) for problem in problems.first] == [
        "zero: The unpacked file is larger than 1048576 bytes. Split it."
    ]


def test_a_plain_file_is_too_large_by_its_size_and_a_packed_one_when_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(TEXT)
    (tmp_path / "packed").write_bytes(gzip.compress(TEXT, 0, mtime=0))
    assert (tmp_path / "packed").stat().st_size > len(TEXT)
    assert is_too_large(tmp_path / "plain", len(TEXT) - 1)
    assert not is_too_large(tmp_path / "plain", len(TEXT))
    assert not is_too_large(tmp_path / "packed", len(TEXT))


def test_a_gzip_bomb_is_given_up_at_the_limit() -> None:
    zeros = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(zeros.compress(bytes(1 << 20)) for _ in range(64)), zeros.flush()])
    tracemalloc.start()
    try:
        assert unpack_into(Problems(), "bomb.gz", bomb, limit=1 << 20) is None
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most_bytes < (1 << 20) * 3  # a buffer that grows by copying, and one piece; the bomb holds 64 MiB


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=5), st.integers(0, 9))
def test_members_come_out_in_order_whatever_they_hold(parts: list[bytes], level: int) -> None:
    text = b"".join(part.hex().encode() for part in parts) + b"\n"
    members = [part.hex().encode() for part in parts] + [b"\n"]
    assert unpack("a.gz", b"".join(gzip.compress(member, level, mtime=0) for member in members)) == text


def test_members_longer_than_a_piece_come_out_whole() -> None:
    member = b"".join(b"%d\n" % number for number in range(PIECE_BYTES))
    assert unpack("a.gz", gzip.compress(member, 0, mtime=0) + gzip.compress(member, mtime=0)) == member * 2
