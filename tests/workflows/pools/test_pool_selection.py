"""Adaptive pools at work: judges draw, strategies choose from what they said, and every choice can be replayed."""

import io
import random
import threading
from datetime import timedelta

import pytest
from adaptive import FIXTURE, AdaptiveJudge, adaptive_news, chosen
from build import NOW, SLUG, build, labels, member, news, pool, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.pooling import pool_selection as pool_selection_of_topics
from annotator.storage import (
    Contribution,
    Database,
    Judgement,
    Pool,
    PoolItem,
    Run,
    SelectionEvent,
    Showing,
    Topic,
    TopicState,
)
from annotator.storage.judging.adaptive_choices import items_of_later_versions
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections import collection
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.documents import search_adding
from annotator.workflows.judging import judging, recording
from annotator.workflows.pools import pool_selection, pools
from annotator.workflows.pools.pool_replay import Difference, replay_choices
from annotator.workflows.pools.pool_selection import Memory
from annotator.workflows.pools.pools import selection_progress
from annotator.workflows.runs.runs import restore_run, withdraw_run


def differences(database: Database, version: int | None = None) -> tuple[Difference, ...]:
    with database.reading() as session:
        return replay_choices(session, SLUG, version=version).differences


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("mtf", "abcghkldijmenfo"),
        ("maxmean", "abcghikldmjenfo"),
        ("maxmean-ns", "abcghkldefijmno"),
        ("hedge", "bacghidjeklmfno"),
    ],
)
def test_with_one_document_at_a_time_the_fixture_is_chosen_in_its_order(
    database: Database, name: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_selection, "ENOUGH_TO_DRAW", 1)
    jo, _ = adaptive_news(database, name, {"budget": 15, "start_depth": 0, "ties": "first-run"})
    assert "".join(AdaptiveJudge(database, jo).work()) == order
    with database.reading() as session:
        assert chosen(session) == order
    assert differences(database) == ()


def test_judges_get_the_start_and_then_as_many_choices_as_the_budget_has(database: Database) -> None:
    jo, _ = adaptive_news(database, "maxmean", {"budget": 7, "start_depth": 1})
    with database.reading() as session:
        # The first of each run.
        assert session.scalar(select(func.count()).select_from(PoolItem)) == 3
    shown = AdaptiveJudge(database, jo).work()
    assert len(set(shown)) == len(shown) == 3 + 7
    with database.reading() as session:
        assert len(chosen(session)) == 7
        assert set(shown) == {"a", "b", "k", *chosen(session)}
    assert differences(database) == ()


def test_a_choice_is_kept_with_its_reason_and_the_runs_that_have_it(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 1, "start_depth": 1, "ties": "first-run"})
    AdaptiveJudge(database, jo).next()
    with database.reading() as session:
        event = session.scalars(select(SelectionEvent)).one()
        tags = {run.id: run.tag for run in session.scalars(select(Run))}
        found = session.scalars(select(Contribution).where(Contribution.pool_item_id == event.pool_item_id)).all()
        # Nothing is judged yet, a and b are out: A goes on with c, which no other run has.
        assert {**event.reason, "run": tags[event.reason["run"]]} == {
            "run": "A", "rank": 3, "misses": 0, "relevant_from": 1, "runs_left_out": [],
        }  # fmt: skip
        assert (chosen(session), event.step, event.seen_judgement_id, event.chosen_at) == ("c", 1, None, NOW)
        assert [(tags[one.run_id or 0], one.rank) for one in found] == [("A", 3)]


def test_when_a_document_is_judged_its_choice_lags_behind_by_no_more_than_eight_labels(database: Database) -> None:
    lists = {"r": {"1": [f"{letter}{number}" for letter in "abcdef" for number in range(9)]}}
    jo, _ = adaptive_news(database, "mtf", {"budget": 40, "start_depth": 1}, lists)
    judge = AdaptiveJudge(database, jo, lambda _: 1)
    assert len(judge.work()) == 41
    with database.reading() as session:
        rows = session.execute(
            select(Judgement.id, SelectionEvent.seen_judgement_id).join(
                SelectionEvent, SelectionEvent.pool_item_id == Judgement.pool_item_id
            )
        ).all()
    # The labels said since the choice and before this one: jo is alone, so that ids count them.
    lags = [id_ - 1 - (seen or 0) for id_, seen in rows]
    assert len(lags) == 40
    assert max(lags) == 8


