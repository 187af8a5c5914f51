"""Run files piece by piece: nothing is lost, whatever the pieces, and stretches begin with a topic."""

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.evaluation.formats import table_stream
from annotator.evaluation.formats.table_stream import chunks_of, is_packed, stretches_of
from annotator.evaluation.formats.table_tokens import UnusualError

TEXTS = st.text("ab1 \n\r#é", max_size=200).map(str.encode)
MARK = b"\xef\xbb\xbf"


@settings(max_examples=examples(200))
@given(text=TEXTS, chunk_bytes=st.integers(1, 50), has_mark=st.booleans(), is_packed=st.booleans())
@example(text=b"a\nb", chunk_bytes=1, has_mark=True, is_packed=True)
def test_chunks_are_whole_lines_and_together_the_text(
    *, text: bytes, chunk_bytes: int, has_mark: bool, is_packed: bool
) -> None:
    data = MARK + text if has_mark else text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_stream, "CHUNK_BYTES", chunk_bytes)
        chunks = list(chunks_of(gzip.compress(data, 1, mtime=0) if is_packed else data))
    assert b"".join(chunks) == text
    assert all(chunk.endswith(b"\n") for chunk in chunks[:-1])


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_gzip_of_several_members_is_one_text(texts: list[bytes]) -> None:
    data = b"".join(gzip.compress(text, 1, mtime=0) for text in texts)
    assert b"".join(chunks_of(data)) == b"".join(texts)


def test_a_file_gives_what_its_bytes_give(tmp_path: Path) -> None:
    text = b"".join(b"%d line\n" % number for number in range(200_000))
    (tmp_path / "a").write_bytes(text)
    assert list(chunks_of(tmp_path / "a")) == list(chunks_of(text))
    assert b"".join(chunks_of(tmp_path / "a", 7, 1007)) == text[7:1007]


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(b"text", mtime=0)[:-1],
        gzip.compress(b"text", mtime=0) + b"more",
        gzip.compress(b"text", mtime=0)[:-8] + b"\1" * 8,
        b"a line\n" + b"x" * 70_000,
        gzip.compress(b"a line\n" + b"x" * 70_000, mtime=0),
    ],
    ids=["cut off", "something after", "wrong checksum", "long line", "long line, packed"],
)
def test_what_is_not_as_it_should_be_is_left_to_the_careful_reading(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_stream, "CHUNK_BYTES", 1 << 16)
    with pytest.raises(UnusualError):
        list(chunks_of(data))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_more_than_unpack_takes_is_left_to_the_careful_reading(
    pack: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_stream, "UNPACKED_LIMIT", 1000)
    assert b"".join(chunks_of(pack(b"x" * 1000))) == b"x" * 1000
    with pytest.raises(UnusualError):
        list(chunks_of(pack(b"x" * 1001)))


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(gzip.compress(b"", mtime=0))
    (tmp_path / "plain").write_bytes(b"1")
    assert is_packed(tmp_path / "packed")
    assert not is_packed(tmp_path / "plain")


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from(["1 a", "1\tb", "2 a", " 2 x", "", "3", "# note"]), max_size=60), st.integers(1, 60))
def test_stretches_are_the_file_and_each_begins_a_topic(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], length: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "stretches"
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(text)
    bounds = stretches_of(path, length)
    assert [bound for stretch in bounds for bound in stretch][:: max(1, 2 * len(bounds) - 1)] == (
        [0, len(text)] if text else []
    )
    assert all(end == start for (_, end), (start, _) in pairwise(bounds))
    for start, _ in bounds[1:]:
        before, after = text[:start].split(b"\n")[:-1], text[start:].split()
        assert text[start - 1 : start] == b"\n"
        assert before[-1].split()[:1] != after[:1]


def test_a_file_of_one_topic_is_one_stretch(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1 a\n" * 1000)
    assert stretches_of(tmp_path / "a", 100) == [(0, 4000)]
