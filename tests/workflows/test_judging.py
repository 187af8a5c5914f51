"""Judging: what is drawn, for how long, what is recorded, and that nothing is lost or given out twice."""

import threading
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import (
    Assignment,
    AssignmentState,
    CannotJudge,
    Database,
    GuidelineVersion,
    Judgement,
    PoolItem,
)
from annotator.storage.judging import Decision
from annotator.workflows import collection, guidelines, judging, recording
from annotator.workflows.collection import CollectionChange
from annotator.workflows.judging import DRAWN_AT_ONCE, LEASE, JudgingTask, TopicWork


def task_of(session: Session, judge: int, topic: str = "1", minutes: float = 0) -> JudgingTask:
    task = judging.next_task(session, SLUG, topic, judge, now=NOW + timedelta(minutes=minutes))
    assert task is not None
    return task


def record(
    session: Session, judge: int, assignment: int, decision: Decision, *, client_id: str = "", minutes: float = 0
) -> str:
    return recording.record_judgement(
        session,
        SLUG,
        assignment,
        judge,
        decision,
        client_id=client_id or f"c-{judge}-{assignment}-{decision.grade}",
        judged_at=NOW + timedelta(minutes=minutes),
    )


def judgements(session: Session) -> list[Judgement]:
    return list(session.scalars(select(Judgement).order_by(Judgement.id)))


def judge_all(session: Session, judge: int, topic: str = "1", grade: int = 1) -> list[str]:
    seen = []
    while task := judging.next_task(session, SLUG, topic, judge, now=NOW):
        seen.append(task.docno)
        record(session, judge, task.assignment_id, Decision(grade))
    return seen


def test_a_judge_sees_the_topic_beside_the_document_and_nothing_of_the_runs(session: Session) -> None:
    pooled_news(session)
    task = task_of(session, member(session, "jo"))
    assert (task.topic_number, task.topic_title, task.judged, task.waiting) == ("1", "first topic", 0, 4)
    assert task.docno in "abcd"
    assert task.body == f"Text of {task.docno}."
    assert task.decision is None
    assert not {"run", "rank", "score", "tag", "contributions", "priority"} & vars(task).keys()


