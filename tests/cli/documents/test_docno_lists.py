"""`annotator documents ids` and `--docnos`: the list of valid docnos by commands."""

import json
import lzma
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run
from cli.remote_site import Remote

UNKNOWN = (
    "Docnos that are not in the list of valid docnos: 1 (x); lines with them: 1; first lines: 2; topics with them: 1"
)


def test_a_list_is_imported_shown_exported_and_removed(news: CommandLine) -> None:
    Path("ids.xz").write_bytes(lzma.compress(b"docno\na\nb\na\n"))
    assert "no list of docnos" in news.refused("documents", "ids", "show", "news")[0]
    talk = news.talk("documents", "ids", "import", "news", "ids.xz", "--dry-run")
    assert "Nothing was stored. The import would give: Docnos: 2, repeated: 1." in talk
    assert "no list of docnos" in news.refused("documents", "ids", "show", "news")[0]
    talk = news.talk("documents", "ids", "import", "news", "ids.xz")
    assert talk.splitlines() == ["ids.xz: read as list of docnos.", "Docnos: 2, repeated: 1."]
    assert news.table("documents", "ids", "show", "news")[:2] == [["docnos", "2"], ["files", "ids.xz"]]
    assert news.done("documents", "ids", "export", "news") == "a\nb\n"
    assert news.talk("documents", "ids", "remove", "news") == "Removed the list of 2 docnos.\n"
    assert "no list of docnos" in news.refused("documents", "ids", "remove", "news")[0]


def test_a_wrong_list_is_refused_with_its_lines(news: CommandLine) -> None:
    Path("ids.txt").write_text("a\nb c\n")
    _, problem, _ = news.refused("documents", "ids", "import", "news", "ids.txt")
    assert problem == "ids.txt:2: The document id 'b c' has blanks or control characters inside; it must be one word."
    assert "There is no format" not in news.refused("documents", "ids", "show", "news")[0]


def test_runs_are_compared_with_the_list_or_with_a_file(news: CommandLine) -> None:
    write_run("t", ["1 a", "1 x"])
    Path("ids.txt").write_text("a\n")
    Path("all.jsonl").write_text('{"_id": "a"}\n{"_id": "x"}\n')
    Path("topics.tsv").write_text("1\tfirst\n2\tsecond\n")
    assert "Docnos" not in news.talk("runs", "check", "news", "t.run")
    assert UNKNOWN in news.talk("runs", "check", "news", "t.run", "--docnos", "ids.txt")
    news.done("documents", "ids", "import", "news", "ids.txt")
    assert UNKNOWN in news.talk("runs", "check", "news", "t.run")
    assert "Docnos" not in news.talk("runs", "check", "news", "t.run", "--docnos", "all.jsonl")
    assert UNKNOWN in news.talk("check", "topics.tsv", "t.run", "--docnos", "ids.txt")
    assert UNKNOWN in news.talk("runs", "import", "news", "t.run", "--dry-run")
    assert "given once" in "".join(news("runs", "check", "news", "-", "--docnos", "-").stderr)


def test_a_list_on_a_site_is_that_of_its_database(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ("documents", "ids")
    Path("list.xz").write_bytes(lzma.compress(b"docno\na\nb\na\n"))
    Path("texts.jsonl").write_text('{"_id": "c"}\n')
    assert "no list of docnos" in site.refused("ola", *ids, "show", "news")[0]
    dry = site("ola", *ids, "import", "news", "list.xz", "--dry-run").stderr
    assert dry == "Nothing was stored. The import would give: Docnos: 2, repeated: 1.\n"
    assert "no list of docnos" in site.refused("ola", *ids, "export", "news")[0]
    assert site("ola", *ids, "import", "news", "list.xz").stderr == "Docnos: 2, repeated: 1.\n"
    assert json.loads(site.alike("ola", *ids, "show", "news", "--format", "json"))["files"] == "list.xz"
    site.alike("ola", *ids, "show", "news")
    assert site.alike("ola", *ids, "export", "news") == "a\nb\n"
    named = ("import", "news", "texts.jsonl", "--input-format")
    assert site("ola", *ids, *named, "nothing").exit_code == 2
    assert site("ola", *ids, *named, "jsonl").stderr == "Docnos: 1, repeated: 0.\n"
    Path("bad.txt").write_text("a\nb c\n")
    assert site.refused("ola", *ids, "import", "news", "bad.txt")[0].startswith("bad.txt:2: The document id 'b c'")
    assert site.refused("pat", *ids, "import", "news", "list.xz")
    monkeypatch.setattr("annotator.cli.site.options.at_terminal", lambda: True)
    asked = site("ola", *ids, "remove", "news", given="n\n")
    assert (asked.exit_code, "This removes the list of 1 docnos." in asked.stderr) == (1, True)
    assert site("ola", *ids, "remove", "news", "--yes").stderr == "Removed the list of 1 docnos.\n"
    assert "no list of docnos" in site.refused("ola", *ids, "remove", "news")[0]
