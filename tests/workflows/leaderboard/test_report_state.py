"""The state of a collection that reports are kept by: another one after every change that a report shows."""

import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from adaptive import AdaptiveJudge, adaptive_news
from beginning import beginning
from build import LIMIT, NOW, SLUG, build, document_file, labels, member, news, pool, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.scale import parse_scale
from annotator.files import InputFile
from annotator.storage import (
    Base,
    CannotJudge,
    Collection,
    Database,
    DeletedKind,
    Document,
    Run,
    SelectionEvent,
    Team,
    Topic,
    User,
)
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.changed_texts import reopen_for_text
from annotator.storage.judging.leases import Decision
from annotator.storage.leaderboard.scored_state import report_state
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.tables.collections import Door
from annotator.workflows.agreement.machine_judges import machine_reports, mark_machine, mark_person
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.restoring import restore_deletion
from annotator.workflows.documents import documents
from annotator.workflows.documents.search_adding import add_found
from annotator.workflows.judging import judgement_import, judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.leaderboard.leave_out_report import LeaveOutRequest, leave_out_report
from annotator.workflows.leaderboard.measure_correlation import Side, correlate
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import keep_qrels
from annotator.workflows.runs import runs
from annotator.workflows.topics import topic_editing

HOUR = timedelta(hours=1)
REPORTS: dict[str, Callable[[Session], object]] = {
    "correlation": lambda session: correlate(session, SLUG, Side("nDCG@10"), Side("infAP")),
    "correlation of versions": lambda session: correlate(session, SLUG, Side("AP"), Side("AP", "1")),
    "machines": lambda session: machine_reports(session, SLUG, "AP"),
    "leave-out": lambda session: leave_out_report(session, SLUG, LeaveOutRequest(("AP",))),
}


@beginning
def judged_sample(session: Session) -> None:
    """A sampled pool with what was searched besides, labels of two people and a machine, and a kept version."""
    news(session, judgements_wanted=2)
    topic_file(session)
    document_file(session, "abcdefgh")
    change(consensus_policy="adjudicated-else-owner-else-majority")(session)
    run(session, "alpha", {"1": "abcxyz", "2": "a"}, team="red")
    run(session, "beta", {"1": "dbaf", "2": "eh"})
    build(session, PoolRequest("stratified", {"strata": "1-2:1, 3-9:1"}), seed=5)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 x 1\n2 0 a 1\n", add_to_pool=True)
    labels(session, "kim", "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 e 2\n", name="kim.txt")
    machine_labels(session, "1 0 a 1\n1 0 b 9\n2 0 e 0\n")
    run(session, "late", {"1": "hgfedcba"})
    member(session, "lee")
    exported = export_qrels(session, SLUG, made_at=NOW)
    keep_qrels(session, SLUG, exported, made_by_id=None, made_at=NOW)
    search(session, "g", 0)


def user_id(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


def machine_labels(session: Session, text: str) -> None:
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile("llm.txt", text.encode()), add_to_pool=False, by_machine=True, unpacked_limit=LIMIT
    )
    facts = MachineFacts("model", "prompt", date(2026, 1, 1))
    judgement_import.store_judgements(session, SLUG, checked, judge="llm", machine=facts, added_at=NOW)


def search(session: Session, docno: str, hours: int) -> None:
    kim = user_id(session, "kim")
    add_found(session, SLUG, topic="1", docnos=[docno], query="text", actor_id=kim, at=NOW + hours * HOUR)


def judge(session: Session, decision: Decision = Decision(2)) -> None:  # noqa: B008 - it is never changed
    """Judge three documents of topic 1."""
    lee = user_id(session, "lee")
    for _ in range(3):
        task = judging.next_task(session, SLUG, "1", lee, now=NOW)
        assert task is not None
        record_acts(session, SLUG, lee, [Act(task.docno, task.assignment_id, decision)], received_at=NOW)