@pytest.mark.parametrize("strategy", ["mtf", "maxmean-ns"])
def test_choices_with_random_ties_can_be_replayed_and_hang_on_the_seed(database: Database, strategy: str) -> None:
    said: dict[str, str | int] = {"budget": 15, "start_depth": 0, "ties": "random"}
    jo, _ = adaptive_news(database, strategy, said)
    AdaptiveJudge(database, jo).work(most=12)
    assert differences(database) == ()
    orders = set()
    for seed in range(5):
        with database.transaction() as session:
            session.scalars(select(Pool)).one().seed = seed
        orders.add(tuple(one.docno_replayed for one in differences(database)))
    assert len(orders) > 1


def test_a_pool_by_hedge_of_before_weights_were_rounded_is_replayed_as_it_was_built(database: Database) -> None:
    jo, _ = adaptive_news(database, "hedge", {"budget": 15, "start_depth": 0})
    with database.transaction() as session:
        pool = session.scalars(select(Pool)).one()
        assert pool.parameters["decimals"] == 9
        pool.parameters = {name: value for name, value in pool.parameters.items() if name != "decimals"}
    AdaptiveJudge(database, jo).work()
    assert differences(database) == ()


def test_another_seed_begins_anew_where_ties_are_random(database: Database) -> None:
    said: dict[str, str | int] = {"budget": 5, "start_depth": 0}
    adaptive_news(database, "maxmean-ns", said)
    with database.transaction() as session:
        assert build(session, PoolRequest("maxmean-ns", said)).version == 1
        assert build(session, PoolRequest("maxmean-ns", said), seed=7).version == 2
        assert build(session, PoolRequest("maxmean-ns", {**said, "ties": "rrf"})).version == 3
        assert build(session, PoolRequest("maxmean-ns", {**said, "ties": "rrf"}), seed=8).version == 3


@pytest.mark.parametrize("strategy", ["mtf", "maxmean", "maxmean-ns"])
def test_several_judges_a_change_of_mind_and_what_others_pool_can_be_replayed(
    database: Database, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_selection, "ENOUGH_TO_DRAW", 2)
    said: dict[str, str | int] = {"budget": 13, "start_depth": 0}
    if strategy == "maxmean":
        said["update"] = "pulled"
    jo, kim = adaptive_news(database, strategy, said, judgements_wanted=2)
    random_grade = random.Random(1)  # noqa: S311 - a test's dice
    judges = [AdaptiveJudge(database, id_, lambda _: random_grade.choice([None, 0, 1, 2])) for id_ in (jo, kim)]
    assert len(judges[0].work(most=3)) == 3
    first = judges[1].next()
    assert first is not None
    for grade in (1, 0):
        judges[1].judge(first, grade)
    with database.transaction() as session:
        search_adding.add_found(session, SLUG, topic="1", docnos=["o"], query="Text", actor_id=None, at=NOW)
        labels(session, "nist", "1 0 o 2\n1 0 n 0\n", add_to_pool=True)
        collection.change_collection(session, SLUG, CollectionChange(relevant_from=2))
    for judge in judges:
        judge.work(most=4)
    with database.transaction() as session:
        withdraw_run(session, SLUG, "B", at=NOW)
    for judge in judges:
        judge.work()
    with database.transaction() as session:
        restore_run(session, SLUG, "B", at=NOW)
        # All but n and o, which others pooled.
        assert set(chosen(session)) <= set("abcdefghijklm")
        known = select(func.count(SelectionEvent.seen_judgement_id.distinct()))
        assert (session.scalar(known) or 0) >= 4
    assert differences(database) == ()


def test_a_choice_that_does_not_follow_is_told(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 2, "start_depth": 1, "ties": "first-run"})
    AdaptiveJudge(database, jo).next()
    with database.transaction() as session:
        # While a and b are out nothing speaks against A.
        assert chosen(session) == "cd"
        other = session.scalars(select(SelectionEvent).order_by(SelectionEvent.step.desc()).limit(1)).one()
        c_run = session.scalars(select(Run.id).where(Run.tag == "C")).one()
        other.reason = {**other.reason, "run": c_run}
    assert differences(database) == (Difference("1", 2, "d", "C", "d", "A"),)


