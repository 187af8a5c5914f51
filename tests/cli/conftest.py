"""The command line over a fresh database, empty or filled by commands, and on a site that is served for a test."""

from collections.abc import Iterator
from copy import copy
from pathlib import Path

import pytest
from build import member, pooled_news
from cli.command_line import CommandLine, write_run
from cli.remote_site import Remote, served
from kept import Kept
from sqlalchemy.engine import make_url

from annotator.cli.site import installation
from annotator.storage import Database, Role


@pytest.fixture(autouse=True)
def _one_engine_for_all_commands(shared_sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement is compiled once and not by each command anew, half of what a command takes."""
    shared = shared_sqlite.engine.url
    monkeypatch.setattr(
        installation,
        "Database",
        lambda url, **others: (
            copy(shared_sqlite) if make_url(url) == shared and not any(others.values()) else Database(url, **others)
        ),
    )


@pytest.fixture
def annotator(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a fresh SQLite database with its tables made."""
    sqlite_database.close()
    monkeypatch.chdir(tmp_path)
    return CommandLine(str(sqlite_database.engine.url))


@pytest.fixture
def news(annotator: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The same with a collection `news` of two topics."""
    kept.fill(sqlite_database, add_news)
    sqlite_database.close()
    return annotator


@pytest.fixture
def pooled(annotator: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The same with two runs, whose files are in the working folder, and their pool: 1 → a b c d, 2 → a e."""
    write_run("alpha", ["1 a", "1 b", "1 c", "2 a"])
    write_run("beta", ["1 d", "1 b", "1 a", "2 e"])
    kept.fill(sqlite_database, add_pooled_news)
    sqlite_database.close()
    return annotator


@pytest.fixture
def site(sqlite_database: Database, kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    """A site with a pooled collection: Jo judges, Ola organises, Pat sends runs."""
    kept.fill(sqlite_database, add_site)
    monkeypatch.chdir(tmp_path)
    with served(sqlite_database) as site:
        yield site


def add_site(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "jo", Role.JUDGE)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")


def add_news(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done(
        "collections", "add", "news", "--title", "News search", "--scale", "0=Not relevant,1=Relevant,2=Highly relevant"
    )
    command_line.done("topics", "import", "news", "-", given="1\tfirst topic\n2\tsecond topic\n")


def add_pooled_news(database: Database) -> None:
    add_news(database)
    command_line = CommandLine(str(database.engine.url))
    command_line.done("runs", "import", "news", "alpha.run", "beta.run")
    command_line.done("pool", "build", "news", "--depth", "10")
