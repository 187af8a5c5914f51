"""Folders of JSON Lines and data sets as sources: indexed by a worker, read by the index, indexed again."""

import gzip
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import ir_data_set
import pytest
from build import SLUG, news, pool, run, topic_file
from ir_datasets.formats.base import GenericDoc
from kept import Kept
from sourced import bodies, fetch, make_due, problems

from annotator.errors import AnnotatorError, NotFoundError
from annotator.evaluation.formats import offset_index
from annotator.evaluation.formats.source_answers import SourceError, SourceOptions
from annotator.storage import Database
from annotator.worker.folder_indexing import FolderIndexing
from annotator.workflows.documents import source_indexing, sources
from annotator.workflows.documents.source_indexing import SupersededError
from annotator.workflows.documents.source_places import Reach, reach_of
from annotator.workflows.runs import runs

Corpus = Callable[..., Path]


def add_pool(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": ["a", "b"], "2": ["a", "c"]})
        pool(session)


@pytest.fixture
def pooled(database: Database, kept: Kept) -> Database:
    """Three pooled documents without text."""
    kept.fill(database, add_pool)
    return database


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with a plain and a gzipped file of documents."""
    folder = tmp_path / "corpora" / "news"
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_text(line("a") + "\n" + "no JSON\n" + line("x"))
    (folder / "two.json.gz").write_bytes(gzip.compress((line("y") + line("b") + line("c")).encode()))
    return folder


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    """An administrator has named the folder above."""
    return Reach((), (str(tmp_path / "corpora"),), tmp_path / "indexes")


def line(docno: str, text: str = "") -> str:
    return json.dumps({"docid": docno, "title": f"Title of {docno}", "segment": text or f"Text of {docno}."}) + "\n"


def damaged() -> bytes:
    """A gzip file whose content is not what its checksum says."""
    packed = bytearray(gzip.compress(line("a").encode() * 99))
    packed[-6] ^= 255
    return bytes(packed)


def set_source(
    database: Database, location: Path | str, reach: Reach, *, docno: str = "", by_command: bool = False
) -> None:
    with database.transaction() as session:
        sources.set_source(
            session,
            SLUG,
            str(location),
            SourceOptions(docno=docno),
            reach=reach,
            by_id=None,
            by_command=by_command,
            at=datetime.now(UTC),
        )


def index(database: Database, reach: Reach) -> None:
    """Index what waits for it."""
    while FolderIndexing(database, reach).step():
        pass


def problem(database: Database) -> str:
    return str(database.read(sources.show_source, SLUG).problem)


def test_texts_come_from_plain_and_gzipped_files(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    fetch(pooled, reach)
    assert set(bodies(pooled).values()) == {None}
    view = pooled.read(sources.show_source, SLUG)
    assert view.index is not None
    assert (view.kind, view.index.indexed_at, view.index.percent) == ("folder", None, 0)
    index(pooled, reach)
    fetch(pooled, reach)
    assert bodies(pooled) == {docno: f"Text of {docno}." for docno in "abc"}
    view = pooled.read(sources.show_source, SLUG)
    assert view.index is not None
    assert (view.index.documents, view.index.skipped, view.index.first_skipped) == (5, 1, "one.jsonl:3")
    assert (view.index.percent, view.counts.fetched) == (100, 3)


def test_a_document_that_the_folder_lacks_is_named(pooled: Database, corpus: Path, reach: Reach) -> None:
    (corpus / "two.json.gz").unlink()
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    fetch(pooled, reach)
    assert problems(pooled) == dict.fromkeys("bc", "The source does not have this document.")
    assert bodies(pooled)["a"] == "Text of a."


def test_a_line_that_is_wrong_is_named(
    pooled: Database, corpus: Path, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "one.jsonl").write_text(line("x") + '{"docid": "a", "segment": \n')
    (corpus / "two.json.gz").write_bytes(gzip.compress((line("b", "x" * 600) + '{"docid": "c"}\n').encode()))
    monkeypatch.setattr("annotator.workflows.documents.source_folders.MOST_BYTES", 500)
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    fetch(pooled, reach)
    found = problems(pooled)
    assert found["a"] == "The source sent something that is not JSON."
    assert found["b"] == "The source sent more than 0 MiB."
    assert found["c"].startswith("What the source sent has no text at")


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_changed_is_indexed_again(pooled: Database, corpus: Path, reach: Reach, packed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    name, text = (
        ("two.json.gz", line("c") + line("b", "New.")) if packed else ("one.jsonl", line("x") + line("a", "New."))
    )
    (corpus / name).write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    fetch(pooled, reach)
    changed = "b" if packed else "a"
    assert problems(pooled)[changed].startswith(
        f"The file “{name}” has changed or is gone since the folder was indexed"
    )
    make_due(pooled)
    index(pooled, reach)
    make_due(pooled)
    fetch(pooled, reach)
    assert bodies(pooled)[changed] == "New."
    assert problems(pooled) == {}


def test_a_file_that_is_gone_is_indexed_no_more(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    (corpus / "one.jsonl").unlink()
    fetch(pooled, reach)
    assert problem(pooled).startswith("The file “one.jsonl” has changed or is gone")
    make_due(pooled)
    index(pooled, reach)
    make_due(pooled)
    fetch(pooled, reach)
    assert problems(pooled) == {"a": "The source does not have this document."}
    assert bodies(pooled)["b"] == "Text of b."


@pytest.mark.parametrize("part", ["", "hashes", "index.json", "1.points"])
def test_an_index_that_was_deleted_is_built_again(pooled: Database, corpus: Path, reach: Reach, part: str) -> None:
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    assert reach.indexes is not None
    [built] = reach.indexes.iterdir()
    (shutil.rmtree if not part else Path.unlink)(built / part)
    fetch(pooled, reach)
    assert "The index of the folder is gone or damaged; it is built again." in {
        *problems(pooled).values(),
        problem(pooled),
    }
    make_due(pooled)
    index(pooled, reach)
    make_due(pooled)
    fetch(pooled, reach)
    assert bodies(pooled) == {docno: f"Text of {docno}." for docno in "abc"}


def test_a_disk_that_fills_while_the_index_is_built(
    pooled: Database, corpus: Path, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: object) -> None:
        raise OSError(28, "No space left on device")

    set_source(pooled, corpus, reach)
    with monkeypatch.context() as patched:
        patched.setattr(offset_index._Buckets, "finish", fill)  # noqa: SLF001 - where the disk fills
        index(pooled, reach)
    assert problem(pooled) == "The folder cannot be indexed: No space left on device."
    assert reach.indexes is not None
    assert list(reach.indexes.iterdir()) == []
    make_due(pooled)
    index(pooled, reach)
    fetch(pooled, reach)
    assert bodies(pooled)["a"] == "Text of a."


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: (folder / "one.jsonl").write_text("{}\n"), "The folder has no documents: line one.jsonl:1"),
        (lambda folder: (folder / "one.jsonl").write_text(""), "The folder has no documents: line 1"),
        (lambda folder: (folder / "one.txt").write_text(line("a")), "The folder has no files of JSON Lines"),
        (lambda folder: folder.rmdir(), "There is no folder"),
        (lambda folder: (folder / "one.jsonl.gz").write_bytes(damaged()), "The folder cannot be indexed: "),
    ],
)
def test_a_folder_that_cannot_be_indexed(
    pooled: Database, corpus: Path, reach: Reach, make: Callable[[Path], object], sentence: str
) -> None:
    set_source(pooled, corpus, reach)
    for path in corpus.iterdir():
        path.unlink()
    make(corpus)
    index(pooled, reach)
    assert problem(pooled).startswith(sentence)
    checked = sources.check_source(pooled, SLUG, reach=reach)
    assert checked.problem is not None


def test_gzip_needs_a_package(pooled: Database, corpus: Path, reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(_: str) -> None:
        raise ModuleNotFoundError

    set_source(pooled, corpus, reach)
    monkeypatch.setattr(offset_index, "import_module", without)
    index(pooled, reach)
    assert problem(pooled).startswith("Gzip files need the package indexed_gzip")


def test_a_folder_that_nobody_has_named_is_refused(
    pooled: Database, corpus: Path, reach: Reach, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (corpus / "link").symlink_to(elsewhere)
    for folder in (elsewhere, corpus / "link", corpus / ".." / ".." / "elsewhere", tmp_path / "not there"):
        with pytest.raises(AnnotatorError, match="This server may not read"):
            set_source(pooled, folder, reach)
    with pytest.raises(NotFoundError, match="There is no folder"):
        set_source(pooled, corpus / "nothing", reach)
    with pytest.raises(AnnotatorError, match="A folder needs a place for its index"):
        set_source(pooled, corpus, Reach((), reach.places))
    # Whoever runs commands at the server may name any, and the worker reads it.
    shutil.copy(corpus / "one.jsonl", elsewhere)
    set_source(pooled, elsewhere, reach, by_command=True)
    index(pooled, reach)
    fetch(pooled, reach)
    assert bodies(pooled)["a"] == "Text of a."


def test_a_folder_that_is_allowed_no_longer_is_not_read(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    fetch(pooled, Reach((), (), reach.indexes))
    assert problem(pooled).startswith("This server may not read")


def test_runs_are_compared_with_the_index(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    with pooled.transaction() as session:
        run(session, "beta", {"1": ["a", "z"], "2": ["y"]})
    [warning] = pooled.read(runs.show_run, SLUG, "beta").warnings
    assert str(warning).startswith("Docnos that are not in the list of valid docnos: 1 (z)")
    assert reach.indexes is not None
    shutil.rmtree(reach.indexes)
    with pooled.transaction() as session:
        run(session, "gamma", {"1": ["a", "z"], "2": ["y"]})
    assert pooled.read(runs.show_run, SLUG, "gamma").warnings == ()


def test_indexes_that_no_source_uses_are_removed(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    assert reach.indexes is not None
    [first] = reach.indexes.iterdir()
    set_source(pooled, corpus, reach)
    index(pooled, reach)
    FolderIndexing(pooled, reach).step()
    [second] = reach.indexes.iterdir()
    assert first != second
    with pooled.transaction() as session:
        sources.remove_source(session, SLUG)
    FolderIndexing(pooled, reach).step()
    assert list(reach.indexes.iterdir()) == []


def test_a_source_that_is_set_again_while_it_is_indexed(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    now = datetime.now(UTC)
    [waiting] = pooled.read(source_indexing.sources_to_index, now=now)
    with pooled.transaction() as session:
        assert source_indexing.take_source(session, waiting, now=now)
    with pooled.transaction() as session:
        assert not source_indexing.take_source(session, waiting, now=now)
    set_source(pooled, corpus, reach)
    with pytest.raises(SupersededError), pooled.transaction() as session:
        source_indexing.note_progress(session, waiting, 1, 2, now=now)
    built = source_indexing.build(waiting, reach, lambda _done, _total: None)
    with pooled.transaction() as session:
        assert not source_indexing.record_index(session, waiting, built, now=now)
        source_indexing.record_failure(session, waiting, SourceError("It failed."), now=now)
    assert pooled.read(sources.show_source, SLUG).problem is None


def test_progress_is_shown_while_a_folder_is_indexed(pooled: Database, corpus: Path, reach: Reach) -> None:
    set_source(pooled, corpus, reach)
    now = datetime.now(UTC)
    [waiting] = pooled.read(source_indexing.sources_to_index, now=now)
    with pooled.transaction() as session:
        source_indexing.note_progress(session, waiting, 30, 120, now=now)
    view = pooled.read(sources.show_source, SLUG)
    assert view.index is not None
    assert view.index.percent == 25


def test_indexes_are_beside_the_database_or_in_a_folder_of_their_own(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/task.sqlite")
    beside = reach_of(database, hosts=(), places=(), index_folder="")
    assert beside.indexes == tmp_path / "task.sqlite.indexes"
    named = reach_of(database, hosts=(), places=(), index_folder=str(tmp_path / "there"))
    other = reach_of(Database("sqlite://"), hosts=(), places=(), index_folder=str(tmp_path / "there"))
    assert named.indexes is not None
    assert other.indexes is not None
    assert named.indexes.parent == other.indexes.parent == tmp_path / "there"
    assert named.indexes != other.indexes
    assert reach_of(Database("sqlite://"), hosts=(), places=(), index_folder="").indexes is None


class Docs(ir_data_set.Docs):
    """Documents that are looked up."""

    def docs_store(self) -> object:
        return Store({"a": "A text."})


class Store:
    """What ir_datasets calls a store."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def get_many(self, docnos: list[str]) -> dict[str, object]:
        if "broken" in self.texts:
            raise RuntimeError("The store is broken.\nIt is.")
        return {one: GenericDoc(one, self.texts[one]) for one in docnos if one in self.texts}


def test_texts_come_from_a_data_set(pooled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    name = ir_data_set.register(monkeypatch, Docs())
    reach = Reach((), (name,))
    set_source(pooled, name, reach)
    fetch(pooled, reach)
    assert bodies(pooled)["a"] == "A text."
    assert problems(pooled) == dict.fromkeys("bc", "The source does not have this document.")
    monkeypatch.setattr(Docs, "docs_store", lambda _: Store({"broken": ""}))
    checked = sources.check_source(pooled, SLUG, ["a"], reach=reach)
    assert str(checked.documents[0].problem) == "The source cannot be read: The store is broken."


def test_a_data_set_that_cannot_be_read(pooled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnnotatorError, match="This server may not read “ir_datasets:vaswani”"):
        set_source(pooled, "ir_datasets:vaswani", Reach())
    set_source(pooled, "ir_datasets:no-such", Reach(), by_command=True)
    fetch(pooled, Reach())
    assert problem(pooled) == "ir_datasets has no data set “no-such”."
    name = ir_data_set.register(monkeypatch, ir_data_set.Queries())
    set_source(pooled, name, Reach(), by_command=True)
    assert str(sources.check_source(pooled, SLUG, reach=Reach()).problem) == "The data set has no documents."

    def without(_: str) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr("annotator.workflows.site.input_sources.import_module", without)
    found = sources.check_source(pooled, SLUG, reach=Reach()).problem
    assert "needs the package ir_datasets, which is not installed here" in str(found)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(13, "Permission denied"), "The source cannot be read: Permission denied."),
        (NotFoundError("Gzip files need a package."), "Gzip files need a package."),
    ],
)
def test_a_folder_that_cannot_be_read_any_more(
    pooled: Database,
    corpus: Path,
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    sentence: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    set_source(pooled, corpus, reach)
    index(pooled, reach)
    monkeypatch.setattr(offset_index, "open_lines", fail)
    fetch(pooled, reach)
    assert problem(pooled) == sentence
    assert set(problems(pooled).values()) == {sentence}
    written = sources.failures_csv(pooled.read(sources.list_failures, SLUG))
    assert [row.split(",")[0].strip(chr(34)) for row in written.splitlines()] == ["document", "a", "b", "c"]
