"""Backups that were opened before they count, restoring, and checking, by command."""

import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from build import labels, pooled_news
from cli.command_line import CommandLine
from sqlalchemy import text

from annotator.cli.site import database as database_commands
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.collections import checking
from annotator.storage.collections.checking import examine
from annotator.storage.runs.run_tops import check_tops
from annotator.storage.site.upkeep import Progress, interruptible
from annotator.workflows.judging.machine_labels import check_labels
from annotator.workflows.judging.topic_judgements import check_packed


@pytest.fixture
def judged(annotator: CommandLine, sqlite_database: Database) -> CommandLine:
    """The command line over a pool of two topics, with three judgements."""
    with sqlite_database.transaction() as session:
        pooled_news(session)
        labels(session, "strict", "1 0 a 1\n1 0 b 0\n2 0 a 2\n")
    sqlite_database.close()
    return annotator


def file_of(database: Database) -> Path:
    return Path(str(database.engine.url.database))


def qrels(path: str) -> str:
    return CommandLine(sqlite_url(Path(path))).done("qrels", "export", "news")


def test_a_backup_is_a_database_with_everything_in_one_file(judged: CommandLine, sqlite_database: Database) -> None:
    said = judged.talk("database", "backup", "copy.sqlite")
    assert said == "copy.sqlite has 3 judgements; it was opened, and its file is whole.\n"
    assert {path.name for path in Path().iterdir()} == {"copy.sqlite"}
    with closing(sqlite3.connect("file:copy.sqlite?immutable=1", uri=True)) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert copy.execute("SELECT count(*) FROM judgement").fetchone() == (3,)
    assert qrels("copy.sqlite") == judged.done("qrels", "export", "news")
    sqlite_database.close()


def test_a_backup_has_the_state_at_its_beginning_and_keeps_no_writer_waiting(
    judged: CommandLine, sqlite_database: Database
) -> None:
    with sqlite_database.transaction() as session:
        # Nobody sees it yet, and the backup does not wait for it.
        labels(session, "strict", "1 0 c 2\n")
        judged.done("database", "backup", "copy.sqlite")
    assert len(qrels("copy.sqlite").splitlines()) == 3
    assert len(judged.done("qrels", "export", "news").splitlines()) == 4


def test_a_backup_replaces_no_file(judged: CommandLine, sqlite_database: Database) -> None:
    Path("copy.sqlite").write_text("mine")
    wanted = "“copy.sqlite” is there already, and a backup replaces nothing: give another name."
    assert judged.refused("database", "backup", "copy.sqlite") == [wanted]
    assert Path("copy.sqlite").read_text() == "mine"
    itself = str(file_of(sqlite_database))
    assert "is there already" in judged.refused("database", "backup", itself)[0]


def test_a_backup_that_cannot_be_written_leaves_nothing(judged: CommandLine) -> None:
    (said,) = judged.refused("database", "backup", "nowhere/copy.sqlite")
    assert said.startswith("“nowhere/copy.sqlite” cannot be written: ")
    assert list(Path().iterdir()) == []


def test_a_backup_that_is_to_be_checked_in_full_is_none_when_a_count_is_wrong(
    judged: CommandLine, sqlite_database: Database
) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE pool_item SET taken = taken + 1 WHERE id = 1"))
    sqlite_database.close()
    (said,) = judged.refused("database", "backup", "copy.sqlite", "--check")
    assert said == "The copy is not in order: Documents whose count of judges is wrong: 1"
    assert list(Path().iterdir()) == []
    # Else it is a copy of what there is: one with a wrong count is better than none.
    judged.done("database", "backup", "copy.sqlite")
    (said,) = judged.refused("database", "restore", "--replace", "copy.sqlite")
    assert said == "The copy is not in order: Documents whose count of judges is wrong: 1"


def test_a_backup_checked_in_full_says_so(judged: CommandLine) -> None:
    said = judged.talk("database", "backup", "copy.sqlite", "--check")
    assert said == "copy.sqlite has 3 judgements; it was opened, checked, and is in order.\n"


def test_a_backup_of_a_damaged_file_is_none(judged: CommandLine, sqlite_database: Database) -> None:
    sqlite_database.close()
    file = file_of(sqlite_database)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'membership'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with file.open("r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xff" * size)
    [said, *_] = judged.refused("database", "backup", "copy.sqlite")
    assert said.startswith(("The copy is not in order: Faults of the file: ", "This is no database of annotator: "))
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", ["copying", "checking"])
def test_a_backup_that_is_interrupted_leaves_nothing(
    judged: CommandLine, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, number: int, step: str
) -> None:
    def interrupt(*_: object) -> None:
        signal.raise_signal(number)  # handled by this thread at once, unlike a signal to the process

    @contextmanager
    def bar(_title: str) -> Iterator[Progress]:
        yield lambda done, steps: interrupt() if done == (0 if step == "checking" else steps) else None

    with monkeypatch.context() as patched:
        patched.setattr(database_commands, "progress_shown", bar)
        if step == "checking":
            patched.setattr(checking, "count_judgements", interrupt)
        result = judged("database", "backup", "copy.sqlite")
    assert (result.exit_code, result.stderr.strip()) == (130, "Interrupted.")
    assert list(Path().iterdir()) == []
    judged.done("database", "backup", "copy.sqlite")
    sqlite_database.close()


