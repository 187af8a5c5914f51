"""The index of a folder of JSON Lines: every document is found in it and read at its place, whatever the files are."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.formats import offset_index
from annotator.evaluation.formats.offset_index import BrokenIndexError, OffsetIndex, build_index

DOCNOS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True, min_size=1, max_size=12)


def indexed(folder: Path, docno_path: str = "") -> OffsetIndex:
    target = folder.parent / "index"
    build_index(folder, target, docno_path, lambda _done, _total: None)
    return OffsetIndex(target)


@given(DOCNOS)
def test_every_document_is_found_at_its_place(docnos: list[str]) -> None:
    lines = [json.dumps({"docid": docno, "text": f"Text {place}"}) for place, docno in enumerate(docnos)]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as scratch:
        patch.setattr(offset_index, "LINES_AT_ONCE", 3)
        folder = Path(scratch, "corpus")
        folder.mkdir()
        (folder / "plain.jsonl").write_text("\n".join(lines[::2]), encoding="utf-8")
        (folder / "packed.json.gz").write_bytes(gzip.compress("\n".join(["", *lines[1::2]]).encode()))
        index = indexed(folder)
        found = {docno: json.loads(line)["docid"] for docno, line in index.lines(folder, docnos, 1 << 20)}
        assert found == {docno: docno for docno in docnos}
        assert index.has(docnos).all()
        assert not index.has([f"{docnos[0]} and more"]).any()


@pytest.mark.parametrize("path", ["", "about.id", "id"])
def test_docnos_are_at_a_path_and_may_come_last(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    records = [{"text": "T", "id": f"d{number}", "about": {"id": f"d{number}"}} for number in range(3)]
    (folder / "a.ndjson").write_text("\n[1]\n" + "\n".join(map(json.dumps, records)))
    index = indexed(folder, path)
    assert [json.loads(line) for _, line in index.lines(folder, ["d2", "d0"], 999)] == [records[0], records[2]]


def test_progress_is_reported_within_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    text = "".join(f'{{"docid": "d{number}"}}\n' for number in range(50_000)).encode()
    (folder / "a.jsonl").write_bytes(text)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(text))
    told: list[tuple[int, int]] = []
    summary = build_index(folder, tmp_path / "index", "", lambda done, total: told.append((done, total)))
    assert summary.documents == 100_000
    assert len(told) >= 4
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_an_index_of_another_length_is_broken(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"docid": "d"}\n')
    indexed(folder)
    (tmp_path / "index" / "hashes").write_bytes(bytes(16))
    with pytest.raises(BrokenIndexError):
        OffsetIndex(tmp_path / "index")
