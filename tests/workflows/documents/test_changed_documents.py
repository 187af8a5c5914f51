"""Documents whose text changed since they were judged: who is told, what is judged anew, what the scores then say."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from build import LIMIT, NOW, SLUG, labels, member, news, pool, pooled_news, run, topic_file
from csv_cells import unquoted
from meeting import one_after_the_other
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.files import InputFile
from annotator.storage import Collection, Database, Document, Judgement, PoolItem, UserKind
from annotator.storage.collections.checking import examine_collection
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.people.accounts import find_user
from annotator.storage.tables.judging import Assignment, CannotJudge
from annotator.workflows.collections import rounds
from annotator.workflows.documents import documents
from annotator.workflows.judging import judge_history, judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.qrels import qrels, qrels_versions

CHANGED = NOW + timedelta(days=1)
DAY = timedelta(days=1)


def rewrite(session: Session, *docnos: str, text: str = "quite another text", at: datetime = CHANGED) -> None:
    """Import these documents with another text."""
    lines = "".join(f"{docno}\tTitle of {docno}\t{text} of {docno}\n" for docno in docnos)
    read = documents.read_documents([InputFile("new.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read, at=at)


def same(session: Session, text: str, *, at: datetime) -> None:
    """Import a and b with one and the same text."""
    lines = "".join(f"{docno}\tTitle\t{text}\n" for docno in "ab")
    read = documents.read_documents([InputFile("same.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read, at=at)


def say(session: Session, judge: int, grade: int, *, drawn: datetime, at: datetime) -> str:
    """Judge the next document of topic 1; its docno."""
    task = judging.next_task(session, SLUG, "1", judge, now=drawn)
    assert task is not None
    act = Act(f"{judge}-{task.assignment_id}", task.assignment_id, Decision(grade))
    record_acts(session, SLUG, judge, [act], received_at=at)
    last = select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id)
    last = last.join(Judgement, Judgement.pool_item_id == PoolItem.id).order_by(Judgement.id.desc()).limit(1)
    return session.scalars(last).one()


def listed(session: Session) -> list[tuple[str, list[tuple[str, str, int | None]]]]:
    return [
        (one.docno, [(said.topic, said.judge, said.grade) for said in one.judgements])
        for one in documents.changed_documents(session, SLUG)
    ]


def grades(session: Session) -> str:
    return qrels.export_qrels(session, SLUG, made_at=NOW).qrels.decode()


def test_a_judged_document_with_another_text_is_listed_with_who_said_what(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 1\n", name="kim")
    rewrite(session, "a", "c")
    assert listed(session) == [("a", [("1", "jo", 2), ("1", "kim", 1), ("2", "jo", 1)])]
    text = unquoted(documents.changed_csv(documents.changed_documents(session, SLUG)))
    assert text.splitlines()[0] == ",".join(documents.HEADINGS)
    assert text.splitlines()[1].startswith("1,a,2026-03-02T09:00:00+00:00,jo,2,,2026-03-01")


def test_the_same_text_again_or_another_address_changes_nothing(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    same = '{"docno": "a", "title": "Title of a", "body": "Text of a.", "url": "https://a.org/"}\n'
    read = documents.read_documents([InputFile("a.jsonl", same.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read, at=CHANGED)
    assert listed(session) == []


def test_what_is_put_back_counts_no_more_stays_known_and_is_judged_anew(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    docnos = [say(session, judge, 1, drawn=NOW, at=NOW) for _ in range(4)]
    assert judging.next_task(session, SLUG, "1", judge, now=NOW) is None
    rewrite(session, docnos[2])
    assert grades(session).count("\n") == 4
    cache = ScoreCache()
    before = leaderboard.build_leaderboard(session, SLUG, ["AP"], cache=cache)
    assert documents.requeue_changed(session, SLUG, at=CHANGED) == 1
    assert docnos[2] not in grades(session)
    after = leaderboard.build_leaderboard(session, SLUG, ["AP"], cache=cache)
    assert (before.grades, after.grades) == (4, 3)
    assert listed(session) == []
    history = session.execute(select(Judgement.grade, Judgement.current).order_by(Judgement.id)).all()
    assert sorted((grade, bool(current)) for grade, current in history) == [(1, False)] + [(1, True)] * 3
    task = judging.next_task(session, SLUG, "1", judge, now=CHANGED)
    assert task is not None
    assert task.body is not None
    assert "quite another text" in task.body
    assert say(session, judge, 2, drawn=CHANGED, at=CHANGED) == docnos[2]
    assert f"1 0 {docnos[2]} 2" in grades(session)
    assert listed(session) == []
    assert all(item.taken == 1 for item in session.scalars(select(PoolItem).where(PoolItem.topic_id == 1)))


def test_only_the_named_ones_are_put_back_and_unknown_ones_refused(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    rewrite(session, "a", "b")
    with pytest.raises(NotFoundError, match="Document c is not among those"):
        documents.requeue_changed(session, SLUG, ["a", "c"], at=CHANGED)
    assert documents.requeue_changed(session, SLUG, ["a"], at=CHANGED) == 2
    assert grades(session) == "1 0 b 0\n"
    assert documents.let_changed_stand(session, SLUG) == 1
    assert grades(session) == "1 0 b 0\n"
    assert listed(session) == []


@pytest.mark.parametrize(
    ("drawn", "judged", "listed_count"),
    [
        (timedelta(0), timedelta(0), 1),
        (DAY - timedelta(minutes=5), DAY + timedelta(minutes=5), 1),  # the old text was on the screen
        (DAY - timedelta(minutes=5), DAY + timedelta(hours=2), 0),
        (DAY + timedelta(minutes=1), DAY + timedelta(minutes=2), 1),  # drawn while the import waited for its turn
    ],
)
def test_what_was_drawn_before_the_change_and_judged_soon_after_is_listed(
    session: Session, drawn: timedelta, judged: timedelta, listed_count: int
) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    docno = say(session, judge, 1, drawn=NOW + drawn, at=NOW + judged)
    rewrite(session, docno)
    assert len(listed(session)) == 1  # as the assignment records
    forget_hashes(session)
    assert len(listed(session)) == listed_count


def forget_hashes(session: Session) -> None:
    """As assignments are that were drawn before their texts were recorded."""
    session.execute(update(Assignment).values(text_hash=None))


def test_an_assignment_records_the_text_that_was_shown(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    assignment = session.get_one(Assignment, task.assignment_id)
    item = session.get_one(PoolItem, assignment.pool_item_id)
    document = session.get_one(Document, item.document_id)
    assert assignment.text_hash == document.text_hash is not None
    rewrite(session, document.docno, at=NOW + timedelta(minutes=1))
    session.expire_all()
    assert assignment.text_hash != document.text_hash
    # Shown again while it is in hand, it has the new text, and what is judged then is of the new text.
    again = judging.next_task(session, SLUG, "1", judge, now=NOW + timedelta(minutes=2))
    assert again is not None
    assert again.assignment_id == task.assignment_id
    session.expire_all()
    assert assignment.text_hash == document.text_hash
    act = Act("one", task.assignment_id, Decision(1))
    record_acts(session, SLUG, judge, [act], received_at=NOW + timedelta(minutes=3))
    assert listed(session) == []


def test_drawing_notes_the_text_in_the_statement_that_draws(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    connection = session.connection()
    event.listen(connection, "before_cursor_execute", note)
    try:
        for _ in range(2):  # drawn, and shown again with the same text
            assert judging.next_task(session, SLUG, "1", judge, now=NOW) is not None
    finally:
        event.remove(connection, "before_cursor_execute", note)
    [drawn] = [statement for statement in statements if statement.startswith("INSERT INTO assignment")]
    assert "text_hash" in drawn
    assert not [statement for statement in statements if "SET text_hash" in statement]


def test_what_was_judged_of_the_old_text_long_after_the_change_is_listed(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    rewrite(session, task.docno, at=NOW + timedelta(minutes=1))
    act = Act("one", task.assignment_id, Decision(1))
    record_acts(session, SLUG, judge, [act], received_at=NOW + timedelta(hours=5))
    assert listed(session) == [(task.docno, [("1", "jo", 1)])]
    forget_hashes(session)
    assert listed(session) == []  # the moments alone do not tell it


def test_a_text_that_came_back_leaves_its_judgements(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    rewrite(session, *"abcd", text="the first text", at=NOW)
    docno = say(session, judge, 1, drawn=NOW + timedelta(minutes=1), at=NOW + timedelta(minutes=2))
    rewrite(session, docno)
    assert len(listed(session)) == 1
    rewrite(session, docno, text="the first text", at=CHANGED + DAY)
    assert listed(session) == []


def test_a_change_of_mind_a_lease_after_the_change_is_of_the_new_text(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    record_acts(session, SLUG, judge, [Act("one", task.assignment_id, Decision(1))], received_at=NOW)
    rewrite(session, task.docno)
    for client_id, after, count in (("two", timedelta(minutes=10), 1), ("three", timedelta(hours=1), 0)):
        again = Act(client_id, task.assignment_id, Decision(2))
        record_acts(session, SLUG, judge, [again], received_at=CHANGED + after)
        assert len(listed(session)) == count


def test_what_was_put_off_is_judged_by_the_text_it_has_when_it_is_taken_up(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    record_acts(session, SLUG, judge, [Act("later", task.assignment_id, None)], received_at=NOW)
    rewrite(session, task.docno, at=NOW + timedelta(minutes=1))
    taken_up = judge_history.take_up(session, SLUG, task.assignment_id, judge, now=NOW + timedelta(minutes=2))
    act = Act("grade", taken_up, Decision(1))
    record_acts(session, SLUG, judge, [act], received_at=NOW + timedelta(minutes=3))
    assert listed(session) == []


def test_what_was_judged_before_the_change_and_came_after_the_judge_drew_it_again_is_listed(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    return_assignments(session, judge)
    rewrite(session, "a", "b", "c", "d")
    drawn_at = CHANGED + timedelta(hours=1)
    again = judging.next_task(session, SLUG, "1", judge, now=drawn_at)
    assert again is not None
    assert task.docno in {one.docno for one in again.documents}
    act = Act("offline", task.assignment_id, Decision(1), ago=7200)
    record_acts(session, SLUG, judge, [act], received_at=drawn_at + timedelta(minutes=1))
    assert listed(session) == [(task.docno, [("1", "jo", 1)])]


def test_what_is_drawn_after_the_change_is_not_listed(session: Session) -> None:
    pooled_news(session)
    judge = member(session, "jo")
    rewrite(session, "a", "b", "c", "d")
    say(session, judge, 1, drawn=CHANGED + timedelta(seconds=1), at=CHANGED + timedelta(minutes=1))
    assert listed(session) == []


def shown_without_text(session: Session) -> tuple[int, judging.JudgingTask]:
    """A judge with the first document of topic 1 before them, whose text comes then."""
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]})
    pool(session)
    judge = member(session, "jo")
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    assert task.body is None
    return judge, task


def say_no_text(session: Session, judge: int, assignment: int, client_id: str, *, at: datetime) -> None:
    act = Act(client_id, assignment, Decision(None, CannotJudge.NO_TEXT))
    assert record_acts(session, SLUG, judge, [act], received_at=at).acknowledged == (client_id,)


@pytest.mark.parametrize("grade_first", [False, True])
def test_whoever_says_no_text_after_it_came_sees_it_and_is_heard_when_they_say_so_again(
    session: Session, *, grade_first: bool
) -> None:
    judge, task = shown_without_text(session)
    if grade_first:
        record_acts(session, SLUG, judge, [Act("first", task.assignment_id, Decision(1))], received_at=NOW)
    rewrite(session, task.docno)
    say_no_text(session, judge, task.assignment_id, "too-late", at=CHANGED)
    assert session.scalars(select(Judgement).where(Judgement.current)).all() == []
    assert session.scalars(select(PoolItem.taken)).one() == 0
    again = judging.next_task(session, SLUG, "1", judge, now=CHANGED)
    assert again is not None
    assert again.body is not None
    assert "quite another text" in again.body
    # The page of before may still be open, and may say so once more.
    say_no_text(session, judge, task.assignment_id, "too-late-again", at=CHANGED)
    assert session.scalars(select(Judgement).where(Judgement.current)).all() == []
    again = judging.next_task(session, SLUG, "1", judge, now=CHANGED)
    assert again is not None
    say_no_text(session, judge, again.assignment_id, "now", at=CHANGED)
    assert session.scalars(select(Judgement.client_id).where(Judgement.current)).all() == ["now"]
    assert session.scalars(select(PoolItem.taken)).one() == 1
    assert examine_collection(session, session.scalars(select(Collection.id)).one()) == []


def one_of_a_and_b(session: Session, judge: int) -> int:
    """The assignment of the one that is drawn next; what comes before it is judged."""
    while task := judging.next_task(session, SLUG, "1", judge, now=NOW):
        if task.docno in {"a", "b"}:
            return task.assignment_id
        say(session, judge, 0, drawn=NOW, at=NOW)
    raise AssertionError("Neither is drawn.")


def test_what_was_carried_over_before_goes_with_a_no_text_that_is_not_heard(session: Session) -> None:
    pooled_news(session)
    same(session, "text", at=NOW - DAY)
    judge = member(session, "jo")
    shown = one_of_a_and_b(session, judge)
    record_acts(session, SLUG, judge, [Act("grade", shown, Decision(2))], received_at=NOW)
    assert {"1 0 a 2", "1 0 b 2"} <= set(grades(session).splitlines())
    say_no_text(session, judge, shown, "none", at=NOW)
    assert not {"1 0 a 2", "1 0 b 2"} & set(grades(session).splitlines())
    again = Act("better", one_of_a_and_b(session, judge), Decision(1))
    record_acts(session, SLUG, judge, [again], received_at=NOW)
    assert {"1 0 a 1", "1 0 b 1"} <= set(grades(session).splitlines())
    assert examine_collection(session, session.scalars(select(Collection.id)).one()) == []


def test_a_grade_given_without_the_text_is_kept_when_it_has_come(session: Session) -> None:
    judge, task = shown_without_text(session)
    rewrite(session, task.docno)
    record_acts(session, SLUG, judge, [Act("late", task.assignment_id, Decision(1))], received_at=CHANGED)
    assert grades(session) == f"1 0 {task.docno} 1\n"
    assert session.scalars(select(PoolItem.taken)).one() == 1


def test_an_import_waits_for_who_draws_the_old_text_while_it_is_stored(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        judge = member(session, "jo")
    drawn: list[judging.JudgingTask | None] = []

    def draws(session: Session) -> None:
        drawn.append(judging.next_task(session, SLUG, "1", judge, now=CHANGED + timedelta(seconds=10)))

    one_after_the_other(postgres_database, draws, lambda session: rewrite(session, "a", "b", "c", "d"))
    [task] = drawn
    assert task is not None
    with postgres_database.transaction() as session:
        act = Act("one", task.assignment_id, Decision(1))
        record_acts(session, SLUG, judge, [act], received_at=CHANGED + timedelta(seconds=20))
        assert listed(session) == [(task.docno, [("1", "jo", 1)])]
        forget_hashes(session)
        assert listed(session) == [(task.docno, [("1", "jo", 1)])]


def test_who_draws_while_an_import_is_stored_waits_and_gets_the_new_text(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        pooled_news(session)
        judge = member(session, "jo")
    shown: list[str | None] = []

    def draws(session: Session) -> None:
        task = judging.next_task(session, SLUG, "1", judge, now=CHANGED + timedelta(seconds=10))
        shown.append(task.body if task is not None else None)

    one_after_the_other(postgres_database, lambda session: rewrite(session, "a", "b", "c", "d"), draws)
    assert shown[0] is not None
    assert "quite another text" in shown[0]
    with postgres_database.transaction() as session:
        say(session, judge, 1, drawn=CHANGED, at=CHANGED + timedelta(seconds=20))
        assert listed(session) == []


def test_grades_carried_over_go_with_those_they_repeat(session: Session) -> None:
    pooled_news(session)
    same(session, "text", at=NOW - DAY)
    labels(session, "jo", "1 0 a 2\n")
    assert grades(session) == "1 0 a 2\n1 0 b 2\n"
    same(session, "new text", at=CHANGED)
    assert listed(session) == [("a", [("1", "jo", 2)])]
    assert documents.requeue_changed(session, SLUG, at=CHANGED) == 1
    assert grades(session) == ""
    labels(session, "jo", "1 0 a 1\n", name="again")
    assert grades(session) == "1 0 a 1\n1 0 b 1\n"


def test_labels_of_a_machine_take_no_place_and_leave_none(session: Session) -> None:
    pooled_news(session)
    labels(session, "bot", "1 0 a 2\n")
    find_user(session, "bot").kind = UserKind.MACHINE
    session.execute(update(PoolItem).values(taken=0))
    rewrite(session, "a")
    documents.requeue_changed(session, SLUG, at=CHANGED)
    assert {item.taken for item in session.scalars(select(PoolItem))} == {0}


def test_a_document_judged_anew_is_left_in_the_residual_collection(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    rounds.close_round(session, SLUG, version=1, at=NOW)
    rounds.open_round(session, SLUG, at=NOW)
    run(session, "gamma", {"1": ["b", "a", "c"]})
    labels(session, "kim", "1 0 c 1\n", name="kim")
    cache = ScoreCache()
    second = GradesFrom(round=2, residual=True)

    def ap() -> float:
        board = leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=second, cache=cache)
        return board.rows[0].values[0]

    assert ap() == 1  # c alone is left, and relevant
    rewrite(session, "a")
    documents.requeue_changed(session, SLUG, at=CHANGED)
    assert ap() == 0.5  # a is back in the run, before c, and unjudged
    labels(session, "kim", "1 0 a 1\n", name="again")
    assert ap() == 1  # a and c, both relevant
    made = qrels.export_qrels(session, SLUG, made_at=CHANGED + DAY)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=CHANGED + DAY)
    rounds.close_round(session, SLUG, version=2, at=CHANGED + DAY)
    rounds.open_round(session, SLUG, at=CHANGED + DAY)
    # b, judged in round 1, and a and c, in round 2: the old grade of a is in version 1 and the new one in version 2.
    assert [one.judged_before for one in rounds.list_rounds(session, SLUG)] == [0, 1, 3]


def test_a_version_is_scored_without_what_was_known_when_it_was_kept(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    for number in (1, 2):
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
        if number == 1:
            rounds.close_round(session, SLUG, version=1, at=NOW)
            rounds.open_round(session, SLUG, at=NOW)
            run(session, "gamma", {"1": ["b", "a", "c"]})
            labels(session, "kim", "1 0 c 1\n", name="kim")

    def relevant(grades: GradesFrom) -> float:
        return leaderboard.build_leaderboard(session, SLUG, ["NumRel"], grades=grades).rows[0].values[0]

    now = GradesFrom(version=2, round=2, residual=True)
    assert (relevant(now), relevant(replace(now, as_kept=True))) == (1, 1)  # c alone
    rewrite(session, "a")
    documents.requeue_changed(session, SLUG, at=CHANGED)
    assert (relevant(now), relevant(replace(now, as_kept=True))) == (2, 1)  # a counts again, but not for what is kept
