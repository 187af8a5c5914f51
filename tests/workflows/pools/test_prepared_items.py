"""Items and contributions made into rows before SQLite's lock come to those that are made under it."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from build import NOW, SLUG, document_file, labels, news, pool, run, topic_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import Kept
from sqlalchemy import select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.storage import Collection, Contribution, Database, Pool, PoolItem
from annotator.storage.collections.checking import examine
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pool_building import PoolChoice, PoolSummary, choose_pool, store_pool

REQUESTS = (
    PoolRequest("depth", {"depth": 4}),
    PoolRequest("rrf", {"budget": 5}),
    PoolRequest("stratified", {"strata": "1-2:1, 3-9:0.5"}),
    PoolRequest("mtf", {"budget": 5, "start_depth": 2}),
)
NAMES = list("abcdefgh")


def store(session: Session, choice: PoolChoice) -> PoolSummary:
    return store_pool(session, SLUG, choice, built_by_id=None, built_at=NOW)


def rows(session: Session) -> tuple[list[object], set[object]]:
    """Pool items, and contributions without their ids."""
    names = [name for name in PoolItem.__table__.columns.keys() if name != "first_pool_id"]  # noqa: SIM118 - of columns
    items = select(*(getattr(PoolItem, name) for name in names), Pool.version)
    items = items.join(Pool, Pool.id == PoolItem.first_pool_id).order_by(PoolItem.id)
    given_by = (Contribution.pool_item_id, Contribution.run_id, Contribution.rank, Pool.version)
    contributions = select(*given_by).join(Pool, Pool.id == Contribution.pool_id)
    return [tuple(row) for row in session.execute(items)], {tuple(row) for row in session.execute(contributions)}


def fill(session: Session, lists: Iterable[list[str]], overlap: int) -> None:
    news(session)
    topic_file(session)
    document_file(session, NAMES)
    for number, docnos in enumerate(lists):
        run(session, f"run{number}", {"1": docnos, "2": docnos[::-1]})
    session.scalars(select(Collection)).one().overlap_share = overlap
    session.flush()


@given(
    lists=st.lists(st.permutations(NAMES), min_size=1, max_size=3),
    request=st.sampled_from(REQUESTS),
    depth=st.integers(0, 3),
    overlap=st.sampled_from([0, 30]),
)
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_prepared_items_are_what_other_items_are(
    sqlite_database: Database, lists: list[list[str]], request: PoolRequest, depth: int, overlap: int
) -> None:
    with undone(sqlite_database) as session:
        fill(session, lists, overlap)
        if depth:
            pool(session, depth)
            labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
        choice = choose_pool(session, SLUG, request)
        assert choice.additions.prepared is not None
        found = []
        for prepared in (choice.additions.prepared, None):
            with session.begin_nested() as before:
                one = replace(choice, additions=replace(choice.additions, prepared=prepared))
                summary = store(session, one)
                session.flush()
                found.append((summary, rows(session)))
                before.rollback()
            session.expire_all()
        assert found[0] == found[1]
        session.rollback()


def _filled(database: Database) -> None:
    with database.transaction() as session:
        fill(session, [NAMES], 0)
        pool(session, 2)


@pytest.fixture
def filled(database: Database, kept: Kept) -> Database:
    kept.fill(database, _filled)
    return database


def test_a_pool_that_grew_since_the_choice_is_taken_into_account(filled: Database) -> None:
    choice = filled.read(choose_pool, SLUG, PoolRequest("depth", {"depth": 4}))
    assert (choice.additions.prepared is not None) == filled.is_sqlite
    with filled.transaction() as session:
        labels(session, "jo", "1 0 c 1\n", add_to_pool=True)
    with filled.transaction() as session:
        summary = store(session, choice)
    assert (summary.version, summary.added, summary.already_pooled) == (3, 3, 5)
    with filled.reading() as session:
        pairs = session.execute(select(PoolItem.topic_id, PoolItem.document_id)).all()
        assert len({tuple(pair) for pair in pairs}) == len(pairs) == 8
    with filled.transaction() as session:
        assert not store(session, choice).is_new
    assert examine(filled).wrong == []


def test_a_pool_that_is_not_stored_after_all_leaves_nothing(filled: Database) -> None:
    choice = filled.read(choose_pool, SLUG, PoolRequest("depth", {"depth": 4}))
    before = filled.read(rows)
    with filled.transaction(keep=False) as session:
        store(session, choice)
    assert filled.read(rows) == before
    with filled.transaction() as session:
        assert store(session, choice).added == 4
    assert examine(filled).wrong == []
