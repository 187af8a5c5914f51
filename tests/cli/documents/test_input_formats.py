"""Files of any format by commands: named, detected, from folders and from ir_datasets."""

import json
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from cli.command_line import CommandLine
from ir_data_set import Docs, Qrels, Queries, register

RUN = "qid,docno,score\n1,d1,2.5\nsecond topic,d2,1.5\n"


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> str:
    """A data set that ir_datasets knows."""
    return register(monkeypatch, Queries(), Docs(), Qrels())


def test_a_run_is_read_as_what_it_is_or_is_said_to_be(news: CommandLine) -> None:
    Path("pt.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(RUN.encode()))
    talk = news.talk("runs", "import", "news", "pt.csv.zst")
    assert talk.splitlines()[0] == "pt.csv.zst: read as table of a run."
    assert news.table("runs", "list", "news")[0][:4] == ["pt", "-", "2", "2"]
    assert news("runs", "export", "news", "pt").stdout_bytes == Path("pt.csv.zst").read_bytes()
    Path("ms.run").write_text("1 d1 1\n1 d2 2\n")
    assert "read as MS MARCO run" in news.talk("runs", "check", "news", "ms.run", "--input-format", "msmarco")
    assert "The line has 3 columns" in news.refused("runs", "check", "news", "ms.run", "--input-format", "trec")[0]


def test_nothing_is_stored_of_a_wrong_table(news: CommandLine) -> None:
    Path("pt.csv").write_text(RUN + "1,d1,high\n")
    _, *problems, _ = news.refused("runs", "import", "news", "pt.csv")
    assert [problem[:9] for problem in problems] == ["pt.csv:4:", "pt.csv:4:"]
    assert news.table("runs", "list", "news") == []


def test_labels_name_topics_by_their_queries(pooled: CommandLine) -> None:
    Path("quepid.csv").write_text("query,docid,rating\nfirst topic,a,1\nSecond topic,e,0\n")
    talk = pooled.talk("judgements", "import", "news", "quepid.csv", "--judge", "quepid")
    assert talk.startswith("quepid.csv: read as table of labels.\nJudgements of quepid: 2 added")


def test_a_folder_of_beir_is_read(annotator: CommandLine) -> None:
    Path("nq/qrels").mkdir(parents=True)
    Path("nq/queries.jsonl").write_text('{"_id": "1", "text": "black dress", "metadata": {}}\n')
    Path("nq/corpus.jsonl").write_text('{"_id": "d1", "title": "Dress", "text": "Black.", "metadata": {}}\n')
    Path("nq/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    annotator.done("collections", "add", "nq", "--title", "C", "--scale", "0=No,1=Yes")
    assert "Topics: 1 added" in annotator.talk("topics", "import", "nq", "nq")
    assert "Documents: 1 added" in annotator.talk("documents", "import", "nq", "nq")
    assert "Docnos: 1, repeated: 0." in annotator.talk("documents", "ids", "import", "nq", "nq")
    talk = annotator.talk("judgements", "import", "nq", "nq", "--judge", "beir", "--add-to-pool")
    assert talk.startswith("nq/qrels/test.tsv: read as BEIR qrels.\nJudgements of beir: 1 added")
    Path("empty").mkdir()
    assert "The folder “empty” has no topics" in annotator.refused("topics", "import", "nq", "empty")[0]


def test_a_folder_that_hugging_face_saved_is_read(annotator: CommandLine) -> None:
    Path("saved").mkdir()
    table = pa.Table.from_pylist([{"_id": "d1", "title": "Dress", "text": "Black."}, {"_id": "d2", "text": "Red."}])
    with pa.OSFile("saved/data-00000-of-00001.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    Path("saved/state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    annotator.done("collections", "add", "hf", "--title", "C", "--scale", "0=No,1=Yes")
    talk = annotator.talk("documents", "import", "hf", "saved")
    assert talk.startswith("saved/data-00000-of-00001.arrow: read as Parquet.\nDocuments: 2 added")


def test_a_parquet_file_of_pandas_is_read(news: CommandLine) -> None:
    pd.DataFrame({"qid": ["1", "2"], "docno": ["d1", "d2"], "score": [2.5, 1.5]}).to_parquet("frame.parquet")
    assert news.talk("runs", "import", "news", "frame.parquet").startswith("frame.parquet: read as Parquet.")
    assert news.table("runs", "list", "news")[0][:4] == ["frame", "-", "2", "2"]


def test_a_data_set_of_ir_datasets_is_read(annotator: CommandLine, dataset: str) -> None:
    annotator.done("collections", "add", "d", "--title", "C", "--scale", "0=No,1=Yes")
    assert "Topics: 1 added" in annotator.talk("topics", "import", "d", "--from", dataset)
    assert "Documents: 1 added" in annotator.talk("documents", "import", "d", "--from", dataset)
    assert "Docnos: 1, repeated: 0." in annotator.talk("documents", "ids", "import", "d", "--from", dataset)
    assert annotator.done("documents", "ids", "export", "d") == "d1\n"
    talk = annotator.talk("judgements", "import", "d", "--from", dataset, "--judge", "nist", "--add-to-pool")
    assert "Judgements of nist: 1 added" in talk


def test_what_ir_datasets_cannot_give_is_said(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    annotator.done("collections", "add", "d", "--title", "C", "--scale", "0=No,1=Yes")
    load = ("topics", "import", "d", "--from")
    assert annotator.refused(*load, "ir_datasets:nothing") == ["ir_datasets has no data set “nothing”."]
    assert annotator.refused(*load, "hf:nothing") == ["“hf:nothing” is no source: write ir_datasets:NAME."]
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert "which is not installed here" in annotator.refused(*load, "ir_datasets:vaswani")[0]
    assert annotator("topics", "import", "d").exit_code == 2


def test_the_header_of_ir_metadata_is_read_kept_and_written_back(news: CommandLine) -> None:
    header = "# ir_metadata.start\n# method:\n#   description: BM25, stemmed\n#   automatic: false\n# ir_metadata.end\n"
    Path("a.run").write_text(f"{header}1 Q0 d1 1 2.5 bm25\n")
    news.done("runs", "import", "news", "a.run")
    shown = news.done("runs", "show", "news", "bm25")
    assert "BM25, stemmed" in shown
    assert "manual" in shown
    assert news.done("runs", "export", "news", "bm25") == Path("a.run").read_text()
    news.done(
        "runs",
        "import",
        "news",
        "a.run",
        "--replace",
        "--tag-from-file",
        "--description",
        "Said",
        "--type",
        "automatic",
    )
    assert "Said" in news.done("runs", "show", "news", "a.run")
