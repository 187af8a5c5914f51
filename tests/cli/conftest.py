"""The command line over a fresh database, empty or filled by commands."""

from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

from annotator.storage import Database


@pytest.fixture
def annotator(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a fresh SQLite database with its tables made."""
    sqlite_database.close()
    monkeypatch.chdir(tmp_path)
    return CommandLine(str(sqlite_database.engine.url))


@pytest.fixture
def news(annotator: CommandLine) -> CommandLine:
    """The same with a collection `news` of two topics."""
    annotator.done(
        "collections", "add", "news", "--title", "News search", "--scale", "0=Not relevant,1=Relevant,2=Highly relevant"
    )
    annotator.done("topics", "import", "news", "-", given="1\tfirst topic\n2\tsecond topic\n")
    return annotator


@pytest.fixture
def pooled(news: CommandLine) -> CommandLine:
    """The same with two runs and their pool: 1 → a b c d, 2 → a e."""
    write_run("alpha", ["1 a", "1 b", "1 c", "2 a"])
    write_run("beta", ["1 d", "1 b", "1 a", "2 e"])
    news.done("runs", "import", "news", "alpha.run", "beta.run")
    news.done("pool", "build", "news", "--depth", "10")
    return news
