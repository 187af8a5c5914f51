"""Building a pool by every strategy: what joins it and why, how it is shown, and when there is no new version."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, build, labels, member, news, pool, run, run_text, stored, topic_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.rankings import decode_documents
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Contribution,
    Database,
    Document,
    PoolItem,
    PoolRun,
    Run,
    Showing,
    Stratum,
    Topic,
)
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.pools import pool_building, pools
from annotator.workflows.runs import run_upload, runs

BUDGETS = ("rrf", "borda", "rbp", "combmnz", "ntcir")
ADAPTIVE = ("mtf", "maxmean", "maxmean-ns", "hedge")
SAID: Mapping[str, Mapping[str, str | int]] = {
    "depth": {"depth": 3},
    **{name: {"budget": 7} for name in BUDGETS},
    **{name: {"budget": 7, "start_depth": 2} for name in ADAPTIVE},
    "stratified": {"strata": "1-2:1, 3-9:0.5"},
}


def request(name: str) -> PoolRequest:
    return PoolRequest(name, SAID[name])


def pooled(session: Session, slug: str = SLUG) -> set[tuple[str, str]]:
    return pools.pooled_docnos(session, slug)


@beginning
def letters(session: Session) -> None:
    """Topic 1 is answered by three runs, topic 2 by two."""
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": list("abcdefghij"), "2": list("xyz")}, team="red")
    run(session, "beta", {"1": list("jihgfedcba")}, team="red")
    run(session, "gamma", {"1": list("klmabcnop"), "2": list("zwv")}, team="blue")


def shown(session: Session, topic: str = "1") -> list[str]:
    """The docnos of a topic in the order in which judges see them."""
    return list(
        session.scalars(
            select(Document.docno)
            .join(PoolItem, PoolItem.document_id == Document.id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(Topic.number == topic)
            .order_by(PoolItem.priority, PoolItem.id)
        )
    )


def without_reason(session: Session) -> int:
    """How many items have no contribution."""
    has_one = select(Contribution.pool_item_id)
    return session.scalars(select(func.count()).select_from(PoolItem).where(PoolItem.id.not_in(has_one))).one()


@pytest.mark.parametrize("name", SAID)
def test_every_strategy_builds_a_pool_whose_items_all_have_a_reason(session: Session, name: str) -> None:
    letters(session)
    summary = build(session, request(name))
    assert (summary.version, summary.is_new, summary.already_pooled) == (1, True, 0)
    assert summary.added == len(pooled(session)) > 0
    assert without_reason(session) == 0
    [version] = pools.pool_versions(session, SLUG)
    assert version.strategy == name
    assert version.parameters["runs"] == ["alpha", "beta", "gamma"]
    assert SAID[name].items() <= version.parameters.items()


@pytest.mark.parametrize("name", SAID)
def test_the_same_building_again_adds_nothing_and_says_so(session: Session, name: str) -> None:
    letters(session)
    first = build(session, request(name))
    again = build(session, request(name), showing=Showing.DOCNO)
    assert (again.version, again.is_new, again.added, again.already_pooled) == (1, False, 0, first.added)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_in_total_is_divided_over_the_topics_and_one_for_each_is_not(session: Session, name: str) -> None:
    letters(session)
    assert [topic.added for topic in build(session, PoolRequest(name, {"budget": 7})).topics] == [4, 3]
    # Of topic 2 the runs have five documents: the rest of its share goes to topic 1.
    grown = build(session, PoolRequest(name, {"budget": 15})).topics
    assert [topic.added + topic.already_pooled for topic in grown] == [10, 5]
    each = build(session, PoolRequest(name, {"per_topic": 2}))
    assert (each.is_new, each.already_pooled) == (False, 4)


def test_rrf_takes_first_what_many_runs_have_and_names_all_of_them(session: Session) -> None:
    letters(session)
    build(session, PoolRequest("rrf", {"per_topic": 1}))
    # 1: a has the ranks 1, 10 and 4, more than any other; 2: z has 3 and 1.
    assert pooled(session) == {("1", "a"), ("2", "z")}
    rows = session.execute(select(Run.tag, Contribution.rank).join(Run, Run.id == Contribution.run_id))
    assert sorted(tuple(row) for row in rows) == [
        ("alpha", 1), ("alpha", 3), ("beta", 10), ("gamma", 1), ("gamma", 4),
    ]  # fmt: skip


def test_a_strategy_may_look_at_the_tops_alone(session: Session) -> None:
    letters(session)
    build(session, PoolRequest("rrf", {"budget": 100, "depth": 1}))
    assert pooled(session) == {("1", "a"), ("1", "j"), ("1", "k"), ("2", "x"), ("2", "z")}
    assert set(session.scalars(select(PoolRun.depth))) == {1}


def test_another_strategy_only_adds(session: Session) -> None:
    letters(session)
    pool(session, depth=2)
    labels(session, "jo", "1 0 a 2\n")
    before = {item.id: item.priority for item in session.scalars(select(PoolItem))}
    summary = build(session, PoolRequest("rrf", {"per_topic": 5}))
    assert summary.version == 2
    assert summary.already_pooled > 0
    after = {item.id: item.priority for item in session.scalars(select(PoolItem))}
    assert before.items() < after.items()
    assert without_reason(session) == 0


def test_an_adaptive_strategy_starts_with_the_top_of_every_run_and_is_a_version_even_so(session: Session) -> None:
    letters(session)
    pool(session, depth=2)
    summary = build(session, request("mtf"))
    # All of it is pooled already, but from now on the strategy chooses.
    assert (summary.version, summary.is_new, summary.added) == (2, True, 0)
    progress = pools.selection_progress(session, SLUG)
    assert progress is not None
    assert (progress.version, progress.strategy, progress.made, progress.budget, progress.last) == (2, "mtf", 0, 7, ())
    # Begun again by accident it would have its budget twice.
    assert not build(session, request("mtf"), seed=9).is_new
    assert build(session, PoolRequest("mtf", {"per_topic": 8, "start_depth": 2})).is_new
    progress = pools.selection_progress(session, SLUG)
    assert progress is not None
    assert progress.budget == 16
    run(session, "late", {"1": ["a"]})
    assert build(session, PoolRequest("mtf", {"per_topic": 8, "start_depth": 2})).version == 4


def test_a_pool_of_tops_chooses_nothing_later(session: Session) -> None:
    letters(session)
    pool(session)
    assert pools.selection_progress(session, SLUG) is None


def test_a_sample_is_stored_with_its_strata_and_every_item_with_its_rate(session: Session) -> None:
    letters(session)
    build(session, PoolRequest("stratified", {"strata": "1-2:1, 3-9:0.25"}))
    strata = session.scalars(
        select(Stratum).join(Topic, Topic.id == Stratum.topic_id).where(Topic.number == "1").order_by(Stratum.number)
    ).all()
    # Ranks 1 and 2 are a b, j i and k l; the ten others have their best rank from 3 to 9, and a quarter is 3.
    assert [(one.number, one.rate, one.drawn) for one in strata] == [(1, 1.0, 6), (2, 0.25, 3)]
    docnos = {id_: docno for id_, docno in session.execute(select(Document.id, Document.docno))}
    top, deep = ([docnos[id_] for id_ in decode_documents(one.documents).tolist()] for one in strata)
    assert (sorted(top), sorted(deep)) == (list("abijkl"), list("cdefghmnop"))
    items = session.execute(
        select(Document.docno, PoolItem.stratum, PoolItem.rate)
        .join(Document, Document.id == PoolItem.document_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.number == "1")
    )
    drawn = dict.fromkeys(top, (1, 1.0)) | dict.fromkeys(deep[:3], (2, 0.25))
    assert {docno: (stratum, rate) for docno, stratum, rate in items} == drawn


def test_another_seed_draws_another_sample(session: Session) -> None:
    letters(session)
    sample = PoolRequest("stratified", {"strata": "1-1:1, 2-9:0.3"})
    build(session, sample, seed=1)
    assert not build(session, sample).is_new
    assert build(session, sample, seed=2).is_new
    assert session.scalars(select(func.count()).select_from(Stratum)).one() == 2 * 2 * 2


def test_a_seed_alone_makes_no_version(session: Session) -> None:
    letters(session)
    pool(session, seed=1)
    summary = pool(session, seed=2)
    assert (summary.version, summary.is_new) == (1, False)
    assert [version.seed for version in pools.pool_versions(session, SLUG)] == [1]


def test_documents_are_shown_by_docno_or_as_chosen_when_that_was_said(session: Session) -> None:
    letters(session)
    depth = PoolRequest("depth", {"depth": 2})
    build(session, depth, showing=Showing.DOCNO)
    assert shown(session) == list("abijkl")
    # What was pooled before is shown before. Then c, which three runs have; h at ranks 8 and 3; d and g, both at 4 and
    # 7, by docno; e at 5 and 6.
    build(session, PoolRequest("rrf", {"per_topic": 9}), showing=Showing.SELECTION)
    assert shown(session)[:6] == list("abijkl")
    assert shown(session)[6:] == list("chdge")
    assert [version.showing for version in pools.pool_versions(session, SLUG)] == ["docno", "selection"]


def test_only_the_runs_that_teams_want_pooled_first(session: Session) -> None:
    letters(session)
    runs.change_run(session, SLUG, "beta", details=RunDetails(priority=2), at=NOW)
    build(session, PoolRequest("depth", {"depth": 1}, priority=1))
    assert pooled(session) == {("1", "a"), ("1", "k"), ("2", "x"), ("2", "z")}
    [version] = pools.pool_versions(session, SLUG)
    assert version.parameters == {"depth": 1, "runs": ["alpha", "gamma"], "priority": 1}
    with pytest.raises(InvalidValueError, match="A priority is a number from 1, not 0"):
        build(session, PoolRequest("depth", {"depth": 1}, priority=0))


def test_a_team_contributes_at_most_so_many_runs_by_priority(session: Session) -> None:
    news(session)
    topic_file(session)
    for tag, team in (("r1", "red"), ("r2", "red"), ("r3", "red"), ("b1", "blue"), ("x", None), ("y", None)):
        run(session, tag, {"1": [tag]}, team=team)
    for tag, priority in (("r1", 3), ("r2", 2)):
        runs.change_run(session, SLUG, tag, details=RunDetails(priority=priority), at=NOW)
    build(session, PoolRequest("depth", {"depth": 1}, per_team=1))
    build(session, PoolRequest("depth", {"depth": 1}, per_team=2))
    first, second = (version.parameters for version in pools.pool_versions(session, SLUG))
    assert first == {"depth": 1, "runs": ["b1", "r3", "x", "y"], "per_team": 1}
    assert second["runs"] == ["b1", "r2", "r3", "x", "y"]
    with pytest.raises(InvalidValueError, match="The runs per team are a number from 1, not 0"):
        build(session, PoolRequest("depth", {"depth": 1}, per_team=0))


def test_a_run_may_have_a_depth_of_its_own(session: Session) -> None:
    letters(session)
    build(session, PoolRequest("depth", {"depth": 1}, tags=["alpha", "gamma"], depth_of={"gamma": 3}))
    assert pooled(session) == {("1", docno) for docno in "aklm"} | {("2", docno) for docno in "xzwv"}
    [version] = pools.pool_versions(session, SLUG)
    assert version.parameters == {"depth": 1, "runs": ["alpha", "gamma"], "depth_of": {"gamma": 3}}
    assert set(session.scalars(select(PoolRun.depth))) == {1, 3}
    with pytest.raises(InvalidValueError, match="A depth is given for “beta”, which is no run of this pool"):
        build(session, PoolRequest("depth", {"depth": 1}, tags=["alpha"], depth_of={"beta": 3}))


@pytest.mark.parametrize("name", SAID)
def test_withdrawn_runs_add_nothing(session: Session, name: str) -> None:
    letters(session)
    for tag in ("alpha", "beta", "gamma"):
        runs.withdraw_run(session, SLUG, tag, at=NOW)
    with pytest.raises(ConflictError, match="no run to pool"):
        build(session, request(name))
    with pytest.raises(ConflictError, match="The run “beta” is withdrawn, so it is not pooled"):
        build(session, PoolRequest(name, SAID[name], tags=["beta"]))
    assert pooled(session) == set()
    runs.restore_run(session, SLUG, "beta", at=NOW)
    build(session, request(name))
    assert pooled(session) <= {("1", docno) for docno in "abcdefghij"}


def test_what_a_withdrawn_run_gave_stays_marked(session: Session) -> None:
    letters(session)
    pool(session, depth=3)
    runs.withdraw_run(session, SLUG, "gamma", at=NOW)
    assert not pool(session, depth=3).is_new
    by_tag = {row.tag: (row.team, row.state, row.items, row.only) for row in pools.runs_in_pool(session, SLUG)}
    # Nobody else has z among its first three but alpha.
    assert by_tag["gamma"] == ("blue", "withdrawn", 6, 5)
    assert by_tag["alpha"] == ("red", "in force", 6, 5)


def test_a_corrected_run_is_pooled_in_place_of_the_older_one(session: Session) -> None:
    letters(session)
    pool(session, depth=1)
    sender = Sender("red", organises=True, replaces=True)
    file = InputFile("beta.run", run_text("beta", {"1": ["q", "a"]}))
    stored(session, run_upload.check_runs(session, SLUG, [file], sender=sender, unpacked_limit=LIMIT), team="red")
    pool(session, depth=1)
    assert ("1", "q") in pooled(session)
    assert [(row.state, row.items) for row in pools.runs_in_pool(session, SLUG) if row.tag == "beta"] == [
        ("replaced", 1),
        ("in force", 1),
    ]


def test_drafts_and_dropped_topics_are_not_pooled(session: Session) -> None:
    letters(session)
    session.scalars(select(Topic).where(Topic.number == "2")).one().state = "dropped"
    summary = pool(session, depth=1)
    assert [topic.number for topic in summary.topics] == ["1"]


def test_a_choice_is_not_stored_when_a_run_was_withdrawn_meanwhile(session: Session) -> None:
    letters(session)
    choice = pool_building.choose_pool(session, SLUG, request("depth"))
    runs.withdraw_run(session, SLUG, "beta", at=NOW)
    with pytest.raises(ConflictError, match="Runs or topics changed"):
        pool_building.store_pool(session, SLUG, choice, built_by_id=None, built_at=NOW)


def test_a_pool_that_grew_since_the_choice_gets_only_what_it_lacks(session: Session) -> None:
    letters(session)
    choice = pool_building.choose_pool(session, SLUG, request("depth"))
    first = pool(session, depth=1)
    labels(session, "jo", "1 0 outside 1\n", add_to_pool=True)
    store = partial(pool_building.store_pool, session, SLUG, built_by_id=None, built_at=NOW)
    known = pools.pooled_docnos(session, SLUG)
    summary = store(choice)
    assert (first.version, summary.version) == (1, 3)
    assert summary.already_pooled == first.added
    new = pools.pooled_docnos(session, SLUG) - known
    assert len(new) == summary.added == sum(topic.chosen.documents.size for topic in choice.topics) - first.added
    again = store(choice)
    assert (again.version, again.added, again.is_new) == (3, 0, False)


def test_an_unknown_run_is_named(session: Session) -> None:
    letters(session)
    with pytest.raises(NotFoundError, match="There is no run “delta, epsilon” in this collection"):
        build(session, PoolRequest("depth", {"depth": 1}, tags=["epsilon", "alpha", "delta"]))


def test_the_pool_is_exported_in_an_order_that_stays_and_as_it_was(session: Session) -> None:
    news(session)
    topic_file(session, "10\tten\n2\ttwo\n")
    run(session, "alpha", {"10": ["d9", "d10"], "2": ["B", "a"]})
    pool(session, depth=1)
    pool(session, depth=2)
    assert pools.export_pool(session, SLUG) == b"2 B\n2 a\n10 d10\n10 d9\n"
    assert pools.export_pool(session, SLUG, version=1) == b"2 B\n10 d9\n"
    with pytest.raises(NotFoundError, match="There is no version 3 of the pool"):
        pools.export_pool(session, SLUG, version=3)


def test_who_built_a_version_is_told(session: Session) -> None:
    letters(session)
    ola = member(session, "ola")
    pool_building.build_pool(session, SLUG, request("depth"), built_by_id=ola, built_at=NOW)
    assert [version.built_by for version in pools.pool_versions(session, SLUG)] == ["ola"]


DOCNOS = [f"d{number:02}" for number in range(12)]
LISTS = st.lists(st.lists(st.sampled_from(DOCNOS), unique=True, min_size=1, max_size=9), min_size=1, max_size=4)


def fill(session: Session, slug: str, lists: Sequence[tuple[str, Sequence[str]]]) -> None:
    news(session, slug)
    topic_file(session, "1\tone\n", slug=slug)
    for tag, ranking in lists:
        run(session, tag, {"1": ranking}, slug=slug)


@pytest.mark.parametrize("name", SAID)
@given(lists=LISTS, seed=st.integers(0, 9))
@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_seed_gives_the_same_pool_in_whatever_order_runs_were_uploaded(
    sqlite_database: Database, name: str, lists: list[list[str]], seed: int
) -> None:
    sent = [(f"r{index}", ranking) for index, ranking in enumerate(lists)]
    with undone(sqlite_database) as session:
        for slug, order in (("up", sent), ("down", sent[::-1])):
            fill(session, slug, order)
            build(session, request(name), slug=slug, seed=seed)
        assert pooled(session, "up") == pooled(session, "down")
        assert priorities(session, "up") == priorities(session, "down")
        assert without_reason(session) == 0
        assert not build(session, request(name), slug="up", seed=seed).is_new
        session.rollback()


def priorities(session: Session, slug: str) -> dict[str, int]:
    rows = session.execute(
        select(Document.docno, PoolItem.priority)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .join(Collection, Collection.id == Document.collection_id)
        .where(Collection.slug == slug)
    )
    return {docno: priority for docno, priority in rows}


@pytest.mark.parametrize("name", [name for name in SAID if name != "stratified"])
@given(lists=LISTS, amount=st.integers(1, 6))
@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_deeper_pool_contains_the_shallower(
    sqlite_database: Database, name: str, lists: list[list[str]], amount: int
) -> None:
    parameter = "depth" if name == "depth" else "start_depth" if name in ADAPTIVE else "budget"
    with undone(sqlite_database) as session:
        for slug, more in (("shallow", 0), ("deep", 1)):
            fill(session, slug, [(f"r{index}", ranking) for index, ranking in enumerate(lists)])
            build(session, PoolRequest(name, {**SAID[name], parameter: amount + more}), slug=slug)
        assert pooled(session, "shallow") <= pooled(session, "deep")
        session.rollback()


@pytest.mark.parametrize("name", SAID)
@given(lists=LISTS, gone=st.lists(st.sampled_from(DOCNOS), unique=True, min_size=1))
@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_withdrawn_run_changes_nothing_of_a_pool(
    sqlite_database: Database, name: str, lists: list[list[str]], gone: list[str]
) -> None:
    sent = [(f"r{index}", ranking) for index, ranking in enumerate(lists)]
    with undone(sqlite_database) as session:
        fill(session, "without", sent)
        fill(session, "with", [*sent, ("gone", gone)])
        runs.withdraw_run(session, "with", "gone", at=NOW)
        for slug in ("without", "with"):
            build(session, request(name), slug=slug)
        assert pooled(session, "with") == pooled(session, "without")
        session.rollback()