def test_a_judge_gets_every_document_of_a_topic_once(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assert sorted(judge_all(session, jo)) == ["a", "b", "c", "d"]
    assert judging.topics_to_judge(session, SLUG, jo, now=NOW) == [
        TopicWork("1", "first topic", 4, 0),
        TopicWork("2", "second topic", 0, 2),
    ]


def test_one_judge_is_enough_unless_more_are_wanted(session: Session) -> None:
    pooled_news(session)
    judge_all(session, member(session, "jo"))
    assert judging.next_task(session, SLUG, "1", member(session, "kim"), now=NOW) is None


def test_with_two_judgements_wanted_two_judges_get_everything_and_a_third_nothing(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    first, second = judge_all(session, member(session, "jo")), judge_all(session, member(session, "kim"))
    assert sorted(first) == sorted(second) == ["a", "b", "c", "d"]
    assert judging.next_task(session, SLUG, "1", member(session, "lee"), now=NOW) is None


def test_what_one_judge_holds_no_other_gets(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "r", {"1": [f"d{index}" for index in range(12)]})
    pool(session, depth=12)
    jo, kim = member(session, "jo"), member(session, "kim")
    task_of(session, jo)
    task_of(session, kim)
    held = session.execute(select(Assignment.judge_id, func.count()).group_by(Assignment.judge_id))
    assert sorted(tuple(row) for row in held) == [(jo, DRAWN_AT_ONCE), (kim, 12 - DRAWN_AT_ONCE)]


def test_the_same_document_waits_until_it_is_judged(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assert task_of(session, jo).assignment_id == task_of(session, jo).assignment_id


def test_a_lease_runs_out_unless_the_judge_goes_on(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    task_of(session, jo)
    task_of(session, jo, minutes=29)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW + timedelta(minutes=45)) is None
    assert judging.next_task(session, SLUG, "1", kim, now=NOW + timedelta(minutes=60)) is not None


def test_an_overview_gives_back_what_has_run_out(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    task_of(session, jo)
    assert judging.topics_to_judge(session, SLUG, kim, now=NOW)[0].number == "2"
    later = judging.topics_to_judge(session, SLUG, kim, now=NOW + LEASE + timedelta(seconds=1))
    assert [(topic.number, topic.waiting) for topic in later] == [("1", 4), ("2", 2)]


def test_signing_out_gives_everything_back(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    task_of(session, jo)
    assert judging.return_assignments(session, jo) == 4
    task_of(session, kim)


def test_a_judgement_after_the_lease_is_stored_and_marked(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    late = task_of(session, jo)
    task_of(session, kim, minutes=31)
    record(session, jo, late.assignment_id, Decision(2), minutes=40)
    [stored] = judgements(session)
    assert (stored.judge_id, stored.grade, stored.late) == (jo, 2, True)
    # The other judge still holds the item and may judge it, too.
    item = session.get_one(PoolItem, stored.pool_item_id)
    assert item.taken == 2


def test_a_late_judgement_of_an_item_drawn_anew_by_the_same_judge_ends_the_new_hold(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    old = task_of(session, jo)
    new = task_of(session, jo, minutes=31)
    assert (new.docno, new.assignment_id != old.assignment_id) == (old.docno, True)
    record(session, jo, old.assignment_id, Decision(2), minutes=32)
    [stored] = judgements(session)
    assert (stored.assignment_id, stored.late) == (new.assignment_id, False)
    assert session.get_one(PoolItem, stored.pool_item_id).taken == 1


def test_the_same_judgement_twice_is_stored_once(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    for _ in range(3):
        assert record(session, jo, task.assignment_id, Decision(2), client_id="press-1") == "1"
    assert len(judgements(session)) == 1


def test_an_old_page_sent_with_another_grade_is_a_change_of_mind(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    for grade in (2, 1, 2, 2):
        record(session, jo, task.assignment_id, Decision(grade), client_id="page-1")
    assert [(one.grade, one.current) for one in judgements(session)] == [(2, False), (1, False), (2, True)]


def test_a_change_is_appended_and_the_latest_counts(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    record(session, jo, task.assignment_id, Decision(0, note="first thought"))
    record(session, jo, task.assignment_id, Decision(2))
    first, second = judgements(session)
    assert (first.grade, first.note, first.current) == (0, "first thought", False)
    assert (second.grade, second.current, second.replaces_id) == (2, True, first.id)
    assert judging.open_task(session, SLUG, task.assignment_id, jo).decision == Decision(2)
    assert session.get_one(PoolItem, first.pool_item_id).taken == 1


def test_undo_walks_back_through_ones_judgements_in_the_topic(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = task_of(session, jo)
    assert first.previous_assignment_id is None
    record(session, jo, first.assignment_id, Decision(1))
    second = task_of(session, jo)
    assert second.previous_assignment_id == first.assignment_id
    record(session, jo, second.assignment_id, Decision(1))
    back = judging.open_task(session, SLUG, task_of(session, jo).previous_assignment_id or 0, jo)
    assert (back.docno, back.decision) == (second.docno, Decision(1))
    assert back.previous_assignment_id == first.assignment_id


def test_what_cannot_be_judged_has_a_reason_and_no_grade(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    record(session, jo, task.assignment_id, Decision(None, CannotJudge.BROKEN, "only markup"))
    [stored] = judgements(session)
    assert (stored.grade, stored.cannot_judge, stored.note) == (None, "broken", "only markup")


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (Decision(3), "3 is not a grade"),
        (Decision(-1), "-1 is not a grade"),
        (Decision(None), "either a grade or a reason"),
        (Decision(1, CannotJudge.OTHER), "either a grade or a reason"),
        (Decision(1, note="x" * 10_001), "too long: 10001 characters, where at most 10000"),
    ],
)
def test_a_decision_that_is_none_is_refused(session: Session, decision: Decision, sentence: str) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    with pytest.raises(InvalidValueError, match=sentence):
        record(session, jo, task.assignment_id, decision, client_id="c")
    assert judgements(session) == []


@pytest.mark.parametrize("client_id", ["", "x" * 65, "blank id", "colon:id", "ümlaut"])
def test_an_id_that_no_browser_of_ours_makes_is_refused(session: Session, client_id: str) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    assignment = task_of(session, jo).assignment_id
    with pytest.raises(InvalidValueError, match="1 to 64 letters"):
        recording.record_judgement(session, SLUG, assignment, jo, Decision(1), client_id=client_id, judged_at=NOW)


def test_an_id_of_another_judgement_is_refused(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first = task_of(session, jo)
    record(session, jo, first.assignment_id, Decision(1), client_id="mine")
    second = task_of(session, jo)
    with pytest.raises(InvalidValueError, match="belongs to another"):
        record(session, jo, second.assignment_id, Decision(1), client_id="mine")


def test_nobody_sees_or_judges_anothers_assignment(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    task = task_of(session, jo)
    for assignment in (task.assignment_id, 4711):
        with pytest.raises(NotFoundError, match="no such assignment"):
            judging.open_task(session, SLUG, assignment, kim)
        with pytest.raises(NotFoundError, match="no such assignment"):
            record(session, kim, assignment, Decision(1))


def test_an_assignment_of_another_collection_is_not_found(session: Session) -> None:
    pooled_news(session)
    news(session, "other")
    jo = member(session, "jo")
    task = task_of(session, jo)
    with pytest.raises(NotFoundError, match="no such assignment"):
        judging.open_task(session, "other", task.assignment_id, jo)


def test_closing_ends_the_judging(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        judging.next_task(session, SLUG, "1", jo, now=NOW)
    with pytest.raises(ConflictError, match="Judging has ended"):
        record(session, jo, task.assignment_id, Decision(1))


def test_a_judgement_knows_the_guidelines_it_was_made_under(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    record(session, jo, task_of(session, jo).assignment_id, Decision(1))
    guidelines.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    session.flush()
    record(session, jo, task_of(session, jo).assignment_id, Decision(1))
    before, after = judgements(session)
    assert before.guideline_version_id is None
    assert after.guideline_version_id is not None


@pytest.mark.parametrize(("given", "stored"), [(None, None), (12.5, 12.5), (-3, 0), (1e9, 3600)])
def test_seconds_are_kept_within_reason(session: Session, given: float | None, stored: float | None) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    record(session, jo, task_of(session, jo).assignment_id, Decision(1, seconds=given))
    assert judgements(session)[0].seconds == stored


def test_what_a_judge_judged_is_listed_newest_first(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    seen = judge_all(session, jo)
    listed = recording.judged_by(session, SLUG, jo)
    assert [row.docno for row in listed] == seen[::-1]
    assert {row.decision.grade for row in listed} == {1}


def test_an_unknown_topic_is_named(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(NotFoundError, match="no topic “9”"):
        judging.next_task(session, SLUG, "9", member(session, "jo"), now=NOW)


def test_eight_judges_at_once_get_every_item_exactly_as_often_as_wanted(database: Database) -> None:
    docnos = [f"d{index:03}" for index in range(60)]
    with database.transaction() as session:
        news(session, judgements_wanted=2)
        topic_file(session, "1\tone\n")
        document_file(session, docnos)
        run(session, "r", {"1": docnos})
        pool(session, depth=60)
        judges = [member(session, f"judge{index}") for index in range(8)]
    errors: list[BaseException] = []

    def work(judge: int) -> None:
        try:
            while True:
                with database.transaction() as session:
                    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
                if task is None:
                    return
                with database.transaction() as session:
                    record(session, judge, task.assignment_id, Decision(judge % 3))
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below, in the thread it would be lost
            errors.append(error)

    threads = [threading.Thread(target=work, args=(judge,)) for judge in judges]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == []
    with database.reading() as session:
        given = session.execute(
            select(Judgement.pool_item_id, func.count(), func.count(Judgement.judge_id.distinct())).group_by(
                Judgement.pool_item_id
            )
        ).all()
        live = session.scalar(select(func.count()).where(Assignment.state == AssignmentState.LIVE))
    # A judge that finds nothing free stops early, so the last items may wait for it; none has more than wanted.
    assert len(given) == 60
    assert {(count, judges) for _, count, judges in given} == {(2, 2)}
    assert live == 0


def test_a_double_click_on_two_connections_is_stored_once(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        jo = member(session, "jo")
        task = task_of(session, jo)
    barrier = threading.Barrier(2)
    errors: list[BaseException] = []

    def click() -> None:
        barrier.wait()
        try:
            with database.transaction() as session:
                record(session, jo, task.assignment_id, Decision(1), client_id="press")
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            errors.append(error)

    threads = [threading.Thread(target=click) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert errors == []
    with database.reading() as session:
        assert len(judgements(session)) == 1


def test_a_judgement_belongs_to_the_guidelines_that_were_shown(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    for number in (1, 2):
        guidelines.set_guidelines(session, SLUG, f"Version {number}", made_by_id=None, made_at=NOW)
    session.flush()

    def judge_under(number: int) -> int | None:
        assignment = task_of(session, jo).assignment_id
        recording.record_judgement(
            session, SLUG, assignment, jo, Decision(1), client_id=f"g{number}", judged_at=NOW, guidelines=number
        )
        return judgements(session)[-1].guideline_version_id

    versions = {version.number: version.id for version in session.scalars(select(GuidelineVersion))}
    assert [judge_under(1), judge_under(2), judge_under(0)] == [versions[1], versions[2], None]
    with pytest.raises(InvalidValueError, match="no version 3 of the guidelines"):
        judge_under(3)


def test_a_text_that_comes_later_puts_the_document_back_into_the_queue(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "r", {"1": ["a"]})
    pool(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    assert task.body is None
    record(session, jo, task.assignment_id, Decision(None, CannotJudge.NO_TEXT))
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is None
    document_file(session, ["a"])
    again = task_of(session, jo)
    assert again.body == "Text of a."
    record(session, jo, again.assignment_id, Decision(2))
    assert [(one.grade, one.cannot_judge, one.current) for one in judgements(session)] == [
        (None, "no-text", False),
        (2, None, True),
    ]
    assert session.scalars(select(PoolItem.taken)).one() == 1


def test_wanting_fewer_judgements_takes_back_what_is_in_too_many_hands(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    jo, kim = member(session, "jo"), member(session, "kim")
    late = task_of(session, jo)
    task_of(session, kim)
    collection.change_collection(session, SLUG, CollectionChange(judgements_wanted=1))
    session.expire_all()
    assert set(session.scalars(select(PoolItem.taken).where(PoolItem.topic_id == 1))) == {0}
    record(session, jo, late.assignment_id, Decision(1))
    assert judgements(session)[0].late
