"""The same stored by two at the same moment, for the first time: one of them is told so in a sentence."""

import io
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, news, pooled_news, topic_file, user
from meeting import Step, one_after_the_other, wait_until_somebody_waits
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage import Collection, Database, EndedSession, Grade, LabelFile, User
from annotator.workflows.collections import next_collection
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.people import accounts

LIMIT = 1 << 24
NOBODY = 1  # the number of an account that holds no document
LATER = NOW + timedelta(days=1)


def adds_a_collection(session: Session) -> None:
    news(session)


def adds_somebody(session: Session) -> None:
    user(session, "zed")


def copies(session: Session) -> None:
    next_collection.copy_collection(session, SLUG, "copy", title="Next", with_documents=False, at=NOW)


@pytest.mark.parametrize("add", [adds_a_collection, adds_somebody])
def test_who_comes_second_is_told_so(postgres_database: Database, add: Step) -> None:
    with pytest.raises(ConflictError, match="Another user changed the same data at this moment"):
        one_after_the_other(postgres_database, add, add, is_done_again=False)


@pytest.mark.parametrize("add", [adds_a_collection, adds_somebody, copies])
def test_who_comes_second_and_tries_again_finds_what_there_is(postgres_database: Database, add: Step) -> None:
    if add is copies:
        with postgres_database.transaction() as session:
            news(session)
    with pytest.raises(ConflictError, match=r"There is a collection|The name “zed” is taken"):
        one_after_the_other(postgres_database, add, add)


def test_two_files_of_a_new_judge_for_two_collections_are_both_taken_in(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        for slug in (SLUG, "other"):
            news(session, slug)
            topic_file(session, slug=slug)
            document_file(session, ["a"], slug=slug)
    first, second = (
        lambda session, slug=slug: labels(session, "nist", "1 0 a 1\n", slug=slug, add_to_pool=True)
        for slug in (SLUG, "other")
    )
    one_after_the_other(postgres_database, first, second)
    with postgres_database.reading() as session:
        assert session.scalars(select(func.count()).select_from(LabelFile)).one() == 2


def test_a_session_is_ended_twice_at_once(postgres_database: Database) -> None:
    def ends(session: Session) -> None:
        accounts.sign_out(session, NOBODY, "key", until=LATER, at=NOW)

    one_after_the_other(postgres_database, ends, ends, is_done_again=False)
    with postgres_database.reading() as session:
        assert session.scalars(select(EndedSession.key)).all() == ["key"]


@pytest.mark.parametrize("meanwhile", [adds_a_collection, adds_somebody])
def test_an_archive_that_another_is_ahead_of_is_not_told_to_be_broken(
    postgres_database: Database, meanwhile: Step
) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        labels(session, "zed", "1 0 a 1\n")
    stream = io.BytesIO()
    with postgres_database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with postgres_database.transaction() as session:
        session.execute(update(User).values(name="old", name_key="old"))
        session.execute(update(Collection).values(slug="old"))
    with open_archive("news.zip", stream, limit=LIMIT) as bundle, ThreadPoolExecutor(1) as thread:
        with postgres_database.transaction() as session:
            meanwhile(session)
            session.flush()
            waiting = thread.submit(import_archive, postgres_database, bundle, slug=None, at=NOW)
            wait_until_somebody_waits(postgres_database)
        if meanwhile is adds_somebody:
            # The import looks again, and finds the account.
            assert waiting.result(timeout=60).known == ("zed",)
        else:
            with pytest.raises(ConflictError, match="Another user changed the same data at this moment"):
                waiting.result(timeout=60)


def test_what_breaks_another_rule_stays_a_fault(database: Database) -> None:
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.execute(insert(Grade).values(collection_id=7, value=1, name="of no collection", description=""))


def stores_twice(session: Session) -> None:
    """A fault of the program's own, for who writes to SQLite is alone."""
    row = {"key": "key", "until": LATER}
    session.execute(insert(EndedSession), [row])
    session.execute(insert(EndedSession), [row])


def test_what_stores_the_same_twice_by_itself_is_a_fault_on_sqlite(sqlite_database: Database) -> None:
    with pytest.raises(IntegrityError), sqlite_database.transaction() as session:
        stores_twice(session)


def test_what_stores_the_same_twice_by_itself_is_in_the_log_on_postgresql(
    postgres_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConflictError), postgres_database.transaction() as session:
        stores_twice(session)
    [line] = caplog.records
    assert line.levelno == logging.WARNING
    assert "pk_ended_session" in line.getMessage()
