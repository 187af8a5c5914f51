"""`annotator collections files`: what participants may download, from a database and from a site."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cli.command_line import CommandLine
from cli.remote_site import Remote

from annotator.cli.remote.shared_files import SiteFiles


def are_right(folder: Path) -> list[str]:
    """The names of the files, whose SHA-256 are those of the file of checksums; the rules have none there."""
    lines = (line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines())
    sums = {name: checksum for checksum, name in lines}
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sums}
    assert {path.name for path in folder.iterdir()} == {*sums, "run-rules.json", "SHA256SUMS"}
    return sorted([*sums, "run-rules.json"])


def test_files_are_listed_and_loaded_from_a_database(news: CommandLine) -> None:
    Path("corpus.txt").write_text("Ask the archive.")
    Path("ids.txt").write_text("a\nb\n")
    news.done("documents", "ids", "import", "news", "ids.txt")
    news.done("collections", "set", "news", "--corpus", "corpus.txt", "--share-docnos")
    rows = news.table("collections", "files", "list", "news")
    assert [row[0] for row in rows] == ["topics.jsonl", "docnos.txt", "run-rules.json", "corpus.txt"]
    assert rows[1][:6] == ["docnos.txt", "docnos", "-", "-", "2", "4"]
    [row] = json.loads(news.done("collections", "files", "list", "news", "--format", "json"))[2:3]
    assert set(row) == {"name", "kind", "task", "version", "lines", "bytes", "sha256"}
    news.done("collections", "files", "export", "news", "-o", "files/of/news")
    assert are_right(Path("files/of/news")) == ["corpus.txt", "docnos.txt", "run-rules.json", "topics.jsonl"]
    assert Path("files/of/news/docnos.txt").read_bytes() == b"a\nb\n"
    assert "docnos.export" in news.done("audit", "list", "news")
    Path("in-the-way").write_text("")
    refused = news.refused("collections", "files", "export", "news", "-o", "in-the-way/news")
    assert "in-the-way" in refused[0]
    usage = news("collections", "files", "export", "news", "-o", "-")
    assert (usage.exit_code, "-o names a folder" in usage.stderr) == (2, True)


def test_files_are_shared_and_taken_back_in_a_closed_collection(news: CommandLine) -> None:
    news.done("collections", "close", "news")
    news.done("collections", "set", "news", "--share-qrels")
    assert ["qrels", "shared", "yes"] in news.table("collections", "show", "news")
    news.done("collections", "set", "news", "--withhold-qrels")
    [refused] = news.refused("collections", "set", "news", "--share-qrels", "--most-runs", "3")
    assert refused == "The collection “news” is closed: it takes no more changes."
    assert ["qrels", "shared", "no"] in news.table("collections", "show", "news")


def test_qrels_are_withheld_while_runs_are_accepted_and_the_commands_say_so(pooled: CommandLine) -> None:
    news = pooled
    news.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 1\n")
    news.done("collections", "set", "news", "--share-qrels", "--submissions-until", "2199-01-01 00:00")
    withheld = "Participants can download version 1 of the qrels when no more runs are accepted: after the submission"
    assert withheld in news.talk("collections", "release", "news", "--early")
    assert f"qrels-1.txt: {withheld}" in news.talk("collections", "files", "list", "news")
    assert f"qrels-1.txt: {withheld}" in news.talk("collections", "files", "export", "news", "-o", "files")
    assert are_right(Path("files")) == ["run-rules.json", "topics.jsonl"]
    news.done("collections", "close", "news")
    assert "qrels" not in news.talk("collections", "files", "list", "news")
    news.done("collections", "reopen", "news")
    news.done("topics", "drop", "news", "1", "--reason", "Dull.")
    news.done("collections", "close", "news")
    dropped = "qrels-1.txt: Topics that were dropped after this version was kept are not scored: 1.\n"
    assert dropped in news.talk("collections", "files", "list", "news")
    assert dropped in news.talk("collections", "files", "export", "news", "-o", "files")
    assert are_right(Path("files")) == ["qrels-1.txt", "run-rules.json", "topics.jsonl"]


def test_a_participant_loads_the_files_of_a_site(site: Remote) -> None:
    done = site("pat", "collections", "files", "export", "news", "-o", "files")
    written = "Written to files, with the right SHA-256: topics.jsonl, run-rules.json; and SHA256SUMS.\n"
    assert (done.exit_code, done.stderr) == (0, written)
    assert are_right(Path("files")) == ["run-rules.json", "topics.jsonl"]
    assert site("jo", "collections", "files", "list", "news").exit_code == 1


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"sha256": "0" * 64}, "“topics.jsonl” is not what the list says"),
        ({"name": "../topics.jsonl"}, "“../topics.jsonl” is no name of a file"),
        ({"name": "SHA256SUMS"}, "“SHA256SUMS” is no name of a file"),
        ({"name": ".bashrc"}, "“.bashrc” is no name of a file"),
    ],
)
def test_nothing_is_written_when_a_file_or_its_name_is_wrong(
    site: Remote, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], sentence: str
) -> None:
    rows = SiteFiles.rows

    def wrong(files: SiteFiles, slug: str) -> list[dict[str, Any]]:
        first, *others = rows(files, slug)
        return [*map(dict, others), {**first, **changed}]

    monkeypatch.setattr(SiteFiles, "rows", wrong)
    done = site("pat", "collections", "files", "export", "news", "-o", "files")
    assert (done.exit_code, sentence in done.stderr, Path("files").exists()) == (1, True, False)
