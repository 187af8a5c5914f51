"""While an archive comes in, others write, and nobody finds any of it; what was interrupted is removed."""

import gc
import io
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from build import NOW, SLUG, document_file, labels, pooled_news, user
from kept import Kept
from sqlalchemy import event, func, select, text
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError, NotFoundError
from annotator.settings import Settings
from annotator.storage import Collection, Database, Document, User
from annotator.storage.collections.arrivals import importing_alone, remove_interrupted
from annotator.storage.collections.bundles import NewIds
from annotator.storage.collections.checking import examine
from annotator.storage.collections.collection import refuse_unusable_slug
from annotator.storage.people.accounts import find_or_add_user, find_user
from annotator.storage.site import bulk_insert as short_transactions
from annotator.storage.site.upkeep import UpkeepError
from annotator.storage.tables.columns import Base
from annotator.worker.working import Worker
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.collections.collection import show_collection
from annotator.workflows.collections.collection_list import list_collections
from annotator.workflows.people.accounts import list_users

LIMIT = 1 << 26
DOCUMENTS = 3_000
# Dies by SIGKILL as soon as a row of that table is to be stored.
KILLED = """
import io, os, signal, sys
from datetime import UTC, datetime
from sqlalchemy import event
from annotator.storage import Database
from annotator.workflows.collections.archive_import import import_archive, open_archive
database = Database(sys.argv[1])
@event.listens_for(database.engine, "before_cursor_execute")
def die(connection, cursor, statement, *rest):
    if statement.startswith(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
with open(sys.argv[2], "rb") as stream, open_archive("news.zip", stream, limit=1 << 26) as bundle:
    import_archive(database, bundle, slug="again", at=datetime.now(UTC))
"""


class _StoppedError(Exception):
    pass


@pytest.fixture
def content(database: Database, kept: Kept) -> bytes:
    """An archive of a collection that the database has too, whose judge it has not."""
    kept.fill(database, fill)
    stream = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with database.transaction() as session:
        zed = session.scalars(select(User).where(User.name == "zed")).one()
        zed.name = zed.name_key = "old"
    return stream.getvalue()


