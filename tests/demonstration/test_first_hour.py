"""The first hour of the README and of the tutorial, command by command, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from annotator.cli import main

ROOT = Path(__file__).parents[2]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SERVES = ["annotator", "demo"]


def lines_of(text: str) -> list[list[str]]:
    """The words of every line of the shell in a text, without comments."""
    return [
        words
        for block in SHELL.findall(text)
        for line in block.splitlines()
        if (words := shlex.split(line, comments=True))
    ]


def test_the_first_hour_works_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = readme.index("## The first hour in twelve commands")
    twelve = lines_of(readme[begin : readme.index("\n## ", begin)])
    tutorial = lines_of((ROOT / "docs/tutorial/by-command.md").read_text(encoding="utf-8"))
    assert len([words for words in twelve if words[0] == "annotator"]) == 12
    assert tutorial[: len(twelve)] == twelve
    printed = {}
    for program, *words in tutorial:
        if program == "export":
            monkeypatch.setenv(*words[0].split("="))
        elif [program, *words] != SERVES:
            result = CliRunner().invoke(main, words, catch_exceptions=False)
            assert result.exit_code == 0, (words, result.stderr)
            printed[words[0]] = result.stdout
    scores = {row.split()[0]: row.split() for row in printed["leaderboard"].splitlines() if row}
    from_files = {row.split()[0]: row.split() for row in printed["evaluate"].splitlines() if row}
    for run in ("bm25-porter", "tfidf-cosine"):
        assert scores[run][2] == from_files[run][1]
