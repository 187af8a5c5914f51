"""`annotator collections publish`: kits as folders and files, read by ir_datasets, mlcroissant and our own commands."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import mlcroissant
import pytest
from cli.command_line import CommandLine
from tasks import task

from annotator.cli.site import files
from annotator.storage import Database

GRADES = "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n"
VEIL = ("--veil", "--allow", "alpha")  # Krippendorff's alpha is in every datasheet
READ_BY_IR_DATASETS = """
import ir_datasets, ir_datasets_loader, ir_datasets_loader as again
again.register()
dataset = ir_datasets.load("news")
print([topic.default_text() for topic in dataset.queries_iter()], dataset.qrels_defs())
print([(one.query_id, one.doc_id, one.relevance) for one in dataset.qrels_iter()])
print([one.doc_id for one in dataset.docs_iter()], dataset.docs_count(), dataset.docs_store().get("a").default_text())
print(list(dataset.docs_store().get_many(["a", "x"])), [one.title for one in dataset.docs_store().get_many_iter(["a"])])
run = ir_datasets.load("news/runs/alpha")
print([(one.query_id, one.doc_id, one.score) for one in run.scoreddocs_iter()])
"""


@pytest.fixture
def judged(pooled: CommandLine) -> CommandLine:
    """Two runs, grades of four documents, two texts, and a kept version of the qrels."""
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given=GRADES)
    texts = '{"docno": "a", "title": "A", "body": "one"}\n{"docno": "b", "title": "B", "body": "two"}\n'
    pooled.done("documents", "import", "news", "-", given=texts)
    pooled.done("qrels", "keep", "news")
    return pooled


def test_a_kit_is_a_folder_that_is_what_the_database_gives(judged: CommandLine) -> None:
    said = judged.talk("collections", "publish", "news", "-o", "kit")
    count = len([path for path in Path("kit").rglob("*") if path.is_file()])
    assert said == f"kit has 2 topics, 4 grades of version 1 and 2 runs, in {count} files.\n"
    assert Path("kit/qrels.txt").read_text(encoding="utf-8") == GRADES
    assert judged.talk("collections", "publish", "news", "--check", "-o", "kit") == (
        f"kit is what the database gives: {count} files.\n"
    )
    judged.done("collections", "publish", "news", "-o", "kit.zip")
    assert judged.talk("collections", "publish", "news", "--check", "-o", "kit.zip") == (
        f"kit.zip is what the database gives: {count} files.\n"
    )
    judged.done("runs", "withdraw", "news", "beta")
    refused = judged.refused("collections", "publish", "news", "--check", "-o", "kit")
    assert "runs/beta.run.gz: The kit has no such file: it was added." in refused
    assert refused[-1].startswith("Differences of the kit from the database: ")


def test_ir_datasets_reads_a_kit_through_its_loader(judged: CommandLine, tmp_path: Path) -> None:
    judged.done("collections", "publish", "news", "--texts", "-o", "kit")
    environment = {**os.environ, "IR_DATASETS_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    read = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", READ_BY_IR_DATASETS],
        cwd="kit",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    scale = {0: "Not relevant", 1: "Relevant", 2: "Highly relevant"}
    assert read.stdout.splitlines() == [
        f"['first topic', 'second topic'] {scale}",
        "[('1', 'a', 2), ('1', 'b', 0), ('1', 'd', 1), ('2', 'e', 1)]",
        "['a', 'b'] 2 A one",
        "['a'] ['A']",
        "[('1', 'a', 99.0), ('1', 'b', 98.0), ('1', 'c', 97.0), ('2', 'a', 96.0)]",
    ]


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")  # of rdflib
def test_mlcroissant_validates_the_metadata_and_reads_the_tables(judged: CommandLine) -> None:
    judged.done(
        "collections", "publish", "news", "--licence", "CC0-1.0", "--address", "https://example.org/n", "-o", "kit"
    )
    dataset = mlcroissant.Dataset(jsonld="kit/metadata.json")
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    topics = [one["topics/title"] for one in dataset.records("topics")]
    assert topics == [b"first topic", b"second topic"]
    assert [one["runs/run"] for one in dataset.records("runs")] == [b"alpha", b"beta"]
    assert {one["scores_by_topic/topic"] for one in dataset.records("scores_by_topic")} == {b"1", b"2", b"all"}


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")  # of rdflib
def test_a_kit_of_tasks_is_checked_and_validated(judged: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        task(session, "first", ["1"], runs=["alpha"])
        task(session, "both", runs=["beta"])
    sqlite_database.close()
    judged.done(
        "collections", "publish", "news", "--licence", "CC0-1.0", "--address", "https://example.org/n", "-o", "kit"
    )
    assert "is what the database gives" in judged.talk("collections", "publish", "news", "--check", "-o", "kit")
    dataset = mlcroissant.Dataset(jsonld="kit/metadata.json")
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    assert [one["runs/task"] for one in dataset.records("runs")] == [b"first", b"both"]
    of_first = [one["scores_by_topic_first/topic"] for one in dataset.records("scores_by_topic_first")]
    assert of_first == [b"1", b"all"]
    judged.done("collections", "publish", "news", *VEIL, "-o", "veiled")
    assert "alpha" not in Path("veiled/scores/first.csv").read_text(encoding="utf-8")


def test_the_published_runs_have_the_published_scores(judged: CommandLine) -> None:
    judged.done("collections", "publish", "news", *VEIL, "-m", "AP", "-m", "nDCG@10", "-o", "kit")
    runs = sorted(str(path) for path in Path("kit/runs").iterdir())
    again = judged.done("evaluate", "kit/qrels.txt", *runs, "-m", "AP", "-m", "nDCG@10", "--format", "csv")
    published = scores(Path("kit/scores.csv").read_text(encoding="utf-8"))
    assert len(published) == len(runs)
    assert published == {Path(run).name.removesuffix(".run.gz"): pair for run, pair in scores(again).items()}


def scores(table: str) -> dict[str, tuple[str, str]]:
    return {row["run"]: (row["AP"], row["nDCG@10"]) for row in csv.DictReader(io.StringIO(table))}


def test_a_veiled_kit_keeps_the_mapping_elsewhere(judged: CommandLine) -> None:
    judged.done("runs", "set", "news", "beta", "--team", "Blue", "--description", "Blue's beta")
    judged.done("collections", "publish", "news", *VEIL, "--mapping", "names.csv", "-o", "kit")
    mapping = Path("names.csv")
    assert mapping.stat().st_mode & 0o077 == 0
    names = {tuple(row[:2]) for row in csv.reader(io.StringIO(mapping.read_text(encoding="utf-8")))} - {
        ("kind", "name")
    }
    assert names == {("team", "Blue"), ("run", "alpha"), ("run", "beta")}
    for path in Path("kit").rglob("*.*"):
        assert path.is_dir() or b"Blue" not in path.read_bytes()
    assert judged("collections", "publish", "news", *VEIL, "--mapping", "kit2/n.csv", "-o", "kit2").exit_code == 2
    assert judged("collections", "publish", "news", "--mapping", "n.csv", "-o", "kit2").exit_code == 2
    assert not Path("kit2").exists()


def test_names_that_are_left_are_listed_and_nothing_is_written(judged: CommandLine) -> None:
    judged.done("guidelines", "set", "news", "-", given="Like beta.")
    file, conclusion = judged.refused("collections", "publish", "news", *VEIL, "-o", "kit")
    assert file == "guidelines.md: The file would have the name “beta” of a team or run."
    assert conclusion.startswith("Nothing was published: files would have names that are to be replaced by pseudonyms.")
    assert not [path for path in Path().iterdir() if path.name.startswith(("kit", ".kit"))]


def test_a_folder_that_is_not_empty_is_refused_and_an_empty_one_is_filled(judged: CommandLine) -> None:
    Path("kit").mkdir()
    (Path("kit") / "mine").write_text("mine", encoding="utf-8")
    Path("file").write_text("mine", encoding="utf-8")
    publish = ("collections", "publish", "news", "-o")
    assert judged.refused(*publish, "kit") == [
        "The folder “kit” is not empty, and nothing was written. Name a new or an empty folder."
    ]
    assert judged.refused(*publish, "file") == [
        "“file” is no folder, and nothing was written. Name a new or an empty folder."
    ]
    assert [path.name for path in Path("kit").iterdir()] == ["mine"]
    (Path("kit") / "mine").unlink()
    judged.done(*publish, "kit")
    assert (Path("kit") / "metadata.json").exists()


def test_an_interrupted_kit_leaves_nothing(judged: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(ZipFile):
        def extractall(self, path: object = None, *_more: object) -> None:
            super().extract(self.namelist()[0], str(path))
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "ZipFile", Interrupted)
    assert judged("collections", "publish", "news", "-o", "kit").exit_code == 130
    assert not [path for path in Path().iterdir() if path.name.startswith(("kit", ".kit"))]


def test_a_kit_as_a_file_and_through_a_pipe_has_the_folder(judged: CommandLine) -> None:
    judged.done("collections", "publish", "news", "-o", "news.zip")
    piped = judged("collections", "publish", "news", "-o", "-").stdout_bytes
    Path("piped.zip").write_bytes(piped)
    for name in ("news.zip", "piped.zip"):
        with ZipFile(name) as archive:
            assert {"news/qrels.txt", "news/metadata.json", "news/runs/alpha.run.gz"} <= set(archive.namelist())


def test_without_a_kept_version_nothing_is_published(pooled: CommandLine) -> None:
    (refused,) = pooled.refused("collections", "publish", "news", "-o", "kit")
    assert refused.startswith(
        "No version of the qrels is kept, and published scores refer to one: keep a version first"
    )
    assert pooled.refused("collections", "publish", "news", "--check", "-o", "nowhere") == [
        "“nowhere” is no kit of a collection: its file kit.json cannot be read."
    ]
