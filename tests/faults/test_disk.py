"""The disk is full, or may only be read: each thing is stored or refused, and nothing that was acknowledged is lost."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest
from build import SLUG, document_file
from faults.judged_site import is_in_order, judged_site
from faults.length import IS_FULL
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_status, wait_for_work
from sqlalchemy import event, text
from visiting import Visitor, application

from annotator.errors import BusyError
from annotator.settings import Settings
from annotator.storage import Database

ACTS = f"/collections/{SLUG}/judge/topics/1"
PAGES = "PRAGMA page_count"
MEGABYTES = 6


@contextmanager
def with_room_for(settings: Settings, pages: int) -> Iterator[Database]:
    """The database on a disk that has room for so many pages more than are used."""
    database = Database(settings.database_url)
    with database.reading() as session:
        used = session.scalars(text(PAGES)).one()
    database.close()

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count={used + pages}")

    event.listen(database.engine, "connect", limit)
    yield database
    database.close()


def act(assignment: int) -> dict[str, object]:
    return {"id": f"full-{assignment}", "sequence": assignment, "assignment": assignment, "kind": "grade", "grade": 1}


def send(judge: Visitor, assignment: int) -> tuple[int, list[str], str]:
    """Say something of a document: the status, what is acknowledged, and the sentence of a refusal."""
    note = {**act(assignment), "note": "x" * 2_000}
    body = {"tab": "t", "holds": list(range(1_000)), "draw": False, "acts": [note]}
    answer = judge.client.post(f"{ACTS}/acts", json=body)
    found = answer.get_json()
    return answer.status_code, found.get("acknowledged", []), found.get("sentence", "")


def assignments(database: Database) -> list[int]:
    with database.reading() as session:
        return list(session.scalars(text("SELECT id FROM assignment WHERE state = 'live' ORDER BY id")))


def drawn(database: Database, count: int) -> list[int]:
    """Documents in Jo's hands."""
    with database.transaction() as session:
        session.execute(
            text(
                "INSERT INTO assignment (pool_item_id, judge_id, state, purpose, drawn_at, lease_until) "
                "SELECT pool_item.id, (SELECT id FROM \"user\" WHERE name = 'jo'), 'live', 'first', added_at, "
                "'2999-01-01 00:00:00' FROM pool_item, collection WHERE pool_item.id <= :count"
            ),
            {"count": count},
        )
        session.execute(text("UPDATE pool_item SET taken = taken + 1 WHERE id <= :count"), {"count": count})
    return assignments(database)


def test_judgements_that_find_no_room_are_refused_and_stored_when_there_is(site: Settings) -> None:
    database = Database(site.database_url)
    held = drawn(database, 100)
    database.close()
    acknowledged: list[str] = []
    with with_room_for(site, 20) as full:
        jo = Visitor(application(full), full, "jo")
        refused = []
        for assignment in held:
            status, stored, sentence = send(jo, assignment)
            acknowledged += stored
            if status != 200:
                assert (status, stored) == (503, [])
                assert (
                    sentence
                    == "The server's disk is full. Nothing was stored: inform the organisers, and try again later."
                )
                refused.append(assignment)
    assert acknowledged
    assert refused
    is_in_order(site, acknowledged)
    jo = Visitor(application(database), database, "jo")
    for assignment in refused:
        status, stored, _ = send(jo, assignment)
        assert status == 200
        acknowledged += stored
    database.close()
    assert sorted(acknowledged) == sorted(f"full-{assignment}" for assignment in held)
    is_in_order(site, acknowledged)


def test_an_import_that_finds_no_room_stores_nothing(site: Settings) -> None:
    with with_room_for(site, 20) as full:
        with pytest.raises(BusyError, match="disk is full"), full.transaction() as session:
            document_file(session, [f"n{number}" for number in range(20_000)])
        with full.reading() as session:
            assert session.scalars(text("SELECT count(*) FROM document WHERE docno LIKE 'n%'")).one() == 0
        with full.transaction() as session:
            document_file(session, ["small"])
    is_in_order(site, [])


def test_a_database_that_may_only_be_read_shows_everything_and_stores_nothing(site: Settings) -> None:
    database = Database(site.database_url)
    held = drawn(database, 3)
    database.close()
    path = Path(str(database.engine.url.database))
    only_read = Database(f"sqlite:///file:{path}?mode=ro&uri=true")
    jo = Visitor(application(only_read), only_read, "jo")
    assert jo.get(f"/collections/{SLUG}/judge").status_code == 200
    status, stored, sentence = send(jo, held[0])
    assert (status, stored) == (503, [])
    assert sentence == "The database is read-only. Nothing was stored: inform the organisers, and try again later."
    only_read.close()
    is_in_order(site, [])


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    """A file system of some megabytes; the test is skipped where nobody may mount one."""
    path.mkdir()
    mount, unmount = which("mount"), which("umount")
    if mount is None or unmount is None:
        pytest.skip("there is no mount here")
    words = [mount, "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(path)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:  # noqa: S603 - our own words
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run([unmount, str(path)], check=True)  # noqa: S603 - likewise


@pytest.mark.skipif(not IS_FULL, reason="in full length only: `make faults`")
def test_a_real_disk_that_is_full_costs_nobody_a_judgement(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk"):
        settings = judged_site(tmp_path / "disk" / "site.sqlite")
        server = MortalServer(settings, tmp_path / "server.log")
        filling = tmp_path / "disk" / "filling"
        try:
            server.start()
            judges = judges_at_work(server.port)
            fill_up(filling)
            wait_for_status(judges, 503)
            before = [len(judge.acknowledged) for judge in judges]
            texts = tmp_path / "texts.tsv"
            texts.write_text("".join(f"n{number}\tTitle\t{'word ' * 100}\n" for number in range(20_000)))
            command = [sys.executable, "-m", "annotator", "--database", settings.database_url]
            refused = subprocess.run(  # noqa: S603 - our own command
                [*command, "documents", "import", SLUG, str(texts)], check=False, capture_output=True, text=True
            )
            assert refused.returncode == 1, refused.stderr
            filling.unlink()
            wait_for_work(judges, before)
            acknowledged = all_acknowledged(judges)
        finally:
            server.kill()
        is_in_order(settings, acknowledged)


def fill_up(path: Path) -> None:
    """Take what room there is."""
    with path.open("wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