def test_a_withdrawn_run_chooses_nothing_more(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 15, "start_depth": 1})
    with database.transaction() as session:
        withdraw_run(session, SLUG, "C", at=NOW)
    assert set(AdaptiveJudge(database, jo).work()) == set(FIXTURE["A"]) | set(FIXTURE["B"]) | {"k"}
    with database.reading() as session:
        ids = {run.tag: run.id for run in session.scalars(select(Run))}
        events = session.scalars(select(SelectionEvent)).all()
        assert {event.reason["run"] for event in events} == {ids["A"], ids["B"]}
        assert all(event.reason["runs_left_out"] == [ids["C"]] for event in events)
    assert differences(database) == ()


def test_what_is_remembered_makes_no_difference(database: Database) -> None:
    jo, kim = adaptive_news(database, "hedge")
    remembering = AdaptiveJudge(database, jo)
    remembering.work(most=6)
    with database.reading() as session:
        assert pool_selection.choose_next(session, SLUG, "1", kim, memory=remembering.memory) == (
            pool_selection.choose_next(session, SLUG, "1", kim, memory=Memory())
        )


def test_no_more_topics_are_remembered_than_fit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_selection_of_topics, "MOST_TOPICS_IN_MEMORY", 1)
    jo, _ = adaptive_news(database, runs={"r": {"1": ["a", "b", "c"], "2": ["d", "e", "f"]}})
    judge = AdaptiveJudge(database, jo)
    assert [sorted(judge.work(number)) for number in ("1", "2", "1")] == [["a", "b", "c"], ["d", "e", "f"], []]
    assert len(judge.memory._topics) == 1  # noqa: SLF001 - the bound is what is tested


def test_a_budget_in_total_is_shared_by_the_topics_and_a_dropped_one_leaves_its_rest(database: Database) -> None:
    lists = {"r": {"1": list("abcdefgh"), "2": list("hgfedcba")}}
    jo, _ = adaptive_news(database, "mtf", {"budget": 10, "start_depth": 1}, lists)
    judge = AdaptiveJudge(database, jo)
    with database.reading() as session:
        assert pool_selection.choices_left(session, SLUG, memory=Memory()) == {"1": 5, "2": 5}
    assert len(judge.work("1", most=2)) == 2
    with database.transaction() as session:
        # One waited, so that seven were wanted, of which it has five.
        assert chosen(session, "1") == "bcdef"
        session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    with database.reading() as session:
        assert pool_selection.choices_left(session, SLUG, memory=judge.memory) == {"2": 5}
    assert len(judge.work("2")) == 1 + 5
    with database.transaction() as session:
        session.execute(update(Topic).values(state=TopicState.ACCEPTED))
    assert differences(database) == ()


def test_the_rest_of_a_topic_dropped_untouched_goes_to_the_others(database: Database) -> None:
    lists = {"r": {"1": list("abcdefgh"), "2": list("hgfedcba")}}
    adaptive_news(database, "mtf", {"budget": 6, "start_depth": 1}, lists)
    with database.transaction() as session:
        session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
        assert pool_selection.choices_left(session, SLUG, memory=Memory()) == {"2": 6}


def test_a_share_that_shrank_below_what_was_made_of_it_leaves_others_only_the_rest(database: Database) -> None:
    lists = {"r": {"1": list("abcdefgh"), "2": list("hgfedcba")}}
    jo, _ = adaptive_news(database, "mtf", {"budget": 6, "start_depth": 1}, lists)
    with database.transaction() as session:
        session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    judge = AdaptiveJudge(database, jo)
    assert len(judge.work("2")) == 1 + 6
    with database.transaction() as session:
        session.execute(update(Topic).values(state=TopicState.ACCEPTED))
        assert pool_selection.choices_left(session, SLUG, memory=Memory()) == {"1": 0, "2": 0}
    assert judge.work("1") == ["a"]


def test_what_others_pool_is_no_longer_to_be_chosen(database: Database) -> None:
    adaptive_news(database, "mtf", {"per_topic": 90, "start_depth": 1})
    memory = Memory()
    with database.transaction() as session:
        assert pool_selection.choices_left(session, SLUG, memory=memory) == {"1": 12, "2": 0}
        labels(session, "nist", "1 0 o 2\n1 0 n 0\n", add_to_pool=True)
        assert pool_selection.choices_left(session, SLUG, memory=memory) == {"1": 10, "2": 0}


def test_topics_wait_for_whoever_can_still_choose_there(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 4, "start_depth": 0})
    with database.transaction() as session:
        left = pool_selection.choices_left(session, SLUG, memory=Memory())
        [work] = judging.topics_to_judge(session, SLUG, jo, now=NOW, to_come=left)
        assert (work.number, work.judged, work.waiting) == ("1", 0, 4)


