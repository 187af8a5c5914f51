"""A log file read piece by piece: nothing is lost, whatever the pieces, and it is told how far the reading is."""

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.clicks.evaluation.logs import log_sources
from annotator.clicks.evaluation.logs.log_sources import chunks_of_log, size_of
from annotator.errors import Problems

MARK = b"\xef\xbb\xbf"
TEXTS = st.text("ab1 \n\ré", min_size=1, max_size=200).map(str.encode)


@settings(max_examples=examples(200))
@given(text=TEXTS, chunk_bytes=st.integers(3, 50), has_mark=st.booleans(), is_packed=st.booleans())
@example(text=b"a" * 300 + b"\nb", chunk_bytes=3, has_mark=True, is_packed=True)
def test_chunks_are_whole_lines_and_together_the_text(
    *, text: bytes, chunk_bytes: int, has_mark: bool, is_packed: bool
) -> None:
    data = MARK + text if has_mark else text
    packed = gzip.compress(data, mtime=0) if is_packed else data
    told: list[int] = []
    problems = Problems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_sources, "CHUNK_BYTES", chunk_bytes)
        chunks = list(chunks_of_log(("log", packed), problems, told.append))
    assert not problems.total
    assert b"".join(chunks) == (text if text.endswith(b"\n") else text + b"\n")
    assert all(chunk.endswith(b"\n") for chunk in chunks)
    assert sum(told) == len(packed)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_gzip_of_several_members_is_one_text(texts: list[bytes]) -> None:
    data = b"".join(gzip.compress(text, 1, mtime=0) for text in [*texts, b"end\n"])
    assert b"".join(chunks_of_log(("log", data), Problems(), lambda _: None)) == b"".join(texts) + b"end\n"


def test_what_was_packed_a_thousandfold_comes_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sources, "CHUNK_BYTES", 1000)
    text = b"the same line again\n" * 50_000
    chunks = list(chunks_of_log(("log", gzip.compress(text, mtime=0)), Problems(), lambda _: None))
    assert b"".join(chunks) == text
    assert max(map(len, chunks)) <= 2000


def test_a_line_without_end_is_told_with_its_number_and_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sources, "CHUNK_BYTES", 1000)
    problems = Problems()
    chunks = list(chunks_of_log(("log", b"one\ntwo\n" + b"x" * 100_000), problems, lambda _: None))
    assert chunks == [b"one\ntwo\n"]
    assert list(map(str, problems.by_file())) == ["log:3: The line is longer than 65536 bytes."]


def test_how_much_there_is_to_read_is_known_of_plain_files(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"12345")
    assert size_of(("log", tmp_path / "log")) == size_of(("log", b"12345")) == 5
    assert size_of(("log", tmp_path / "not there")) == size_of(("folder", tmp_path)) == 0
