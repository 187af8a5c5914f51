"""Pools: the depth-k union, which only grows, and the order in which it is shown."""

import pytest
from build import NOW, SLUG, labels, member, news, pool, pooled_news, run, topic_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Contribution, Database, PoolItem, Run
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.runs import RunState
from annotator.workflows.judging import judging, recording
from annotator.workflows.pools import pools
from annotator.workflows.pools.pool_building import TopicGrowth
from annotator.workflows.pools.pools import TopicProgress


def pooled(session: Session) -> set[tuple[str, str]]:
    return pools.pooled_docnos(session, SLUG)


def test_the_pool_is_the_union_of_the_tops(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b", "c"], "2": ["x"]})
    run(session, "beta", {"1": ["b", "d", "a"]})
    summary = pool(session, depth=2)
    assert pooled(session) == {("1", "a"), ("1", "b"), ("1", "d"), ("2", "x")}
    assert (summary.version, summary.added, summary.already_pooled) == (1, 4, 0)
    assert summary.topics == (TopicGrowth("1", 3, 0), TopicGrowth("2", 1, 0))


def test_every_contribution_is_kept_with_run_and_rank(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"]})
    run(session, "beta", {"1": ["b"]})
    pool(session, depth=2)
    rows = session.execute(select(Run.tag, Contribution.rank).join(Run, Run.id == Contribution.run_id))
    assert sorted(tuple(row) for row in rows) == [("alpha", 1), ("alpha", 2), ("beta", 1)]


def test_a_deeper_pool_adds_and_keeps_what_was_judged(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b", "c"]})
    pool(session, depth=1)
    labels(session, "jo", "1 0 a 2\n")
    before = {item.id: item.priority for item in session.scalars(select(PoolItem))}
    summary = pool(session, depth=3)
    assert (summary.version, summary.added, summary.already_pooled) == (2, 2, 1)
    after = {item.id: item.priority for item in session.scalars(select(PoolItem))}
    assert before.items() <= after.items()
    assert pools.pool_progress(session, SLUG) == [TopicProgress("1", "first topic", 3, 1, 1, 2)]


def test_the_same_building_again_makes_no_version(session: Session) -> None:
    pooled_news(session)
    summary = pool(session)
    assert (summary.version, summary.added, summary.already_pooled) == (1, 0, 6)
    assert len(pools.pool_versions(session, SLUG)) == 1


def test_a_late_run_adds_only_what_is_new_but_all_its_contributions(session: Session) -> None:
    pooled_news(session)
    run(session, "late", {"1": ["a", "z"]})
    summary = pool(session)
    assert (summary.version, summary.added) == (2, 1)
    late = session.scalars(select(Contribution).join(Run, Run.id == Contribution.run_id).where(Run.tag == "late"))
    assert sorted(one.rank or 0 for one in late) == [1, 2]


def test_chosen_runs_alone_are_pooled_and_named(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]})
    run(session, "beta", {"1": ["b"]})
    pool(session, tags=["beta"], seed=7)
    assert pooled(session) == {("1", "b")}
    version = pools.pool_versions(session, SLUG)[0]
    assert (version.strategy, version.parameters, version.seed) == ("depth", {"depth": 10, "runs": ["beta"]}, 7)
    with pytest.raises(NotFoundError, match="no run “gamma”"):
        pool(session, tags=["alpha", "gamma"])


def test_a_seed_holds_for_the_versions_after_it(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"]})
    pool(session, depth=1, seed=7)
    pool(session, depth=2)
    assert [version.seed for version in pools.pool_versions(session, SLUG)] == [7, 7]


@pytest.mark.parametrize(("depth", "seed", "sentence"), [(0, None, "depth"), (10**9, None, "depth"), (1, -1, "seed")])
def test_numbers_out_of_range_are_refused(session: Session, depth: int, seed: int | None, sentence: str) -> None:
    pooled_news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        pool(session, depth=depth, seed=seed)


def test_there_is_no_pool_without_a_run(session: Session) -> None:
    news(session)
    with pytest.raises(ConflictError, match="no run to pool"):
        pool(session)


def test_the_order_of_showing_depends_on_the_seed_and_not_on_the_ranks(session: Session) -> None:
    docnos = [f"d{index:02}" for index in range(40)]
    for slug, seed, order in (("one", 1, docnos), ("two", 1, docnos[::-1]), ("three", 2, docnos)):
        news(session, slug)
        topic_file(session, "1\tone\n", slug=slug)
        run(session, "r", {"1": order}, slug=slug)
        pool(session, depth=40, slug=slug, seed=seed)
    shown = {slug: shown_order(session, slug) for slug in ("one", "two", "three")}
    assert shown["one"] == shown["two"]
    assert shown["one"] != shown["three"]
    assert shown["one"] not in (docnos, docnos[::-1])


def shown_order(session: Session, slug: str) -> list[str]:
    judge = member(session, f"judge-{slug}", slug=slug)
    shown = []
    while task := judging.next_task(session, slug, "1", judge, now=NOW):
        shown.append(task.docno)
        from_task(session, slug, task.assignment_id, judge)
    return shown


def from_task(session: Session, slug: str, assignment_id: int, judge: int) -> None:
    recording.record_judgement(
        session, slug, assignment_id, judge, Decision(0), client_id=f"c{assignment_id}", judged_at=NOW
    )


rankings = st.lists(st.permutations(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=4)


@given(lists=rankings, depth=st.integers(1, 5))
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_deeper_pool_contains_the_shallower_and_the_order_of_upload_does_not_matter(
    sqlite_database: Database, lists: list[list[str]], depth: int
) -> None:
    with undone(sqlite_database) as session:
        for slug, order in (("up", lists), ("down", lists[::-1])):
            news(session, slug)
            topic_file(session, "1\tone\n", slug=slug)
            for index, ranking in enumerate(order):
                run(session, f"r{index}", {"1": ranking}, slug=slug)
            pool(session, depth=depth, slug=slug)
        shallow = pools.pooled_docnos(session, "up")
        assert shallow == pools.pooled_docnos(session, "down")
        assert shallow == {("1", docno) for ranking in lists for docno in ranking[:depth]}
        pool(session, depth=depth + 1, slug="up")
        assert pools.pooled_docnos(session, "up") >= shallow
        session.rollback()


def test_a_corrected_run_takes_nothing_from_its_correction(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"]})
    run(session, "beta", {"1": ["b", "c"]})
    # In another collection they stand alone, too, and count for nothing here.
    news(session, "other")
    topic_file(session, slug="other")
    run(session, "alpha", {"1": ["a"]}, slug="other")
    pool(session, slug="other")
    pool(session)
    session.execute(
        update(Run)
        .where(Run.tag == "alpha", Run.collection_id == find_collection(session, SLUG).id)
        .values(replaced_at=NOW)
    )
    run(session, "alpha", {"1": ["a", "d"]})
    pool(session)
    counted = [(one.tag, one.state, one.items, one.only) for one in pools.runs_in_pool(session, SLUG)]
    assert counted == [
        # b is now beta's alone, a and d the correction's.
        ("alpha", RunState.REPLACED, 2, 0),
        ("alpha", RunState.IN_FORCE, 2, 2),
        ("beta", RunState.IN_FORCE, 2, 2),
    ]


def test_versions_are_counted_through_an_index(sqlite_database: Database) -> None:
    with sqlite_database.engine.connect() as connection:
        counting = "EXPLAIN QUERY PLAN SELECT count(*) FROM pool_item WHERE first_pool_id = 1"
        plan = " ".join(row[3] for row in connection.execute(text(counting)))
    assert "ix_pool_item_first_pool_id" in plan