def test_ctrl_c_ends_a_statement_that_takes_long(sqlite_database: Database) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt), sqlite_database.reading() as session, interruptible(session):
        session.execute(text(endless))
    with sqlite_database.reading() as session:
        assert session.scalar(text("SELECT 1")) == 1


def test_checking_shows_every_step(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        pooled_news(session)
    for further in ([], [check_packed, check_labels, check_tops]):
        shown: list[tuple[int, int]] = []
        examination = examine(sqlite_database, progress=lambda *both, to=shown: to.append(both), further=further)
        steps = len(examination.findings)
        assert shown == [(done, steps) for done in range(1, steps + 1)]


def test_a_backup_is_restored_where_no_database_is(judged: CommandLine) -> None:
    judged.done("database", "backup", "copy.sqlite")
    new = CommandLine(sqlite_url(Path("new.sqlite")))
    assert new.talk("database", "restore", "copy.sqlite") == "The database is that of copy.sqlite.\n"
    assert qrels("new.sqlite") == judged.done("qrels", "export", "news")
    # The line is in the site that it made, not in the one that was copied.
    assert ["database.restore", "copy.sqlite"] in [row[-3:-1] for row in new.table("audit", "list")]
    assert "database.restore" not in judged.done("audit", "list")


def test_a_database_that_is_there_is_replaced_on_request_and_kept(
    judged: CommandLine, sqlite_database: Database
) -> None:
    judged.done("database", "backup", "copy.sqlite")
    with sqlite_database.transaction() as session:
        labels(session, "strict", "1 0 c 2\n")
    sqlite_database.close()
    (refused,) = judged.refused("database", "restore", "copy.sqlite")
    assert refused.endswith("--replace puts it aside and takes its place.")
    lines = judged.talk("database", "restore", "--replace", "copy.sqlite").splitlines()
    assert len(judged.done("qrels", "export", "news").splitlines()) == 3
    kept = lines[1].removeprefix("The one before it is kept as ").removesuffix(".")
    assert len(qrels(kept).splitlines()) == 4


def test_nothing_is_restored_under_a_server_that_runs(judged: CommandLine, sqlite_database: Database) -> None:
    judged.done("database", "backup", "copy.sqlite")
    with sqlite_database.reading() as session:
        session.execute(text("SELECT count(*) FROM judgement"))
        refused = judged.refused("database", "restore", "--replace", "copy.sqlite")
    assert refused == ["The database is in use: stop the server first."]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(8176)])
def test_what_is_no_backup_is_not_restored(judged: CommandLine, content: bytes) -> None:
    Path("bad.sqlite").write_bytes(content)
    before = judged.done("qrels", "export", "news")
    judged.refused("database", "restore", "--replace", "bad.sqlite")
    judged.refused("database", "restore", "--replace", "missing.sqlite")
    assert judged.done("qrels", "export", "news") == before
    assert {path.name for path in Path().iterdir()} == {"bad.sqlite"}


