"""A pool that goes on until its stopping rule says stop: a worker asks the rule and records its decisions."""

import io
from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
from adaptive import AdaptiveJudge
from beginning import beginning
from build import NOW, SLUG, build, labels, member, news, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Database,
    Judgement,
    JudgingMode,
    Pool,
    SelectionEvent,
    StoppingDecision,
    Topic,
)
from annotator.storage.judging.leases import return_assignments
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.pools.stopping_decisions import stopped_topics
from annotator.worker.learning import Learning
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.documents import documents
from annotator.workflows.judging import recording
from annotator.workflows.pools import learning
from annotator.workflows.pools.pool_planning import foresee_growth, plan_pool
from annotator.workflows.pools.pool_replay import replay_choices
from annotator.workflows.pools.pool_selection import Memory, choices_left
from annotator.workflows.pools.pools import SelectionProgress, may_still_grow, selection_progress
from annotator.workflows.qrels.stopping import StoppingPart, StoppingRequest, stopping_report
from annotator.workflows.qrels.stopping_by_rule import DueDecision, RuleMemory, decide_by_rule, due_decisions
from annotator.workflows.qrels.stopping_decisions import decide_topic
from annotator.workflows.runs.runs import restore_run, withdraw_run

LIMIT = 10**6
ROW = 6
RULE = f"in-a-row(in_a_row={ROW})"
LATER = NOW + timedelta(hours=1)


def is_relevant(docno: str) -> int:
    return int(docno.startswith("s"))


