"""Folders in place of files: those of BEIR and of Hugging Face's datasets, and what is reported about formats."""

import bz2
import gzip
import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import pandas as pd
import pytest
import zstandard
from ir_data_set import Docs, Queries, register

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.input_formats import Holds
from annotator.files import InputFile
from annotator.workflows.site.input_sources import (
    formats_detected,
    formats_read,
    formats_summary,
    from_source,
    in_folder,
)

TREC_RUN = InputFile("a.run", b"1 Q0 d1 1 2.0 a\n")
CSV_RUNS = [InputFile(f"{number}.csv", b"qid,docno,rank,score\n1,d1,1,2.0\n") for number in range(7)]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_a_folder_of_beir_is_found_by_its_names(tmp_path: Path, packed: str) -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels/train.tsv", "notes.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}{packed}").touch()
    assert in_folder(tmp_path, Holds.TOPICS) == [tmp_path / f"queries.jsonl{packed}"]
    assert in_folder(tmp_path, Holds.DOCUMENTS) == in_folder(tmp_path, Holds.DOCNOS)
    assert [path.name for path in in_folder(tmp_path, Holds.LABELS)] == [f"test.tsv{packed}", f"train.tsv{packed}"]


def test_a_data_set_on_disk_is_found_by_its_files(tmp_path: Path) -> None:
    for name in ("data-00001-of-00002.arrow", "data-00000-of-00002.arrow", "cache.arrow"):
        (tmp_path / name).touch()
    assert [path.name for path in in_folder(tmp_path, Holds.RUNS)] == [
        "data-00000-of-00002.arrow",
        "data-00001-of-00002.arrow",
    ]


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="has no topics"):
        in_folder(tmp_path, Holds.TOPICS)
    assert in_folder(tmp_path, Holds.RUNS) == [tmp_path]


def test_formats_are_reported_but_for_trecs_own() -> None:
    assert list(formats_read(Holds.RUNS, [TREC_RUN])) == []
    assert len(list(formats_read(Holds.RUNS, [TREC_RUN, *CSV_RUNS]))) == len(CSV_RUNS)
    [summary] = formats_summary(Holds.RUNS, [TREC_RUN, *CSV_RUNS])
    assert str(summary).startswith("0.csv, 1.csv, 2.csv, 3.csv, 4.csv, …: read as ")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstandard.ZstdCompressor().compress])
def test_the_format_of_a_file_on_disk_is_known_by_its_beginning(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rows = b"".join(b"%d,%s,1,2.0\n" % (topic, token_hex(20).encode()) for topic in range(60_000))
    (tmp_path / "run").write_bytes(pack(b"qid,docno,rank,score\n" + rows))
    (tmp_path / "trec").write_bytes(pack(TREC_RUN.content))
    files: list[tuple[str, Path | bytes]] = [(name, tmp_path / name) for name in ("run", "trec")]
    files.append(("sent", CSV_RUNS[0].content))
    assert [str(one) for one in formats_detected(Holds.RUNS, files)] == ["run, sent: read as table of a run."]


def test_parquet_is_known_by_its_end_and_what_cannot_be_read_now_is_left_out(tmp_path: Path) -> None:
    pd.DataFrame({"qid": ["1"] * 9, "docno": ["d1"] * 9, "score": [2.5] * 9}).to_parquet(tmp_path / "frame")
    (tmp_path / "text").write_bytes(b"PAR1 Q0 d1 1 2.0 a\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    names = ("frame", "text", "pipe", "loop", "missing", "n" * 300)
    [one] = formats_detected(Holds.RUNS, [(name, tmp_path / name) for name in names])
    assert str(one) == "frame: read as Parquet."


@pytest.mark.parametrize(
    ("source", "holds", "error", "sentence"),
    [
        ("cranfield", Holds.TOPICS, InvalidValueError, "is no source: write ir_datasets:NAME."),
        ("ir_datasets:cranfield", Holds.RUNS, InvalidValueError, "has no runs"),
        ("ir_datasets:no-such-data-set", Holds.TOPICS, NotFoundError, "has no data set “no-such-data-set”"),
    ],
)
def test_a_source_that_cannot_be_read_is_refused(
    source: str, holds: Holds, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        from_source(source, holds, unpacked_limit=1 << 20)


def test_the_parts_of_a_data_set_are_read_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    source = register(monkeypatch, Queries(), Docs())
    topics = from_source(source, Holds.TOPICS, unpacked_limit=1 << 20)
    assert topics.content == b'{"query_id": "7", "text": "black dress"}\n'
    assert from_source(source, Holds.DOCNOS, unpacked_limit=1 << 20).content == b"d1\n"
    with pytest.raises(NotFoundError, match="has no qrels and labels"):
        from_source(source, Holds.LABELS, unpacked_limit=1 << 20)
    with pytest.raises(NotFoundError, match="has more than 3 bytes of documents"):
        from_source(source, Holds.DOCUMENTS, unpacked_limit=3)