def test_a_torn_backup_is_not_restored(judged: CommandLine) -> None:
    judged.done("database", "backup", "copy.sqlite")
    whole = Path("copy.sqlite").read_bytes()
    Path("torn.sqlite").write_bytes(whole[: len(whole) // 2])
    judged.refused("database", "restore", "--replace", "torn.sqlite")
    assert len(judged.done("qrels", "export", "news").splitlines()) == 3


def test_of_postgresql_the_tools_are_named(shared_postgres: Database) -> None:
    postgres = CommandLine(shared_postgres.engine.url.render_as_string(hide_password=False))
    [dump] = postgres.refused("database", "backup", "copy.dump")
    [restore] = postgres.refused("database", "restore", "copy.dump")
    assert "pg_dump --format=custom --file=FILE 'postgresql://" in dump
    assert "pg_restore --clean --if-exists --dbname='postgresql://" in restore


def test_of_postgresql_an_address_is_named_that_its_tools_take() -> None:
    given = CommandLine("postgresql+psycopg://ann:secret@db.example.org:5433/task?sslmode=require")
    [told] = given.refused("database", "backup", "copy.dump")
    assert told.endswith("--file=FILE 'postgresql://ann@db.example.org:5433/task?sslmode=require'")


def test_checking_lists_what_was_looked_for(judged: CommandLine) -> None:
    result = judged("database", "check")
    assert result.exit_code == 0
    assert {line.split()[-1] for line in result.stdout.splitlines()[1:]} == {"0"}
    assert result.stderr.startswith("In order: 3 judgements, tables of version ")


def test_checking_refuses_what_is_not_in_order(judged: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE assignment SET judge_id = judge_id, state = 'live' WHERE id = 1"))
    sqlite_database.close()
    result = judged("database", "check")
    assert result.exit_code == 1
    assert result.stderr == (
        "The database is not in order. Assignments that are judged and still in somebody's hands: 1.\n"
    )


def test_what_may_be_innocent_is_refused_strictly_only(judged: CommandLine) -> None:
    judged.done("judgements", "import", "news", "-", "--judge", "other", given="1 0 a 1\n")
    assert judged("database", "check").exit_code == 0
    (said,) = judged("database", "check", "--strict").stderr.splitlines()
    assert said == "The database is not in order. Documents judged by more than are wanted now: 1."


def test_every_acknowledged_judgement_is_asked_for(judged: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.reading() as session:
        stored = session.scalars(text("SELECT client_id FROM judgement")).all()
    sqlite_database.close()
    Path("log").write_text("\n".join(stored))
    assert "Each of 3 acknowledged judgements is there once." in judged.talk(
        "database", "check", "--acknowledged", "log"
    )
    result = judged("database", "check", "--acknowledged", "-", given="\n".join([*stored, "lost-1", "lost-2"]))
    assert result.exit_code == 1
    assert result.stderr == "Acknowledged judgements that are not stored exactly once: 2 (lost-1, lost-2).\n"


def test_an_empty_file_is_not_in_order(annotator: CommandLine) -> None:
    nothing = CommandLine(sqlite_url(Path("nothing.sqlite")))
    Path("nothing.sqlite").touch()
    assert nothing.refused("database", "check")[0].startswith("There is no database of annotator at “nothing.sqlite”.")
    assert annotator("database", "check").exit_code == 0


def test_a_damaged_database_is_replaced_and_kept_as_it_is(judged: CommandLine, sqlite_database: Database) -> None:
    judged.done("database", "backup", "copy.sqlite")
    sqlite_database.close()
    file = file_of(sqlite_database)
    damaged = b"garbage" * 5_000
    file.write_bytes(damaged)
    lines = judged.talk("database", "restore", "--replace", "copy.sqlite").splitlines()
    assert len(judged.done("qrels", "export", "news").splitlines()) == 3
    assert Path(lines[1].removeprefix("The one before it is kept as ").removesuffix(".")).read_bytes() == damaged


@pytest.mark.parametrize("is_there", [True, False])
def test_a_log_of_the_database_before_is_never_put_into_the_restored_one(
    judged: CommandLine, sqlite_database: Database, *, is_there: bool
) -> None:
    judged.done("database", "backup", "copy.sqlite")
    file = file_of(sqlite_database)
    with sqlite_database.transaction() as session:
        labels(session, "strict", "1 0 c 2\n")
    # As after the server was killed: the log is there, and has what is not in the file.
    log = Path(f"{file}-wal").read_bytes()
    assert log
    sqlite_database.close()
    if is_there:
        file.write_bytes(b"garbage" * 5_000)
    else:
        file.unlink()
    Path(f"{file}-wal").write_bytes(log)
    judged.done("database", "restore", "--replace", "copy.sqlite")
    assert len(judged.done("qrels", "export", "news").splitlines()) == 3
    assert judged("database", "check").exit_code == 0
    (kept,) = file.parent.glob(f"{file.name}.replaced-*-wal")
    assert kept.read_bytes() == log


def test_a_backup_takes_no_log_that_lies_beside_its_name(judged: CommandLine) -> None:
    Path("copy.sqlite-wal").write_text("of another")
    assert judged.refused("database", "backup", "copy.sqlite") == [
        "“copy.sqlite-wal” is there already, and a backup replaces nothing: give another name."
    ]


def test_an_upgrade_completes_runs_that_an_older_program_stored_after_it(
    judged: CommandLine, sqlite_database: Database
) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("DELETE FROM run_tops WHERE run_id = 1"))
    sqlite_database.close()
    checked = judged("database", "check")
    assert (checked.exit_code, "Runs whose stored tops are not those of their" in checked.stderr) == (1, True)
    assert judged.talk("database", "upgrade") == (
        "Runs of an older program that are complete now: 1.\nThe tables are of this version.\n"
    )
    judged.done("database", "check")
    assert judged.talk("database", "upgrade") == "The tables are of this version.\n"


def test_damaged_tops_of_a_run_are_stored_again(judged: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE run_tops SET sizes = substr(sizes, 1, 5) WHERE run_id = 1"))
    sqlite_database.close()
    checked = judged("database", "check")
    assert (checked.exit_code, "Runs whose stored tops are not those of their" in checked.stderr) == (1, True)
    judged.talk("database", "upgrade")  # adds those that are missing alone
    assert judged("database", "check").exit_code == 1
    assert "Stored the tops of the ranked lists again: news alpha.\n" in judged.talk(
        "database", "check", "--rebuild-tops"
    )
    assert judged.table("audit", "list")[0][4] == "database.rebuild-tops"
    assert "Stored the tops" not in judged.talk("database", "check", "--rebuild-tops")
    judged.done("database", "check")
