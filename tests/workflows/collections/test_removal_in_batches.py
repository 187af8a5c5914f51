"""A deleted collection goes for good in short transactions, each of which leaves a database that is in order."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from build import SLUG, document_file, news
from kept import Kept
from sqlalchemy import func, select, text
from worker.at_work import work
from workflows.collections.test_deletions import KINDS, LATER, delete, fill

from annotator.errors import NotFoundError
from annotator.storage import Collection, Database, Document, Judgement
from annotator.storage.collections.arrivals import importing_alone, remove_interrupted
from annotator.storage.collections.checking import examine
from annotator.storage.site import bulk_insert as short_transactions
from annotator.storage.tables.collections import DeletedPart
from annotator.workflows.collections.restoring import (
    begin_removal,
    finish_removals,
    list_deleted_collections,
    restore_collection,
)
from annotator.workflows.documents import search

DOCUMENTS = 300
AfterBatch = Callable[[int], None]


class StoppedError(Exception):
    """The test has seen enough."""


@pytest.fixture
def given_up(database: Database, kept: Kept) -> Database:
    """A database with a collection that is to be removed for good, and all of whose rows are there."""
    kept.fill(database, give_up)
    return database


def give_up(database: Database) -> None:
    with database.transaction() as session:
        fill(session)
        document_file(session, [f"n{number}" for number in range(DOCUMENTS)])
        delete(session, KINDS.TOPIC, "2", typed="2")
        delete(session, KINDS.COLLECTION, typed=SLUG)
    with database.transaction() as session:
        assert begin_removal(session, before=LATER + timedelta(days=1), at=LATER) == 2
    assert sum(rows(database)) > DOCUMENTS


def rows(database: Database) -> tuple[int, ...]:
    with database.reading() as session:
        return tuple(
            session.scalars(select(func.count()).select_from(table)).one()
            for table in (Document, Judgement, DeletedPart)
        )


def is_finished(database: Database) -> bool:
    with database.reading() as session:
        return not any(session.scalars(select(Collection.being_imported)))


@pytest.fixture
def after_each(monkeypatch: pytest.MonkeyPatch) -> Callable[[AfterBatch], None]:
    """Have something called after each batch, with the number of the batch."""

    def call(told: AfterBatch) -> None:
        seconds_of, count = short_transactions._seconds_of, 0  # noqa: SLF001 - where a batch ends

        def counted(database: Database, batch: Sequence[object], write: Callable[..., object]) -> float:
            nonlocal count
            took = seconds_of(database, batch, write)
            count += 1
            told(count)
            return took

        monkeypatch.setattr(short_transactions, "_seconds_of", counted)

    return call


def test_between_the_batches_others_write_and_nothing_is_wrong(
    given_up: Database, after_each: Callable[[AfterBatch], None]
) -> None:
    left: list[int] = []

    def look(_: int) -> None:
        with given_up.transaction() as session:
            session.execute(text("UPDATE collection SET title = title"))
            left.append(session.scalars(select(func.count()).select_from(Document)).one())
        assert examine(given_up).wrong == []

    after_each(look)
    finish_removals(given_up)
    assert len({count for count in left if 0 < count < DOCUMENTS}) > 1
    assert (rows(given_up), is_finished(given_up)) == ((0, 0, 0), True)
    assert examine(given_up).wrong == []


def test_no_document_that_goes_is_indexed_again(given_up: Database, after_each: Callable[[AfterBatch], None]) -> None:
    """The worker would index what the removal has just taken out of the index, for ever."""

    def index(_: int) -> None:
        with given_up.reading() as session:
            assert search.words_to_index(session, after=0) == []

    after_each(index)
    finish_removals(given_up)
    assert rows(given_up) == (0, 0, 0)


def test_documents_that_are_indexed_meanwhile_go_as_well(
    given_up: Database, after_each: Callable[[AfterBatch], None]
) -> None:
    with given_up.transaction() as session:
        session.execute(text("DELETE FROM document_words"))

    def index(_: int) -> None:
        with given_up.transaction() as session:
            search.index_some(session, search.words_to_index(session, after=0))

    after_each(index)
    finish_removals(given_up)
    assert (rows(given_up), is_finished(given_up)) == ((0, 0, 0), True)


def test_a_removal_that_is_interrupted_again_and_again_is_finished_by_the_next_ones(
    given_up: Database, after_each: Callable[[AfterBatch], None]
) -> None:
    interrupted = 0

    def stop(number: int) -> None:
        if number % 3 == 0:
            raise StoppedError

    after_each(stop)
    while True:
        try:
            finish_removals(given_up)
        except StoppedError:
            interrupted += 1
            assert examine(given_up).wrong == []
        else:
            break
    assert interrupted > 3
    assert (rows(given_up), is_finished(given_up)) == ((0, 0, 0), True)


def test_the_worker_finishes_what_was_interrupted_however_new_it_is(given_up: Database) -> None:
    work(given_up)
    assert (rows(given_up), is_finished(given_up)) == ((0, 0, 0), True)


def test_what_goes_for_good_is_neither_restored_nor_an_import_that_was_interrupted(given_up: Database) -> None:
    with importing_alone(given_up):
        assert not remove_interrupted(given_up)
    with given_up.transaction() as session:
        assert list_deleted_collections(session, days=30) == []
        with pytest.raises(NotFoundError):
            restore_collection(session, SLUG, at=LATER)
        news(session)
    finish_removals(given_up)
    with given_up.reading() as session:
        assert session.scalars(select(Collection.slug).order_by(Collection.id)).all() == [f"{SLUG}~1", SLUG]
