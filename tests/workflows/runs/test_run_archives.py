"""The files of all active runs in one zip archive."""

import io
import zipfile

import pytest
from build import NOW, SLUG, news, run, run_text, topic_file
from sqlalchemy import update

from annotator.errors import NotFoundError
from annotator.storage import Database, Run
from annotator.workflows.runs import runs

LISTS = {"1": ["a"], "2": ["b"]}


def archived(database: Database, team: str | None = None) -> dict[str, bytes]:
    stream = io.BytesIO()
    with database.reading() as session:
        runs.write_run_files(session, SLUG, stream, team=team)
    with zipfile.ZipFile(stream) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_team_gets_its_active_runs_byte_for_byte_under_names_that_no_file_system_refuses(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        for tag in ("a/b", "a_b", "A:b", "..", "old"):
            run(session, tag, LISTS, team="red")
        run(session, "theirs.run", LISTS, team="blue")
        runs.withdraw_run(session, SLUG, "old", at=NOW)
        session.execute(update(Run).where(Run.tag == "a_b").values(file_name="ours.v2.json.gz"))
        session.execute(update(Run).where(Run.tag != "a_b").values(file_name="x.run"))
    found = archived(database, "red")
    assert found == {
        "run.run": run_text("..", LISTS),
        "A_b.run": run_text("A:b", LISTS),
        "a_b-2.run": run_text("a/b", LISTS),
        "a_b.json.gz": run_text("a_b", LISTS),
    }
    assert set(archived(database)) == {*found, "theirs.run"}


def test_where_there_is_no_run_there_is_no_archive(database: Database) -> None:
    with database.transaction() as session:
        news(session)
    with pytest.raises(NotFoundError, match="There is no active run to download"):
        archived(database, "red")