def give_texts(session: Session) -> None:
    """Give two documents of topic 1, of which one was judged, the same text."""
    read = documents.read_documents(
        [InputFile("same.tsv", b"x\tOne\tThe same.\ny\tOne\tThe same.\n")], fields={}, unpacked_limit=LIMIT
    )
    documents.import_documents(session, SLUG, read)


def delete(session: Session, kind: DeletedKind, subject: str) -> int:
    number, _ = delete_it(
        session, SLUG, kind, [subject], typed=None, actor=Actor(Door.COMMAND, "ola"), at=NOW + 48 * HOUR
    )
    return number


def change(**values: Any) -> Callable[[Session], object]:  # noqa: ANN401 - of every kind
    return lambda session: collection.change_collection(session, SLUG, CollectionChange(**values))


CHANGES: dict[str, Callable[[Session], object]] = {
    "judgements": judge,
    "labels": lambda session: labels(session, "jo", "1 0 d 1\n", name="more.txt"),
    "labels of documents that join the pool": lambda session: labels(session, "jo", "1 0 h 1\n", add_to_pool=True),
    "labels of a machine": lambda session: machine_labels(session, "1 0 d 2\n"),
    "a label outside the scale": lambda session: machine_labels(session, "1 0 d 7\n"),
    "somebody becomes a machine": lambda session: mark_machine(session, "jo", MachineFacts()),
    "a machine becomes a person": lambda session: mark_person(session, "llm"),
    "what is known of a machine": lambda session: mark_machine(session, "llm", MachineFacts("another")),
    "a judge is forgotten": lambda session: forget_user(session, "kim"),
    "documents come to have the same text": give_texts,
    "a document is found by searching": lambda session: search(session, "d", 1),
    "another sample": lambda session: build(session, PoolRequest("stratified", {"strata": "1-1:1, 2-9:0.5"})),
    "a larger pool": pool,
    "the policy": change(consensus_policy="highest"),
    "which grades are relevant": change(relevant_from=2),
    "the scale": change(scale=parse_scale("0=No,1=Yes,2=Very,3=Perfectly")),
    "a topic dropped": lambda session: topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad."),
    "a run": lambda session: run(session, "gamma", {"1": "da", "2": "ea"}, team="blue"),
    "a run declares the model of a machine": lambda session: session.execute(
        update(Run).where(Run.tag == "alpha").values(description="Reranked by model.")
    ),
    "a run withdrawn": lambda session: runs.withdraw_run(session, SLUG, "alpha", at=NOW),
    "a team's other name": lambda session: session.execute(update(Team).values(name="green")),
    "an owner": lambda session: session.execute(update(Topic).values(owner_id=user_id(session, "jo"))),
    "disputes left out": lambda session: session.execute(update(Collection).values(leaves_out_disputed=True)),
    "machines that count": lambda session: session.execute(update(Collection).values(counts_machines=True)),
    "labels deleted": lambda session: delete(session, DeletedKind.LABELS, "1"),
    "a version of the pool deleted": lambda session: delete(session, DeletedKind.POOL, "2"),
}


def shown(session: Session) -> dict[str, str]:
    """What each report shows, or why it is refused."""
    found = {}
    for name, report in REPORTS.items():
        try:
            found[name] = repr(report(session))
        except Exception as refusal:  # noqa: BLE001 - which one is compared
            found[name] = repr(refusal)
    session.expire_all()
    return found


def state(session: Session) -> bytes:
    session.flush()
    return report_state(session, find_collection(session, SLUG))


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_a_report_changes_the_state(session: Session, name: str) -> None:
    judged_sample(session)
    before, shown_before = state(session), shown(session)
    CHANGES[name](session)
    assert shown(session) != shown_before
    assert state(session) != before