def test_nothing_is_chosen_of_other_pools_topics_and_collections(database: Database) -> None:
    jo, kim = adaptive_news(database)
    with database.transaction() as session:
        news(session, "other")
        topic_file(session, slug="other")
        run(session, "r", {"1": ["a", "b"]}, slug="other")
        pool(session, slug="other")
        assert pool_selection.choose_next(session, "other", "1", jo, memory=Memory()) is None
        assert pool_selection.choices_left(session, "other", memory=Memory()) == {}
        assert pool_selection.choose_next(session, SLUG, "2", jo, memory=Memory()) is None
        assert pool_selection.choose_next(session, SLUG, "nine", jo, memory=Memory()) is None
        chosen_now = pool_selection.choose_next(session, SLUG, "1", kim, memory=Memory())
        assert chosen_now is not None
        collection.close_collection(session, SLUG)
        assert pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory()) is None
        assert pool_selection.add_choices(session, SLUG, chosen_now, at=NOW) == 0


def test_choices_made_for_a_topic_dropped_meanwhile_are_not_added(database: Database) -> None:
    jo, _ = adaptive_news(database)
    with database.transaction() as session:
        chosen_now = pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory())
        assert chosen_now is not None
        session.execute(update(Topic).values(state=TopicState.DROPPED))
        assert pool_selection.add_choices(session, SLUG, chosen_now, at=NOW) == 0


def test_the_newest_adaptive_version_chooses_and_others_only_add(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 4, "start_depth": 1})
    judge = AdaptiveJudge(database, jo)
    judge.work(most=4)
    with database.transaction() as session:
        first = chosen(session)
        build(session, PoolRequest("hedge", {"budget": 2, "start_depth": 1}))
        build(session, PoolRequest("depth", {"depth": 2}))
    judge.work()
    with database.reading() as session:
        assert chosen(session).startswith(first)
        made = dict(session.execute(select(Pool.strategy, func.count()).join(SelectionEvent).group_by(Pool.id)).all())
        assert made == {"mtf": len(first), "hedge": 2}
    assert (differences(database, 1), differences(database, 2)) == ((), ())


@pytest.mark.parametrize("showing", list(Showing))
def test_choices_are_shown_in_the_order_that_the_pool_says(database: Database, showing: Showing) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        for tag, docnos in FIXTURE.items():
            run(session, tag, {"1": list(docnos)})
        build(session, PoolRequest("mtf", {"budget": 8, "start_depth": 1, "ties": "first-run"}), showing=showing)
        jo = member(session, "jo")
    shown = "".join(AdaptiveJudge(database, jo).work())
    with database.reading() as session:
        picked = chosen(session)
    # Five are chosen when three wait, and then as many as are drawn at once.
    assert len(picked) == 8
    if showing is Showing.RANDOM:
        assert sorted(shown) == sorted({"a", "b", "k", *picked})
    elif showing is Showing.DOCNO:
        assert shown == "abk" + "".join(sorted(picked[:5])) + "".join(sorted(picked[5:]))
    else:
        assert shown == "abk" + picked


def test_many_judges_at_once_get_different_documents_and_no_more_than_the_budget(database: Database) -> None:
    adaptive_news(database, "maxmean", {"budget": 10, "start_depth": 0})
    with database.transaction() as session:
        ids = [member(session, f"judge{number}") for number in range(4)]
    shown: list[str] = []
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(ids))

    def work(judge: AdaptiveJudge) -> None:
        barrier.wait()
        try:
            shown.extend(judge.work())
        except BaseException as error:  # noqa: BLE001 - returned to the test, in the thread it would be lost
            errors.append(error)

    # Each with a memory of its own, as judges served by different processes.
    threads = [threading.Thread(target=work, args=(AdaptiveJudge(database, id_),)) for id_ in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == []
    assert len(shown) == len(set(shown)) == 10
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(PoolItem)) == 10
        steps = session.scalars(select(SelectionEvent.step).order_by(SelectionEvent.step)).all()
        assert list(steps) == list(range(1, 11))
    assert differences(database) == ()