def documents_file(session: Session, docnos: Sequence[str]) -> None:
    text = {0: "a striker scored twice", 1: "panels on roofs give solar power"}
    lines = "".join(f"{docno}\t\t{text[is_relevant(docno)]} in city{docno[1:]}\n" for docno in docnos)
    read = documents.read_documents([InputFile("documents.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)


@beginning
def solar_news(session: Session) -> None:
    """Two topics with eight relevant documents among forty; four more documents are in no run."""
    news(session)
    topic_file(session, "1\tsolar power\n2\tpanels on roofs\n")
    others = [f"o{number}" for number in range(32)]
    documents_file(session, [*(f"s{number}" for number in range(12)), *others])
    ranked = [*others[:12], *(f"s{number}" for number in range(8)), *others[12:]]
    run(session, "A", {"1": ranked, "2": ranked[:20]})
    run(session, "B", {"1": ranked[::-1]})


def ruled_pool(database: Database, rule: str = RULE, **said: str | int) -> AdaptiveJudge:
    """A judge of a pool by `cal` that goes on until a rule says stop."""
    with database.transaction() as session:
        solar_news(session)
        build(session, PoolRequest("cal", {"until": rule, "start_depth": 1, "batch": "1", **said}))
        return AdaptiveJudge(database, member(session, "jo"), is_relevant)


def worked(judge: AdaptiveJudge, number: str = "1", *, most: int = 60) -> list[str]:
    """Judge one document after the other while there are some, with a worker that does what is due."""
    worker = Learning(judge.database)
    shown: list[str] = []
    while len(shown) < most:
        while worker.step():
            pass
        task = judge.next(number)
        if task is None:
            break
        judge.judge(task, judge.grade_of(task.docno))
        shown.append(task.docno)
    return shown


def step(database: Database) -> None:
    worker = Learning(database)
    while worker.step():
        pass


def decisions(database: Database) -> list[tuple[str, bool, str, int | None]]:
    """Topic, whether it stops, rule, and the version whose rule decided."""
    with database.reading() as session:
        found = stopping_report(session, SLUG, StoppingRequest()).decisions
        return [(one.topic, one.row.stops, one.row.rule, one.row.version) for one in found]


def left(database: Database) -> dict[str, int]:
    with database.reading() as session:
        return dict(choices_left(session, SLUG, memory=Memory()))


def progress(database: Database, slug: str = SLUG) -> SelectionProgress:
    with database.reading() as session:
        found = selection_progress(session, slug)
    assert found is not None
    return found


def go_on(database: Database, number: str = "1") -> None:
    with database.transaction() as session:
        decide_topic(session, SLUG, number, stops=False, reason="too early", by_id=None, at=LATER)


def test_a_topic_gets_documents_until_the_rule_says_stop(database: Database) -> None:
    judge = ruled_pool(database)
    assert (progress(database).budget, progress(database).until) == (None, RULE)
    shown = worked(judge)
    assert sum(map(is_relevant, shown)) == 8
    # The judge held one more when the rule was met: it is still judged.
    assert not any(map(is_relevant, shown[-ROW - 1 :]))
    assert is_relevant(shown[-ROW - 2])
    assert len(shown) < 20
    assert decisions(database) == [("1", True, "in-a-row", 1)]
    with database.reading() as session:
        found = stopping_report(session, SLUG, StoppingRequest())
        [[topic, stops, counts, rule, reason, judged, relevant, *_]] = found.table(StoppingPart.DECISIONS)[1]
        row = session.scalars(select(StoppingDecision)).one()
    assert (topic, stops, counts, rule, judged, relevant) == ("1", True, True, "in-a-row", len(shown) - 1, 8)
    assert reason == f"{ROW} documents in a row were not relevant."
    assert (row.decided_by_id, found.until) == (None, RULE)
    assert found.table(StoppingPart.DECISIONS)[0][-2:] == ("version", "decided_at")
    assert left(database)["1"] == 0
    assert left(database)["2"] > 0
    assert (progress(database).stopped, progress(database).topics, progress(database).goes_on) == (1, 2, True)
    with database.reading() as session:
        assert may_still_grow(session, SLUG, version=1)
        assert replay_choices(session, SLUG).differences == ()
    worked(judge, "2")
    with database.reading() as session:
        assert not may_still_grow(session, SLUG, version=1)


def test_without_a_worker_documents_are_chosen_until_none_is_left(database: Database) -> None:
    judge = ruled_pool(database)
    assert len(judge.work("1")) == 40
    assert decisions(database) == []
    step(database)
    assert decisions(database) == [("1", True, "in-a-row", 1)]


def test_without_the_library_the_rule_is_asked_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ruled_pool(database)
    monkeypatch.setattr(learning, "can_learn", lambda: False)
    shown = worked(judge)
    assert ROW <= len(shown) < 20
    assert decisions(database) == [("1", True, "in-a-row", 1)]


def test_a_topic_that_an_organiser_goes_on_with_is_left_to_them(database: Database) -> None:
    judge = ruled_pool(database)
    before = len(worked(judge))
    go_on(database)
    step(database)
    assert [stops for _, stops, _, _ in decisions(database)] == [True, False]
    assert before + len(worked(judge)) == 40
    assert len(decisions(database)) == 2


def test_a_new_version_asks_its_rule_again_after_an_organiser_went_on(database: Database) -> None:
    judge = ruled_pool(database)
    worked(judge)
    go_on(database)
    with database.transaction() as session:
        build(session, PoolRequest("cal", {"until": "in-a-row(in_a_row=9)", "start_depth": 1, "batch": "1"}))
        newest = session.scalars(select(Pool).order_by(Pool.version.desc())).first()
        assert newest is not None
        newest.built_at = LATER + timedelta(hours=1)
    assert len(worked(judge)) == 2
    assert decisions(database)[-1] == ("1", True, "in-a-row", 2)


def test_a_new_version_with_another_rule_takes_up_topics_that_the_last_one_stopped(database: Database) -> None:
    judge = ruled_pool(database)
    worked(judge)
    with database.transaction() as session:
        build(session, PoolRequest("cal", {"until": "in-a-row(in_a_row=9)", "start_depth": 1, "batch": "1"}))
    assert len(worked(judge)) == 2
    assert [(stops, version) for _, stops, _, version in decisions(database)] == [(True, 1), (False, 2), (True, 2)]


def test_a_stop_by_an_organiser_is_not_taken_back(database: Database) -> None:
    judge = ruled_pool(database)
    judge.work(most=1)
    with database.transaction() as session:
        decide_topic(session, SLUG, "1", stops=True, reason="few hours", by_id=None, at=NOW)
    worked(judge)
    assert decisions(database) == [("1", True, "", None)]


def test_a_changed_judgement_takes_the_stop_back_and_another_stops_again(database: Database) -> None:
    judge = ruled_pool(database)
    shown = worked(judge)
    labels_of = {docno: is_relevant(docno) for docno in shown} | {shown[-4]: 1}
    with database.transaction() as session:
        labels(session, "jo", "".join(f"1 0 {docno} {grade}\n" for docno, grade in labels_of.items()))
    step(database)
    assert [(stops, version) for _, stops, _, version in decisions(database)] == [(True, 1), (False, 1)]
    with database.reading() as session:
        last = stopping_report(session, SLUG, StoppingRequest()).decisions[-1].row
    assert (last.reason, last.relevant) == (f"Documents in a row without a relevant one: 3 of {ROW}.", 9)
    assert left(database)["1"] > 0
    assert len(worked(judge)) == 3
    assert decisions(database)[-1] == ("1", True, "in-a-row", 1)


def test_a_judgement_that_was_given_back_does_not_count(database: Database) -> None:
    judge = ruled_pool(database)
    worked(judge)
    with database.reading() as session:
        last = session.scalars(select(Judgement).order_by(Judgement.id.desc()).limit(2)).all()
    for one in last:
        with database.transaction() as session:
            recording.record_judgement(
                *(session, SLUG, one.assignment_id, judge.id, None),
                client_id=uuid4().hex,
                judged_at=NOW,
                withdraws=one.client_id,
            )
    step(database)
    assert decisions(database)[-1] == ("1", False, "in-a-row", 1)


def test_several_judges_stop_a_topic_by_settled_grades(database: Database) -> None:
    judge = ruled_pool(database)
    with database.transaction() as session:
        session.execute(update(Collection).values(judgements_wanted=2))
        kim = AdaptiveJudge(database, member(session, "kim"), is_relevant)
    worker = Learning(database)
    shown: dict[int, list[str]] = {judge.id: [], kim.id: []}
    for turn in range(80):
        while worker.step():
            pass
        who = (judge, kim)[turn % 2]
        task = who.next()
        if task is None:
            continue
        who.judge(task, who.grade_of(task.docno))
        shown[who.id].append(task.docno)
    assert decisions(database) == [("1", True, "in-a-row", 1)]
    assert set(shown[judge.id]) | set(shown[kim.id]) < {f"{kind}{number}" for kind in "so" for number in range(40)}
    assert len(set(shown[judge.id]) | set(shown[kim.id])) < 30
    with database.reading() as session:
        assert replay_choices(session, SLUG).differences == ()


def test_owned_topics_stop_one_by_one(database: Database) -> None:
    judge = ruled_pool(database)
    with database.transaction() as session:
        kim = AdaptiveJudge(database, member(session, "kim"), is_relevant)
        change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
        for number, owner in (("1", judge), ("2", kim)):
            session.execute(update(Topic).where(Topic.number == number).values(owner_id=owner.id))
    worked(judge, "1")
    assert [topic for topic, _, _, _ in decisions(database)] == ["1"]
    assert kim.next("1") is None
    worked(kim, "2")
    assert [(topic, stops) for topic, stops, _, _ in decisions(database)] == [("1", True), ("2", True)]
    assert not progress(database).goes_on


def test_documents_that_wait_are_still_judged_and_returned_ones_too(database: Database) -> None:
    judge = ruled_pool(database, "in-a-row(in_a_row=2)", batch="grow")
    assert judge.next() is not None
    with database.transaction() as session:
        return_assignments(session, judge.id)
    shown = worked(judge)
    assert decisions(database)[0][1]
    assert len(shown) >= 2
    assert judge.next() is None


def test_a_restored_run_whose_documents_are_candidates_takes_a_complete_topic_up(database: Database) -> None:
    with database.transaction() as session:
        solar_news(session)
        run(session, "C", {"2": ["o30", "o31", "s9"]})
        build(session, PoolRequest("cal", {"until": "in-a-row(in_a_row=50)", "start_depth": 1, "batch": "1"}))
        judge = AdaptiveJudge(database, member(session, "jo"), is_relevant)
    with database.transaction() as session:
        withdraw_run(session, SLUG, "C", at=NOW, by_id=None)
    assert len(worked(judge, "2")) == 20 + 1  # one document of C was pooled at the beginning
    [(topic, stops, _, _)] = decisions(database)
    assert (topic, stops) == ("2", True)
    with database.transaction() as session:
        restore_run(session, SLUG, "C", at=NOW, by_id=None)
    step(database)
    assert decisions(database)[-1][:2] == ("2", False)
    assert len(worked(judge, "2")) == 2


@pytest.mark.parametrize("rule", ["target-set", "hypergeometric(target=0.9)", "autostop"])
def test_a_rule_that_needs_a_sample_is_refused_without_one(session: Session, rule: str) -> None:
    solar_news(session)
    request = PoolRequest("cal", {"until": rule, "start_depth": 1})
    for asked in (lambda: build(session, request), lambda: plan_pool(session, SLUG, request)):
        with pytest.raises(ConflictError, match="needs a random sample that is drawn before and judged first"):
            asked()
    build(session, PoolRequest("stratified", {"strata": "1-40:1"}), seed=3)
    with pytest.raises(ConflictError, match="needs a random sample"):
        build(session, request)


def test_a_target_set_has_one_stratum(session: Session) -> None:
    solar_news(session)
    build(session, PoolRequest("stratified", {"strata": "1-20:0.5, 21-40:0.4"}), seed=3)
    with pytest.raises(ConflictError, match="version 1 of the pool drew one in several strata"):
        build(session, PoolRequest("cal", {"until": "target-set", "start_depth": 0}))
    build(session, PoolRequest("cal", {"until": "hypergeometric", "start_depth": 0}))


def test_a_target_set_ends_a_topic_once_the_strategy_came_to_enough_of_it(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\tsolar power\n")
        docnos = [*(f"s{number}" for number in range(40)), *(f"o{number}" for number in range(60))]
        documents_file(session, docnos)
        run(session, "A", {"1": docnos[::-1]})
        build(session, PoolRequest("stratified", {"strata": "1-100:0.5"}), seed=3)
        judge = AdaptiveJudge(database, member(session, "jo"), is_relevant)
    sample = judge.work()
    assert sum(map(is_relevant, sample)) >= 14
    with database.transaction() as session:
        build(session, PoolRequest("cal", {"until": "target-set", "start_depth": 0, "batch": "1"}))
    shown = worked(judge)
    assert len(shown) < 50
    [(_, stops, rule, version)] = decisions(database)
    assert (stops, rule, version) == (True, "target-set", 2)
    with database.reading() as session:
        row = session.scalars(select(StoppingDecision)).one()
        found = sum(map(is_relevant, [*sample, *shown]))
    assert row.relevant == found
    assert found >= 0.8 * 40
    assert row.recall is not None
    assert row.recall_low is not None


def test_the_plan_shows_the_most_documents(session: Session) -> None:
    solar_news(session)
    plan = plan_pool(session, SLUG, PoolRequest("cal", {"until": "knee", "start_depth": 1}))
    assert (plan.grows, plan.until, plan.amounts, plan.asked) == (None, "knee", (60,), 0)
    assert plan.total.added == (60,)
    # Each run begins with a document of its own.
    assert plan.to_come == (57,)
    growth = foresee_growth(session, SLUG, PoolRequest("cal", {"until": "knee", "start_depth": 1}))
    assert (growth.documents, growth.to_come, growth.topics) == (60, 57, 2)
    corpus = plan_pool(session, SLUG, PoolRequest("cal", {"until": "knee", "candidates": "corpus"}))
    assert corpus.total.added == (88,)
    enough = plan_pool(session, SLUG, PoolRequest("cal", {"per_topic": 100, "candidates": "corpus"}))
    assert enough.total.added[enough.asked] == 88


def test_decisions_of_an_archive_name_its_version_and_its_rule_goes_on(database: Database) -> None:
    judge = ruled_pool(database)
    worked(judge)
    stream = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with open_archive("news.zip", stream, limit=LIMIT) as bundle:
        import_archive(database, bundle, slug="again", at=NOW)
    with database.transaction() as session:
        close_collection(session, SLUG)
        found = stopping_report(session, "again", StoppingRequest()).decisions
        assert [(one.topic, one.row.stops, one.row.version) for one in found] == [("1", True, 1)]
        assert replay_choices(session, "again").differences == ()
        kept = session.scalars(select(StoppingDecision).order_by(StoppingDecision.id)).all()
        assert kept[0].pool_id != kept[1].pool_id
    step(database)
    assert (progress(database, "again").stopped, progress(database, "again").until) == (1, RULE)
    with database.reading() as session:
        collection = session.scalars(select(Collection).where(Collection.slug == "again")).one()
        assert len(stopped_topics(session, collection.id)) == 1


def test_two_workers_record_one_decision(database: Database) -> None:
    judge = ruled_pool(database)
    judge.work(most=30)
    with database.reading() as session:
        due = due_decisions(session, RuleMemory())
        topic = session.scalar(select(Topic.id).where(Topic.number == "1"))
    assert due == [DueDecision(SLUG, topic or 0)]
    with database.transaction() as session:
        assert decide_by_rule(session, due[0], at=NOW) is not None
        assert decide_by_rule(session, due[0], at=NOW) is None
    assert len(decisions(database)) == 1


def test_nothing_is_asked_again_before_something_has_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ruled_pool(database)
    judge.work(most=3)
    memory = RuleMemory()
    with database.reading() as session:
        assert due_decisions(session, memory) == []
        assert len(memory.idle) == 2
        monkeypatch.setattr("annotator.workflows.qrels.stopping_by_rule.reviewed_topics", None)
        assert due_decisions(session, memory) == []


def test_a_dropped_topic_a_closed_collection_and_a_budget_are_not_asked(database: Database) -> None:
    judge = ruled_pool(database)
    judge.work(most=30)
    with database.reading() as session:
        [due] = due_decisions(session, RuleMemory())
    with database.transaction() as session:
        assert decide_by_rule(session, DueDecision(SLUG, 999), at=NOW) is None
        build(session, PoolRequest("cal", {"budget": 5, "start_depth": 1}))
        assert due_decisions(session, RuleMemory()) == []
        assert decide_by_rule(session, due, at=NOW) is None
        close_collection(session, SLUG)
        assert decide_by_rule(session, due, at=NOW) is None
        assert due_decisions(session, RuleMemory()) == []


def test_a_decision_by_hand_is_recorded_with_a_person(database: Database) -> None:
    judge = ruled_pool(database)
    judge.work(most=1)
    with database.transaction() as session:
        decide_topic(session, SLUG, "1", stops=True, reason="enough", by_id=judge.id, at=NOW)
        found = stopping_report(session, SLUG, StoppingRequest()).decisions[0].row
    assert (found.decided_by, found.version) == ("jo", None)


def test_documents_that_the_strategy_did_not_choose_are_in_no_row(database: Database) -> None:
    """The initial documents, in random order, have more in a row without a relevant one than the rule waits for."""
    judge = ruled_pool(database, start_depth=12)
    shown = worked(judge)
    assert sum(map(is_relevant, shown)) == 8
    with database.reading() as session:
        chosen = session.scalar(select(func.count()).select_from(SelectionEvent))
    assert chosen is not None
    assert chosen > ROW
    assert decisions(database) == [("1", True, "in-a-row", 1)]