def test_what_comes_back_because_its_text_has_come_changes_the_state(session: Session) -> None:
    judged_sample(session)
    judge(session, Decision(None, CannotJudge.NO_TEXT))
    before = state(session)
    reopen_for_text(session, session.scalars(select(Document.id)).all())
    assert state(session) != before


def test_a_choice_of_an_adaptive_pool_changes_the_state(database: Database) -> None:
    jo, _ = adaptive_news(database)
    judge_of_all, changed = AdaptiveJudge(database, jo), []
    for _ in range(5):
        before = adaptive_state(database)
        task = judge_of_all.next()
        assert task is not None
        after = adaptive_state(database)
        changed.append((after[0] > before[0], after[1] != before[1]))
        judge_of_all.judge(task, 1)
    assert set(changed) == {(False, False), (True, True)}


def adaptive_state(database: Database) -> tuple[int, bytes]:
    """How many documents an adaptive pool has chosen, and the state."""
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(SelectionEvent)).one(), state(session)


def test_a_restored_deletion_changes_the_state(session: Session) -> None:
    judged_sample(session)
    number = delete(session, DeletedKind.LABELS, "1")
    before = state(session)
    restore_deletion(session, SLUG, number, at=NOW + 48 * HOUR)
    assert state(session) != before


def test_a_draw_and_what_is_done_in_another_collection_leave_the_state(session: Session) -> None:
    judged_sample(session)
    before = state(session)
    lee = user_id(session, "lee")
    assert judging.next_task(session, SLUG, "1", lee, now=NOW) is not None
    news(session, "other")
    topic_file(session, slug="other")
    run(session, "alpha", {"1": "ab", "2": "a"}, slug="other")
    pool(session, slug="other")
    labels(session, "jo", "1 0 a 2\n", slug="other")
    assert state(session) == before


def read_columns(session: Session, reading: Callable[[Session], object]) -> set[tuple[str, str]]:
    """The columns that SQLite reads for it."""
    driver: Any = session.connection().connection.dbapi_connection
    read: set[tuple[str, str]] = set()

    def note(action: int, table: str, column: str, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and column:
            read.add((table, column))
        return sqlite3.SQLITE_OK

    driver.set_authorizer(note)
    try:
        reading(session)
    finally:
        driver.set_authorizer(None)
    known = {(table.name, column.name) for table in Base.metadata.tables.values() for column in table.columns}
    return read & known


# The tables that reports read and the state does not: `report_state` says what changes with each of them.
BY_SOMETHING_ELSE = {
    *("judgement", "assignment", "pool_item", "document", "ranked_list", "contribution", "stratum", "qrels_grade"),
    "machine_labels",
    *("topic_judgements", "topic_counts"),  # derived from those, and valid while the topic's revision is the same
}
# Columns that nothing changes once their row is there, which are read with others.
UNCHANGED = {
    *(("pool", column) for column in ("built_by_id", "parameters", "seed", "showing", "strategy")),
    *(("qrels_version", column) for column in ("made_at", "made_by_id", "manifest")),
}
# Columns of rounds and tasks that are read with their numbers and keys, by which reports only say that there are any.
OF_SCOPES = {
    *(("round", column) for column in ("closed_at", "name", "number", "opened_at", "qrels_version_id")),
    *(("task", column) for column in ("added_at", "description", "title")),
    *(("task", column) for column in ("most_documents", "most_runs", "run_formats")),
}
# Columns of accounts that are read with the name, and not shown.
BY_THE_WAY = {"added_at", "administrator", "being_imported", "name_key", "password_hash", "sign_in_generation"}


def test_a_report_reads_nothing_that_the_state_does_not_follow(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        judged_sample(session)
        in_reports = set().union(*(read_columns(session, report) for report in REPORTS.values()))
        in_state = read_columns(session, state)
    others = {(table, column) for table, column in in_reports - in_state if table not in BY_SOMETHING_ELSE}
    assert others - UNCHANGED - OF_SCOPES - {("user", column) for column in BY_THE_WAY} == set()