def fill(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        document_file(session, [f"n{number}" for number in range(DOCUMENTS)])
        labels(session, "zed", "1 0 a 1\n1 0 b 0\n2 0 a 2\n")


def imports(database: Database, content: bytes, compare: Callable[[Session, str], None]) -> None:
    with open_archive("news.zip", io.BytesIO(content), limit=LIMIT) as bundle:
        import_archive(database, bundle, slug="again", at=NOW, compare=compare)


def counts(database: Database) -> dict[str, int]:
    with database.reading() as session:
        return {
            table.name: session.scalars(select(func.count()).select_from(table)).one()
            for table in Base.metadata.sorted_tables
        }


def test_nobody_finds_what_is_coming_in(database: Database, content: bytes) -> None:
    before = counts(database)

    def look(hidden: Session, slug: str) -> None:
        assert show_collection(hidden, slug).slug == slug
        with database.transaction() as session:
            assert [one.slug for one in list_collections(session)] == [SLUG]
            assert "zed" not in {one.name for one in list_users(session)}
            with pytest.raises(NotFoundError):
                show_collection(session, slug)
            with pytest.raises(NotFoundError):
                find_user(session, "zed")
            with pytest.raises(ConflictError, match="is being imported"):
                refuse_unusable_slug(session, slug)
            with pytest.raises(ConflictError, match="comes with a collection that is being imported"):
                find_or_add_user(session, "zed", NOW)
            # Out of order, as it may be before everything is in.
            session.execute(text("UPDATE pool_item SET taken = 7 WHERE id = (SELECT max(id) FROM pool_item)"))
        assert examine(database).wrong == []
        with pytest.raises(UpkeepError, match="Another archive is being imported"), importing_alone(database):
            pass
        raise _StoppedError

    with pytest.raises(_StoppedError):
        imports(database, content, look)
    assert counts(database) == before
    imports(database, content, lambda _session, _slug: None)
    with database.reading() as session:
        assert {one.slug for one in list_collections(session)} == {SLUG, "again"}
        assert find_user(session, "zed").id
    assert examine(database).wrong == []


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_others_write_between_the_batches(database: Database, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL locks rows: others write there in any case."""
    stored, last = threading.Event(), threading.Event()
    seen: list[int] = []

    def write() -> None:
        while not last.is_set():
            with database.transaction() as session:
                session.execute(text("UPDATE collection SET title = title WHERE slug = 'news'"))
                seen.append(session.scalars(select(func.count()).select_from(Document)).one())
            stored.set()
            last.wait(0.01)

    batches: list[int] = []
    seconds_of = short_transactions._seconds_of  # noqa: SLF001 - how many there are is the question

    def counted(at: Database, batch: list[object], write: Callable[..., object]) -> float:
        batches.append(len(batch))
        stored.clear()
        took = seconds_of(at, batch, write)
        # Whoever waited for this batch writes before the next one begins, or soon after.
        assert stored.wait(10)
        return took

    monkeypatch.setattr(short_transactions, "_seconds_of", counted)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        imports(database, content, lambda _session, _slug: None)
    finally:
        last.set()
        writer.join()
    assert max(batches) < DOCUMENTS
    # The writer was there with only some of the documents stored, more than once.
    assert len({count for count in seen if DOCUMENTS < count < 2 * DOCUMENTS}) > 1


def test_garbage_is_collected_between_the_batches_only(
    database: Database, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full collection would double the time for which others wait."""
    is_on: dict[str, set[bool]] = {"commit": set(), "between": set()}
    seconds_of = short_transactions._seconds_of  # noqa: SLF001 - where a batch ends

    def noted(at: Database, batch: list[object], write: Callable[..., object]) -> float:
        is_on["between"].add(gc.isenabled())
        event.listen(database.engine, "commit", commit)
        took = seconds_of(at, batch, write)
        event.remove(database.engine, "commit", commit)
        is_on["between"].add(gc.isenabled())
        return took

    def commit(_connection: object) -> None:
        is_on["commit"].add(gc.isenabled())

    monkeypatch.setattr(short_transactions, "_seconds_of", noted)
    imports(database, content, lambda _session, _slug: None)
    assert is_on == {"commit": {False}, "between": {True}}


@pytest.mark.parametrize(
    "statement", ["INSERT INTO topic ", "INSERT INTO judgement ", "INSERT INTO document_words", "UPDATE collection"]
)
def test_what_a_killed_import_left_is_removed(
    database: Database, content: bytes, statement: str, tmp_path: Path
) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    settings = Settings(secret_key="x" * 40, database_url=url)
    Worker(settings).work(only_what_waits=True)  # counts the topics of the collection that stays
    before = counts(database)
    (tmp_path / "news.zip").write_bytes(content)
    killed = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", KILLED, url, str(tmp_path / "news.zip"), statement], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert counts(database) != before
    with database.reading() as session:
        assert [one.slug for one in list_collections(session)] == [SLUG]
    assert examine(database).wrong == []
    Worker(settings).work(only_what_waits=True)
    assert counts(database) == before
    assert examine(database).wrong == []


def test_ctrl_c_leaves_nothing_and_the_next_import_is_whole(database: Database, content: bytes) -> None:
    before = counts(database)

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        imports(database, content, interrupt)
    assert counts(database) == before
    imports(database, content, lambda _session, _slug: None)
    assert examine(database).wrong == []


def test_an_import_that_finds_no_room_leaves_nothing(sqlite_database: Database, content: bytes) -> None:
    before = counts(sqlite_database)
    with sqlite_database.reading() as session:
        used = session.scalars(text("PRAGMA page_count")).one()
    full = Database(sqlite_database.engine.url.render_as_string())

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count={used + 30}")

    event.listen(full.engine, "connect", limit)
    with pytest.raises(BusyError, match="disk is full"):
        imports(full, content, lambda _session, _slug: None)
    full.close()
    assert counts(sqlite_database) == before
    with sqlite_database.transaction() as session:
        user(session, "small")


def test_an_account_that_is_forgotten_meanwhile_keeps_the_import_out(database: Database, content: bytes) -> None:
    with database.transaction() as session:
        user(session, "zed")

    def forget(_session: Session, _slug: str) -> None:
        with database.transaction() as session:
            find_user(session, "zed").name = "forgotten-1"

    with pytest.raises(ConflictError, match="Another user changed the same data"):
        imports(database, content, forget)
    with database.reading() as session:
        assert session.scalars(select(Collection.slug)).all() == [SLUG]
    assert not remove_interrupted(database)


def test_ids_are_found_in_whichever_order_they_came() -> None:
    ids = NewIds([(3, 30), (4, 31), (7, 32), (2, 33), (1, 34)])
    assert dict(ids) == {3: 30, 4: 31, 7: 32, 2: 33, 1: 34}
    assert len(ids) == 5
    for missing in (0, 5, 8):
        with pytest.raises(KeyError):
            ids[missing]


def test_ids_stored_again_after_a_conflict_are_the_later_ones() -> None:
    ids = NewIds([(1, 10), (2, 11), (3, 12)])
    for old, new in ((2, 21), (3, 22), (4, 23)):
        ids.add(old, new)
    assert dict(ids) == {1: 10, 2: 21, 3: 22, 4: 23}
    assert len(ids) == 4
