"""Which commands make a database, and that nobody but its owner reads it, its backups and archives."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import CommandLine, every_command
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.engine import make_url

from annotator.cli.site.installation import MAKERS, UPGRADE
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.site.database import file_behind

ARCHIVE = "news.zip"
READERS = (
    ("users", "list"),
    ("collections", "list"),
    ("leaderboard", "show", "news"),
    ("qrels", "export", "news"),
    ("topics", "import", "news", "topics.tsv"),
    ("worker", "--once"),
    ("database", "check"),
    ("database", "backup", "copy.sqlite"),
)


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.fixture(scope="module")
def archive(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An archive of a collection."""
    folder = tmp_path_factory.mktemp("archive")
    shutil.copy(sqlite_template, folder / "other.sqlite")
    other = CommandLine(sqlite_url(folder / "other.sqlite"))
    other.done("collections", "add", "news", "--title", "News", "--scale", "0=No,1=Yes")
    other.done("collections", "export", "news", "-o", str(folder / ARCHIVE))
    return (folder / ARCHIVE).read_bytes()


@pytest.fixture
def typo(tmp_path: Path, archive: bytes, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a database that is not there, in a folder with a file of topics and an archive."""
    monkeypatch.chdir(tmp_path)
    Path(ARCHIVE).write_bytes(archive)
    Path("topics.tsv").write_text("1\tfirst\n")
    return CommandLine(sqlite_url(tmp_path / "typo.sqlite"))


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("words", READERS)
def test_a_mistyped_database_is_refused_by_its_name_and_not_made(typo: CommandLine, words: tuple[str, ...]) -> None:
    (refusal,) = typo.refused(*words)
    assert f"There is no database of annotator at “{Path('typo.sqlite').resolve()}”" in refusal
    assert "database upgrade, users add, collections add" in refusal
    assert {path.name for path in Path().iterdir()} == {ARCHIVE, "topics.tsv"}


def test_a_site_is_not_copied_from_a_database_that_is_not_there(typo: CommandLine, tmp_path: Path) -> None:
    (refusal,) = typo.refused("database", "copy", typo.url, sqlite_url(tmp_path / "new.sqlite"))
    assert "There is no database of annotator" in refusal
    assert {path.name for path in Path().iterdir()} == {ARCHIVE, "topics.tsv"}


def test_an_empty_file_is_no_database_and_stays_empty(typo: CommandLine) -> None:
    Path("typo.sqlite").touch()
    assert "There is no database of annotator" in typo.refused("users", "list")[0]
    assert inspect(create_engine(typo.url)).get_table_names() == []


@pytest.mark.parametrize(
    "words",
    [
        ("users", "add", "ola"),
        ("collections", "add", "other", "--title", "Other", "--scale", "0=No,1=Yes"),
        ("collections", "import", ARCHIVE),
        ("database", "upgrade"),
    ],
)
@pytest.mark.usefixtures("open_to_all")
def test_a_site_is_begun_in_a_file_that_only_its_owner_reads(typo: CommandLine, words: tuple[str, ...]) -> None:
    typo.done(*words, given="correct horse battery\n")
    typo.done("users", "list")
    assert mode_of("typo.sqlite") == 0o600
    database = Database(typo.url)
    with database.transaction() as session:
        session.execute(text("DELETE FROM audit_event WHERE id < 0"))
        assert {mode_of(f"typo.sqlite{end}") for end in ("", "-wal", "-shm")} == {0o600}
    database.close()


def test_the_commands_that_make_a_database_are_commands() -> None:
    assert {UPGRADE, *MAKERS} <= every_command().keys()


@pytest.mark.usefixtures("open_to_all")
def test_a_backup_and_what_is_restored_from_it_are_their_owners(typo: CommandLine, tmp_path: Path) -> None:
    typo.done("users", "add", "ola", given="correct horse battery\n")
    typo.done("database", "backup", "copy.sqlite")
    new = CommandLine(sqlite_url(tmp_path / "new.sqlite"))
    new.done("database", "restore", "copy.sqlite")
    new.done("database", "copy", typo.url, sqlite_url(tmp_path / "copied.sqlite"))
    assert {mode_of(name) for name in ("copy.sqlite", "new.sqlite", "copied.sqlite")} == {0o600}


def test_a_database_that_is_there_keeps_its_mode_also_where_a_backup_takes_its_place(typo: CommandLine) -> None:
    typo.done("users", "add", "ola", given="correct horse battery\n")
    Path("typo.sqlite").chmod(0o640)
    typo.done("database", "backup", "copy.sqlite")
    typo.done("database", "restore", "--replace", "copy.sqlite")
    assert {mode_of(path) for path in Path().glob("typo.sqlite*")} == {0o640}
    assert mode_of("copy.sqlite") == 0o600


def test_where_a_file_has_one_name_the_one_before_is_kept_with_its_mode(
    typo: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    typo.done("users", "add", "ola", given="correct horse battery\n")
    typo.done("database", "backup", "copy.sqlite")
    monkeypatch.setattr(os, "link", refuse)
    typo.done("database", "restore", "--replace", "copy.sqlite")
    assert [mode_of(path) for path in Path().glob("typo.sqlite.replaced-*")] == [0o600]


@pytest.mark.usefixtures("open_to_all")
def test_an_archive_is_its_owners_and_one_that_is_replaced_keeps_its_mode(typo: CommandLine) -> None:
    typo.done("collections", "import", ARCHIVE)
    typo.done("collections", "export", "news", "-o", "new.zip")
    assert mode_of("new.zip") == 0o600
    Path("new.zip").chmod(0o644)
    typo.done("collections", "export", "news", "-o", "new.zip")
    assert mode_of("new.zip") == 0o644


def test_a_umask_takes_more_away(tmp_path: Path) -> None:
    before = os.umask(0o200)
    try:
        database = Database(sqlite_url(tmp_path / "new.sqlite"))
        with database.engine.connect():
            assert mode_of(tmp_path / "new.sqlite") == 0o400
        database.close()
    finally:
        os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_a_database_behind_a_link_or_an_address_of_sqlites_own_is_its_owners(tmp_path: Path) -> None:
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "linked.sqlite")
    for url in (sqlite_url(tmp_path / "link.sqlite"), f"sqlite:///file:{tmp_path}/named%20so.sqlite?uri=true"):
        CommandLine(url).done("database", "upgrade")
    assert mode_of(tmp_path / "linked.sqlite") == mode_of(tmp_path / "named so.sqlite") == 0o600


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite://", None),
        ("sqlite:///:memory:", None),
        ("sqlite:///file:x?mode=memory&uri=true", None),
        ("postgresql+psycopg://host/name", None),
        ("sqlite:///a.sqlite", Path("a.sqlite")),
        ("sqlite:////a.sqlite", Path("/a.sqlite")),
    ],
)
def test_the_file_behind_an_address(url: str, path: Path | None) -> None:
    assert file_behind(make_url(url)) == path


def test_a_reading_command_makes_no_tables_in_an_empty_database_of_postgresql(shared_postgres: Database) -> None:
    url = shared_postgres.engine.url.set(database="typo")
    server = shared_postgres.engine.execution_options(isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text("CREATE DATABASE typo"))
    engine = create_engine(url)
    try:
        command_line = CommandLine(url.render_as_string(hide_password=False))
        (refusal,) = command_line.refused("users", "list")
        assert f"There is no database of annotator at “{url.render_as_string()}”" in refusal
        assert inspect(engine).get_table_names() == []
        command_line.done("users", "add", "ola", given="correct horse battery\n")
        assert [name for name, *_ in command_line.table("users", "list")] == ["ola"]
    finally:
        engine.dispose()
        with server.connect() as connection:
            connection.execute(text("DROP DATABASE typo"))


def test_nothing_is_put_in_place_of_a_device(typo: CommandLine) -> None:
    typo.done("collections", "import", ARCHIVE)
    assert "is no regular file" in typo.refused("collections", "export", "news", "-o", "/dev/null")[0]
