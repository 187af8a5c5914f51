"""`annotator collections export --format beir`: read back by ir_datasets' reader of BEIR, and by our own import."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from cli.command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st
from ir_datasets.datasets.beir import BeirDocs, BeirQrels, BeirQueries, BeirTitleUrlDoc, BeirToucheQuery
from ir_datasets.util import ZipExtract
from kept import Kept

from annotator.errors import Problems
from annotator.evaluation.formats.document_formats import ParsedDocument, parse_documents
from annotator.evaluation.formats.topic_formats import ParsedTopic, parse_topics
from annotator.evaluation.outputs.beir_folder import corpus_line, query_line
from annotator.storage import Database

TOPICS = [
    {"number": "1", "title": "black dress", "description": "What?", "narrative": "Any.", "language": "en"},
    {"number": "2", "title": '"red"', "description": "", "narrative": "", "language": "ko"},
]
DOCUMENTS = [
    {"docno": "d1", "title": "A\tdress", "body": "One\r\n\ntwo", "url": "http://example.org/1", "language": "en"},
    {"docno": "d2", "title": "", "body": "치마"},
]
GRADES = "1 0 d1 2\n1 0 d2 0\n2 0 lost 1\n"


class Local:
    """A file that ir_datasets takes for one that it has downloaded."""

    def path(self, force: bool = True) -> str:  # noqa: ARG002, FBT001, FBT002 - as ir_datasets calls it
        return "dresses.zip"


@pytest.fixture
def dresses(annotator: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Two topics, two documents, and three grades, one of a document without a text."""
    kept.fill(sqlite_database, add_dresses)
    sqlite_database.close()
    return annotator


def add_dresses(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("collections", "add", "dresses", "--title", "D", "--scale", "0=No,1=Yes,2=Very")
    for noun, records in (("topics", TOPICS), ("documents", DOCUMENTS)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        command_line.done(noun, "import", "dresses", "-", given=lines)
    command_line.done("judgements", "import", "dresses", "-", "--judge", "jo", "--add-to-pool", given=GRADES)


def test_ir_datasets_reads_what_is_written(dresses: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dresses.talk("collections", "export", "dresses", "--format", "beir", "-o", "dresses.zip").splitlines() == [
        "dresses.zip has 2 topics, 2 documents and 3 grades.",
        "Judged documents without a text, which the corpus lacks: 1.",
    ]
    monkeypatch.setenv("IR_DATASETS_HOME", str(Path().absolute()))
    documents = BeirDocs("d", ZipExtract(Local(), "dresses/corpus.jsonl"), BeirTitleUrlDoc)
    with pytest.raises(KeyError, match="url"):
        list(documents._docs_iter())  # noqa: SLF001 - the second document has no URL
    first = next(documents._docs_iter())  # noqa: SLF001 - without its index on disk
    assert first == ("d1", "One\r\n\ntwo", "A\tdress", "http://example.org/1")
    queries = BeirQueries("d", ZipExtract(Local(), "dresses/queries.jsonl"), BeirToucheQuery)
    assert next(queries.queries_iter()) == ("1", "black dress", "What?", "Any.")
    qrels = BeirQrels(ZipExtract(Local(), "dresses/qrels/test.tsv"), {})
    assert "".join(f"{one.query_id} 0 {one.doc_id} {one.relevance}\n" for one in qrels.qrels_iter()) == GRADES


def test_a_folder_is_imported_as_the_same_collection(dresses: CommandLine) -> None:
    dresses.done("collections", "export", "dresses", "--format", "beir", "-o", "out")
    assert sorted(str(path) for path in Path("out").rglob("*.*")) == [
        "out/corpus.jsonl",
        "out/qrels/test.tsv",
        "out/queries.jsonl",
    ]
    dresses.done("collections", "add", "again", "--title", "D", "--scale", "0=No,1=Yes,2=Very")
    for noun in ("topics", "documents"):
        dresses.done(noun, "import", "again", "out")
    dresses.done("judgements", "import", "again", "out", "--judge", "beir", "--add-to-pool")
    for what in ("topics", "qrels"):
        assert dresses.done(what, "export", "again") == dresses.done(what, "export", "dresses")
    dresses.done("collections", "export", "again", "--format", "beir", "-o", "out2")
    assert Path("out2/corpus.jsonl").read_bytes() == Path("out/corpus.jsonl").read_bytes()


def test_the_same_collection_gives_the_same_bytes_through_a_pipe(dresses: CommandLine) -> None:
    dresses.done("collections", "export", "dresses", "--format", "beir", "-o", "dresses.zip")
    sent = dresses("collections", "export", "dresses", "--format", "beir", "-o", "-").stdout_bytes
    assert sent == Path("dresses.zip").read_bytes()
    with ZipFile("dresses.zip") as opened:
        assert opened.namelist() == [f"dresses/{name}" for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")]


def test_what_cannot_be_written_is_refused_and_nothing_is_replaced(pooled: CommandLine) -> None:
    to_beir = ("collections", "export", "news", "--format", "beir", "-o")
    assert pooled.refused(*to_beir, "out")[0].startswith("No document of the collection has a text")
    pooled.done("documents", "import", "news", "-", given='{"docno": "a", "body": "A."}\n')
    assert pooled.refused(*to_beir, "out") == ["Nothing is judged yet, so there are no qrels."]
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 1\n")
    Path("out").mkdir()
    assert pooled.refused(*to_beir, "out") == ["“out” exists and is not replaced."]
    assert pooled(*to_beir, "out2", "--pseudonyms").exit_code == 2
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith((".", "out"))) == ["out"]


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
line = words.map(lambda text: " ".join(text.split()))


@given(title=words, body=words, url=words, language=words)
def test_every_document_comes_back(title: str, body: str, url: str, language: str) -> None:
    document = ParsedDocument("d1", title, body, url or None, language or None, 1)
    assert list(parse_documents("f", corpus_line(document), Problems()) or ()) == [document]


@given(title=line.filter(bool), description=words, narrative=words, language=words)
def test_every_topic_comes_back(title: str, description: str, narrative: str, language: str) -> None:
    topic = ParsedTopic("1", title, description.strip(), narrative.strip(), language or None, 1)
    assert parse_topics("f", query_line(topic), Problems()) == [topic]
