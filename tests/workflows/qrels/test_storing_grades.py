"""Grades of a version of the qrels are stored before it is kept: nobody finds them, and what is not kept is removed."""

import io
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from build import NOW, SLUG, labels, pooled_news
from kept import Kept
from sqlalchemy import delete, event, func, select

from annotator.errors import ConflictError, NotFoundError
from annotator.settings import Settings
from annotator.storage import Database, DeletedKind, QrelsGrade, QrelsVersion
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import report_state
from annotator.storage.qrels.unfinished_versions import remove_interrupted_versions, storing_alone
from annotator.storage.tables.collections import Door
from annotator.worker.working import Worker
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.leaderboard.release_kit import version_to_publish
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import QrelsExport, export_qrels
from annotator.workflows.qrels.qrels_versions import (
    IdenticalVersionError,
    ReleaseRequest,
    close_round,
    keep_qrels,
    list_versions,
    release_scores,
    storing_for_release,
    storing_grades,
)

# Dies by SIGKILL as soon as such a statement is to be executed.
KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from sqlalchemy import event
from annotator.storage import Database
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
qrels_versions.MANY_GRADES = 1
database = Database(sys.argv[1])
at = datetime.now(UTC)
made = database.read(export_qrels, "news", to_keep=True, made_at=at)
@event.listens_for(database.engine, "before_cursor_execute")
def die(connection, cursor, statement, *rest):
    if statement.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
with qrels_versions.storing_grades(database, "news", made) as stored, database.transaction() as session:
    qrels_versions.close_round(session, "news", stored, by_id=None, at=at)
"""


@pytest.fixture
def judged(database: Database, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database where few grades are many."""
    kept.fill(database, _judged)
    monkeypatch.setattr(qrels_versions, "MANY_GRADES", 1)
    return database