def test_two_choices_that_did_not_know_of_each_other_are_not_both_added(database: Database) -> None:
    jo, kim = adaptive_news(database)
    with database.reading() as session:
        first, second = (pool_selection.choose_next(session, SLUG, "1", judge, memory=Memory()) for judge in (jo, kim))
    assert first is not None
    assert second is not None
    with database.transaction() as session:
        assert pool_selection.add_choices(session, SLUG, first, at=NOW) == 5
    with database.transaction() as session:
        assert pool_selection.add_choices(session, SLUG, second, at=NOW) == 0


@pytest.mark.parametrize("change", ["withdraw", "relevant"])
def test_a_choice_is_not_added_when_runs_or_what_is_relevant_changed_meanwhile(database: Database, change: str) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 15, "start_depth": 1})
    with database.reading() as session:
        chosen_now = pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory())
    assert chosen_now is not None
    with database.transaction() as session:
        if change == "withdraw":
            withdraw_run(session, SLUG, "A", at=NOW)
        else:
            collection.change_collection(session, SLUG, CollectionChange(relevant_from=2))
    with database.transaction() as session:
        assert pool_selection.add_choices(session, SLUG, chosen_now, at=NOW) == 0
    # Whoever needs some chooses again, by what holds now.
    assert AdaptiveJudge(database, jo).next() is not None
    with database.transaction() as session:
        events = session.scalars(select(SelectionEvent)).all()
        a_run = session.scalars(select(Run.id).where(Run.tag == "A")).one()
        assert events
        if change == "withdraw":
            assert a_run not in {event.reason["run"] for event in events}
        else:
            assert {event.reason["relevant_from"] for event in events} == {2}


def test_a_choice_is_not_added_when_a_run_is_withdrawn_while_it_waits(postgres_database: Database) -> None:
    database = postgres_database
    jo, _ = adaptive_news(database, "mtf", {"budget": 15, "start_depth": 0})
    with database.reading() as session:
        chosen_now = pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory())
    assert chosen_now is not None
    assert chosen_now.is_urgent
    added: list[int] = []

    def add() -> None:
        with database.transaction() as adding:
            added.append(pool_selection.add_choices(adding, SLUG, chosen_now, at=NOW))

    with database.transaction() as organiser:
        withdraw_run(organiser, SLUG, "A", at=NOW)
        organiser.flush()
        thread = threading.Thread(target=add)
        thread.start()
        thread.join(timeout=0.3)
        assert thread.is_alive()
    thread.join(timeout=60)
    assert added == [0]


@pytest.mark.parametrize(("counted", "granted"), [("budget", 8), ("per_topic", 4)])
def test_building_again_for_a_late_run_grants_no_new_budget(database: Database, counted: str, granted: int) -> None:
    lists = {"r": {"1": list("abcdefgh"), "2": list("hgfedcba")}}
    jo, _ = adaptive_news(database, "mtf", {counted: granted, "start_depth": 1}, lists)
    judge = AdaptiveJudge(database, jo)
    assert len(judge.work("1", most=1)) == 1
    with database.transaction() as session:
        made = len(chosen(session, "1"))
        assert made == 4
        run(session, "late", {"1": list("onmlkj"), "2": list("jklmno")})
        assert build(session, PoolRequest("mtf", {counted: granted, "start_depth": 1})).version == 2
        left = pool_selection.choices_left(session, SLUG, memory=Memory())
    assert left == {"1": 4 - made, "2": 4}
    for number in ("1", "2"):
        judge.work(number)
    with database.transaction() as session:
        assert (len(chosen(session, "1")), len(chosen(session, "2"))) == (4, 4)
        build(session, PoolRequest("mtf", {counted: granted + 2, "start_depth": 1}))
        further = pool_selection.choices_left(session, SLUG, memory=Memory())
        assert further == ({"1": 1, "2": 1} if counted == "budget" else {"1": 2, "2": 2})
        progress = pools.selection_progress(session, SLUG)
        assert progress is not None
        assert (progress.version, progress.made) == (3, 8)


def test_what_is_left_to_choose_is_remembered_and_only_new_items_are_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    adaptive_news(database, "mtf", {"per_topic": 90, "start_depth": 1})
    memory = Memory()
    read: list[int] = []

    def counted(session: Session, version: Pool, *, after: int) -> tuple[dict[int, list[int]], int]:
        found, last = items_of_later_versions(session, version, after=after)
        read.append(sum(map(len, found.values())))
        return found, last

    monkeypatch.setattr(pool_selection, "items_of_later_versions", counted)
    left = []
    for name, docno in (("one", "o"), ("two", "n"), ("three", "n")):
        with database.transaction() as session:
            labels(session, name, f"1 0 {docno} 1\n", name=name, add_to_pool=True)
            left += [pool_selection.choices_left(session, SLUG, memory=each)["1"] for each in (memory, Memory())]
    assert left == [11, 11, 10, 10, 10, 10]
    # What is remembered reads o, n and nothing; what remembers nothing reads all of them each time.
    assert read == [1, 1, 1, 2, 0, 2]


