"""How large a file is when it is unpacked: counted, never believed."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.packing import unpack_to_more, unpacked_size

MEBIBYTE = 1 << 20


def test_the_size_that_the_last_member_of_gzip_states_is_not_believed() -> None:
    bomb = gzip.compress(b"\n" * 3 * MEBIBYTE) + gzip.compress(b"x")
    assert int.from_bytes(bomb[-4:], "little") == 1
    assert unpack_to_more([io.BytesIO(bomb)], MEBIBYTE)


def test_no_more_is_unpacked_than_shows_that_a_file_is_large() -> None:
    bomb = io.BytesIO(gzip.compress(b"\n" * 64 * MEBIBYTE))
    assert MEBIBYTE < unpacked_size(bomb, MEBIBYTE) <= 2 * MEBIBYTE
    assert bomb.tell() == 0


@given(some.lists(some.binary(max_size=200), max_size=4))
def test_the_members_of_a_file_are_counted_together(members: list[bytes]) -> None:
    packed = b"".join(map(gzip.compress, members))
    assert unpacked_size(io.BytesIO(packed), MEBIBYTE) == sum(map(len, members))


@pytest.mark.parametrize("content", [b"", b"plain\n", b"\x1f"])
def test_a_plain_file_has_its_own_size(content: bytes) -> None:
    assert unpacked_size(io.BytesIO(content), MEBIBYTE) == len(content)


@pytest.mark.parametrize("damaged", [b"\x1f\x8b", gzip.compress(b"x" * 100, mtime=0)[:-12], b"\x1f\x8bnot gzip at all"])
def test_damaged_gzip_ends_the_count(damaged: bytes) -> None:
    assert unpacked_size(io.BytesIO(damaged), MEBIBYTE) <= 100