def _judged(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")


def exported(database: Database) -> QrelsExport:
    return database.read(export_qrels, SLUG, to_keep=True, made_at=NOW)


def rows(database: Database) -> tuple[int, int]:
    """How many versions and grades there are, found or not."""
    with database.reading() as session:
        versions, grades = (select(func.count()).select_from(table) for table in (QrelsVersion, QrelsGrade))
        return session.scalars(versions).one(), session.scalars(grades).one()


def keep(database: Database, made: QrelsExport) -> int:
    with storing_grades(database, SLUG, made) as stored, database.transaction() as session:
        return keep_qrels(session, SLUG, stored, made_by_id=None, made_at=NOW)


def state_of(database: Database) -> bytes:
    with database.reading() as session:
        return report_state(session, find_collection(session, SLUG))


def close(database: Database, made: QrelsExport) -> None:
    with storing_grades(database, SLUG, made) as stored, database.transaction() as session:
        close_round(session, SLUG, stored, by_id=None, at=NOW)


def parts(database: Database) -> set[str]:
    stream = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with ZipFile(stream) as archive:
        return {name for name in archive.namelist() if archive.getinfo(name).file_size}


def test_nobody_finds_grades_that_are_being_stored(judged: Database) -> None:
    made = exported(judged)
    archived, state = parts(judged), state_of(judged)
    with storing_grades(judged, SLUG, made) as stored:
        assert stored.unfinished_id is not None
        assert rows(judged) == (1, 3)
        assert judged.read(list_versions, SLUG) == []
        assert parts(judged) == archived
        assert state_of(judged) == state
        with pytest.raises(ConflictError, match="No version"):
            judged.read(version_to_publish, SLUG)
        assert examine(judged).wrong == []
        # The worker does not take it for something that was left.
        remove_interrupted_versions(judged)
        assert rows(judged) == (1, 3)
        with judged.transaction() as session, pytest.raises(ConflictError, match="topic 1 are being kept"):
            delete_it(session, SLUG, DeletedKind.TOPIC, ["1"], typed="1", actor=Actor(Door.COMMAND, "ola"), at=NOW)
        with judged.transaction() as session:
            labels(session, "kim", "1 0 a 1\n1 0 c 1\n", name="meanwhile.txt")
        with judged.transaction() as session:
            assert keep_qrels(session, SLUG, stored, made_by_id=None, made_at=NOW) == 1
    [version] = judged.read(list_versions, SLUG)
    assert (version.number, version.lines, version.made_at) == (1, 3, NOW)
    assert judged.read(qrels_versions.export_version, SLUG, 1).qrels == made.qrels
    assert keep(judged, exported(judged)) == 2
    assert examine(judged).wrong == []


def test_a_version_with_later_judgements_that_was_kept_meanwhile_stays_the_newest(judged: Database) -> None:
    made = exported(judged)
    with storing_grades(judged, SLUG, made) as stored:
        with judged.transaction() as session:
            labels(session, "kim", "1 0 a 1\n1 0 c 1\n", name="meanwhile.txt")
        later = judged.read(export_qrels, SLUG, to_keep=True, made_at=NOW + timedelta(minutes=1))
        with judged.transaction() as session:
            assert keep_qrels(session, SLUG, later, made_by_id=None, made_at=NOW + timedelta(minutes=1)) == 1
        with judged.transaction() as session, pytest.raises(ConflictError, match="Version 1 was kept meanwhile"):
            keep_qrels(session, SLUG, stored, made_by_id=None, made_at=NOW)
    [version] = judged.read(list_versions, SLUG)
    assert version.number == 1
    assert examine(judged).wrong == []


def test_what_is_not_kept_is_removed(judged: Database) -> None:
    made = exported(judged)
    with pytest.raises(NotFoundError), storing_grades(judged, "olds", made):
        pass
    close(judged, made)
    assert rows(judged) == (1, 3)
    with judged.transaction() as session:
        labels(session, "jo", "1 0 b 2\n", name="early.txt")
    with pytest.raises(ConflictError, match="closed already"):
        close(judged, exported(judged))
    assert rows(judged) == (1, 3)
    with judged.transaction() as session:
        labels(session, "jo", "1 0 b 0\n", name="again.txt")
    with pytest.raises(IdenticalVersionError):
        keep(judged, made)
    # Also where it was kept while the same grades were being stored.
    with judged.transaction() as session:
        labels(session, "jo", "1 0 b 1\n", name="later.txt")
    later = exported(judged)
    with storing_grades(judged, SLUG, later) as stored:
        with judged.transaction() as session:
            assert keep_qrels(session, SLUG, later, made_by_id=None, made_at=NOW) == 2
        with judged.transaction() as session, pytest.raises(IdenticalVersionError):
            keep_qrels(session, SLUG, stored, made_by_id=None, made_at=NOW)
    assert rows(judged) == (2, 6)


def test_a_release_stores_no_grades_that_have_a_version(judged: Database) -> None:
    with storing_for_release(judged, SLUG, None) as nothing:
        assert nothing is None
    made = exported(judged)
    for _ in range(2):
        with storing_for_release(judged, SLUG, made) as stored, judged.transaction() as session:
            release_scores(session, SLUG, ReleaseRequest(early=True), stored, by_id=None, at=NOW)
        assert rows(judged) == (1, 3)
    with judged.transaction() as session:
        labels(session, "jo", "1 0 b 1\n", name="later.txt")
    assert keep(judged, exported(judged)) == 2
    with storing_for_release(judged, SLUG, made) as stored:
        assert stored is made
        assert rows(judged) == (2, 6)


def test_who_cannot_store_grades_alone_stores_them_with_their_version(judged: Database) -> None:
    with storing_alone(judged, 1) as is_alone:
        assert is_alone
        assert keep(judged, exported(judged)) == 1
    assert judged.read(list_versions, SLUG)[0].lines == 3


def test_grades_that_are_gone_are_not_kept(judged: Database) -> None:
    with storing_grades(judged, SLUG, exported(judged)) as stored:
        with judged.transaction() as session:
            session.execute(delete(QrelsGrade).where(QrelsGrade.grade == 0))
        with pytest.raises(ConflictError, match="Nothing was kept"), judged.transaction() as session:
            keep_qrels(session, SLUG, stored, made_by_id=None, made_at=NOW)
    assert rows(judged) == (0, 0)


@pytest.mark.parametrize(
    "statement", ["INSERT INTO qrels_grade", "SELECT collection.id", "UPDATE qrels_version", "UPDATE round"]
)
def test_what_a_killed_process_has_stored_is_removed(judged: Database, statement: str) -> None:
    url = judged.engine.url.render_as_string(hide_password=False)
    killed = subprocess.run([sys.executable, "-c", KILLED, url, statement], check=False)  # noqa: S603 - our own words
    assert killed.returncode < 0
    assert judged.read(list_versions, SLUG) == []
    assert examine(judged).wrong == []
    if statement.startswith("UPDATE"):
        assert rows(judged) == (1, 3)
    Worker(Settings(secret_key="x" * 40, database_url=url)).work(only_what_waits=True)
    assert rows(judged) == (0, 0)
    assert keep(judged, exported(judged)) == 1


def test_short_statements_are_what_is_left_for_the_last_transaction(judged: Database) -> None:
    """None of the last transaction's statements inserts a grade."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    with storing_grades(judged, SLUG, exported(judged)) as stored:
        event.listen(judged.engine, "before_cursor_execute", note)
        with judged.transaction() as session:
            close_round(session, SLUG, stored, by_id=None, at=NOW)
        event.remove(judged.engine, "before_cursor_execute", note)
    assert any(one.startswith("UPDATE qrels_version") for one in seen)
    assert not [one for one in seen if "INTO qrels_grade" in one]


def test_a_path_that_cannot_be_locked_is_no_obstacle(
    judged: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not judged.is_sqlite:
        pytest.skip("PostgreSQL needs no file")
    monkeypatch.setattr("annotator.storage.site.process_locks.Path", lambda _: tmp_path / "missing" / "lock")
    assert keep(judged, exported(judged)) == 1