def test_a_choice_is_not_added_when_an_older_judgement_was_not_stored_yet(postgres_database: Database) -> None:
    database = postgres_database
    jo, kim = adaptive_news(database, judgements_wanted=2)
    [slow, quick] = [AdaptiveJudge(database, id_).next() for id_ in (jo, kim)]
    assert slow is not None
    assert quick is not None
    added: list[int] = []
    with database.transaction() as session:
        recording.record_judgement(session, SLUG, slow.assignment_id, jo, Decision(1), client_id="slow", judged_at=NOW)
        session.flush()
        AdaptiveJudge(database, kim).judge(quick, 1)
        with database.transaction() as other:
            return_assignments(other, kim)
            lou = member(other, "lou")
            other.execute(update(PoolItem).values(judgements_wanted=0))
        with database.reading() as reading:
            # It knows of the quick one, whose id is greater.
            chosen_now = pool_selection.choose_next(reading, SLUG, "1", lou, memory=Memory())
            assert chosen_now is not None
            assert chosen_now.knowledge.judgements == 1

        def add() -> None:
            with database.transaction() as adding:
                added.append(pool_selection.add_choices(adding, SLUG, chosen_now, at=NOW))

        thread = threading.Thread(target=add)
        thread.start()
        thread.join(timeout=0.3)
        # It waits for what is being said.
        assert thread.is_alive()
    thread.join(timeout=60)
    assert added == [0]


def test_a_choice_that_is_not_urgent_does_not_wait_for_an_organiser(postgres_database: Database) -> None:
    database = postgres_database
    jo, _ = adaptive_news(database)
    with database.reading() as session:
        chosen_now = pool_selection.choose_next(session, SLUG, "1", jo, memory=Memory())
    assert chosen_now is not None
    assert not chosen_now.is_urgent
    with database.transaction() as organiser:
        collection.change_collection(organiser, SLUG, CollectionChange(title="Other"))
        organiser.flush()
        with database.transaction() as session:
            assert pool_selection.add_choices(session, SLUG, chosen_now, at=NOW) == 0


def test_a_lease_that_ran_out_is_no_reason_to_choose(database: Database) -> None:
    jo, kim = adaptive_news(database, "mtf", {"budget": 12, "start_depth": 1})
    AdaptiveJudge(database, jo).next()
    later = NOW + timedelta(hours=1)
    with database.transaction() as session:
        before = chosen(session)
        assert judging.next_task(session, SLUG, "1", kim, now=later) is not None
        assert chosen(session) == before


@pytest.mark.parametrize(
    ("version", "error", "sentence"),
    [
        (9, NotFoundError, "There is no version 9 of the pool."),
        (
            1,
            ConflictError,
            "Version 1 was built by the strategy depth, which neither chooses by judgements nor draws a sample",
        ),
        (None, NotFoundError, "No version of this pool was built by an adaptive strategy."),
    ],
)
def test_only_adaptive_versions_are_replayed(
    database: Database, version: int | None, error: type[Exception], sentence: str
) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "r", {"1": ["a"]})
        pool(session)
        with pytest.raises(error, match=sentence):
            replay_choices(session, SLUG, version=version)


def test_choices_of_an_imported_archive_name_its_runs_and_are_repeated(database: Database) -> None:
    jo, _ = adaptive_news(database, "maxmean", {"budget": 9, "start_depth": 1, "update": "pulled"})
    AdaptiveJudge(database, jo).work(most=4)
    with database.transaction() as session:
        withdraw_run(session, SLUG, "C", team=None, at=NOW)
    AdaptiveJudge(database, jo).work(most=4)
    stream = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with open_archive("news.zip", stream, limit=1 << 20) as bundle:
        import_archive(database, bundle, slug="again", at=NOW)
    with database.reading() as session:
        found = replay_choices(session, "again")
        progress = [selection_progress(session, slug) for slug in (SLUG, "again")]
    assert (found.choices, found.differences) == (8, ())
    assert progress[0] == progress[1]
