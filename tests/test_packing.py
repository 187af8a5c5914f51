"""Compressed files: what comes out, how much of it at a time, and how damage is reported."""

import bz2
import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import Problems
from annotator.evaluation.formats.table_stream import chunks_of
from annotator.evaluation.formats.unpacking import is_too_large, read_text, unpack, unpack_into
from annotator.packing import CutOffError, DamagedError, packing_of, unpacked, unpacked_size

RUN = b"1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "Zstandard": zstandard.ZstdCompressor().compress,
}
PACKINGS = st.sampled_from(sorted(PACKERS))


@given(parts=st.lists(st.binary(max_size=3000), min_size=1, max_size=3), packing=PACKINGS, cut=st.integers(1, 500))
def test_several_members_give_their_content_one_after_the_other(parts: list[bytes], packing: str, cut: int) -> None:
    packed = b"".join(map(PACKERS[packing], parts))
    assert packing_of(packed[:10]) == packing
    pieces = list(unpacked((packed[start : start + cut] for start in range(0, len(packed), cut)), packing, 700))
    assert b"".join(pieces) == b"".join(parts)
    assert max(map(len, pieces), default=0) <= 700
    assert unpacked_size(BytesIO(packed), 1 << 20) == sum(map(len, parts))


@given(text=st.binary(min_size=1, max_size=3000), packing=PACKINGS, share=st.floats(0, 1, exclude_max=True))
def test_truncated_data_end_in_an_error(text: bytes, packing: str, share: float) -> None:
    packed = PACKERS[packing](text)
    kept = packed[: int(share * len(packed))]
    with pytest.raises(CutOffError):
        list(unpacked([kept], packing))


@pytest.mark.parametrize("packing", PACKERS)
def test_damaged_data_end_in_an_error(packing: str) -> None:
    with pytest.raises(DamagedError):
        list(unpacked([PACKERS[packing](RUN * 50) + b"junk that is no member"], packing))


@pytest.mark.parametrize("packing", PACKERS)
def test_a_file_is_read_and_its_damage_reported(packing: str, tmp_path: Path) -> None:
    text = RUN * 100
    packed = PACKERS[packing](text)
    assert unpack("a.run", packed) == text
    path = tmp_path / "run"
    path.write_bytes(packed)
    assert b"".join(chunks_of(path)) == text
    assert not is_too_large(path, limit=1)
    problems = Problems()
    assert read_text(problems, "a.run", path, limit=len(text) - 1) is None
    assert unpack_into(problems, "b.run", packed[:-3]) is None
    assert [str(problem) for problem in problems.by_file()] == [
        f"a.run: The unpacked file is larger than {len(text) - 1} bytes. Split it.",
        f"b.run: The {packing} data end too early: the file was cut off. Send it again.",
    ]


@pytest.mark.parametrize("packing", PACKERS)
def test_a_bomb_is_given_up_at_the_limit(packing: str) -> None:
    bomb = PACKERS[packing](bytes(1 << 28))
    tracemalloc.start()
    try:
        assert unpack_into(Problems(), "bomb", bomb, limit=1 << 20) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 27
    finally:
        tracemalloc.stop()


def test_what_would_need_gigabytes_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    frame = stream.compress(RUN) + stream.flush()
    problems = Problems()
    assert unpack_into(problems, "a.run", frame) is None
    assert "The Zstandard data are damaged" in str(problems.by_file()[0])
