"""Judging: what is drawn, for how long, what is recorded, and that nothing is lost or given out twice."""

import threading
from collections.abc import Sequence
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import (
    Assignment,
    AssignmentState,
    CannotJudge,
    Collection,
    Database,
    GuidelineVersion,
    Judgement,
    JudgingMode,
    PoolItem,
)
from annotator.storage.judging.drawing import shown_among
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.tables.judging import LEASE, Preparation
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import DRAWN_AT_ONCE, JudgingTask, NotPreparedError, TopicWork
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.judging.topic_owners import assign_topics
from annotator.workflows.topics import topic_editing


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


def test_the_overview_says_how_much_was_put_off_and_begins_with_ones_own_topics(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
    assign_topics(session, SLUG, {"2": "jo"})
    held = task_of(session, jo, "2")
    assert len(held.documents) == 2
    first = session.get_one(Assignment, held.assignment_id)
    first.state, first.put_off_at = AssignmentState.LATER, NOW
    labels(session, "jo", "1 0 a 2\n")
    assert judging.topics_to_judge(session, SLUG, jo, now=NOW) == [
        TopicWork("2", "second topic", 0, 2, put_off=1, owned=True),
        TopicWork("1", "first topic", 1, 0),
    ]
    # An owner means nothing where the work is shared.
    change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.SHARED))
    overview = judging.topics_to_judge(session, SLUG, jo, now=NOW)
    assert [(work.number, work.put_off, work.owned) for work in overview] == [("1", 0, False), ("2", 1, False)]


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
    assert return_assignments(session, jo) == 4
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
    assert judging.open_task(session, SLUG, task.assignment_id, jo, now=NOW).decision == Decision(2)
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
    back = judging.open_task(session, SLUG, task_of(session, jo).previous_assignment_id or 0, jo, now=NOW)
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
            judging.open_task(session, SLUG, assignment, kim, now=NOW)
        with pytest.raises(NotFoundError, match="no such assignment"):
            record(session, kim, assignment, Decision(1))


def test_an_assignment_of_another_collection_is_not_found(session: Session) -> None:
    pooled_news(session)
    news(session, "other")
    jo = member(session, "jo")
    task = task_of(session, jo)
    with pytest.raises(NotFoundError, match="no such assignment"):
        judging.open_task(session, "other", task.assignment_id, jo, now=NOW)


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
    collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    session.flush()
    collection.accept_guidelines(session, SLUG, jo, 1)
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
        collection.set_guidelines(session, SLUG, f"Version {number}", made_by_id=None, made_at=NOW)
    session.flush()
    collection.accept_guidelines(session, SLUG, jo, 2)

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
    tasks = {judge: task_of(session, judge) for judge in (member(session, "jo"), member(session, "kim"))}
    collection.change_collection(session, SLUG, CollectionChange(judgements_wanted=1))
    session.expire_all()
    assert set(session.scalars(select(PoolItem.taken).where(PoolItem.topic_id == 1))) == {1}
    item_of = {task.assignment_id: judge for judge, task in tasks.items()}
    returned = select(Assignment.id).where(Assignment.state == AssignmentState.RETURNED)
    [late] = session.scalars(returned.where(Assignment.id.in_(item_of)))
    record(session, item_of[late], late, Decision(1))
    assert judgements(session)[0].late


def many_documents(session: Session, count: int = 20) -> list[str]:
    """A topic with so many documents and nothing else."""
    docnos = [f"d{index:03}" for index in range(count)]
    news(session)
    topic_file(session, "1\tone\n")
    document_file(session, docnos)
    run(session, "r", {"1": docnos})
    pool(session, depth=count)
    return docnos


def put_off(session: Session, judge: int, assignment: int, minutes: float = 0) -> None:
    act = Act(f"later-{assignment}", assignment, None)
    recorded = record_acts(session, SLUG, judge, [act], received_at=NOW + timedelta(minutes=minutes))
    assert (len(recorded.acknowledged), recorded.refused) == (1, ())


def more(session: Session, judge: int, holds: Sequence[int] = (), minutes: float = 0) -> list[int]:
    now = NOW + timedelta(minutes=minutes)
    shown = judging.more_documents(session, SLUG, "1", judge, holds=frozenset(holds), now=now)
    return [one.assignment_id for one in shown]


def test_a_page_has_eight_documents_and_is_topped_up_to_eight(session: Session) -> None:
    many_documents(session, 13)
    jo = member(session, "jo")
    task = task_of(session, jo)
    first = [one.assignment_id for one in task.documents]
    assert (len(first), task.assignment_id, task.judged, task.waiting) == (8, first[0], 0, 13)
    assert more(session, jo, first) == []
    for assignment in first[:4]:
        record(session, jo, assignment, Decision(1))
    following = more(session, jo, first[4:])
    assert len(following) == 4
    assert not set(following) & set(first)
    # What came is in the judge's hands, and asking again for the same brings the same.
    assert more(session, jo, first[4:]) == following
    assert [one.assignment_id for one in task_of(session, jo).documents] == first[4:] + following
    for assignment in first[4:] + following:
        record(session, jo, assignment, Decision(1))
    assert len(more(session, jo)) == 1


def test_what_is_put_off_comes_back_when_nothing_else_is_left(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    order = [one.assignment_id for one in task_of(session, jo).documents]
    put_off(session, jo, order[1])
    put_off(session, jo, order[0], minutes=1)
    task = task_of(session, jo)
    assert ([one.assignment_id for one in task.documents], task.put_off, task.waiting) == (order[2:], 2, 4)
    record(session, jo, order[2], Decision(1))
    record(session, jo, order[3], Decision(1))
    # The one that was put off first comes first.
    assert [one.assignment_id for one in task_of(session, jo).documents] == [order[1], order[0]]
    put_off(session, jo, order[1], minutes=2)
    assert task_of(session, jo).assignment_id == order[0]
    record(session, jo, order[0], Decision(1))
    assert task_of(session, jo).assignment_id == order[1]
    record(session, jo, order[1], Decision(1))
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is None


def test_a_document_that_comes_back_stands_behind_those_at_hand(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, third, fourth = (one.assignment_id for one in task_of(session, jo).documents)
    put_off(session, jo, first)
    assert more(session, jo, [second, third, fourth]) == [first]
    assert [one.assignment_id for one in task_of(session, jo).documents] == [second, third, fourth, first]


def test_what_is_put_off_keeps_its_place_until_it_runs_out(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    task = task_of(session, jo)
    put_off(session, jo, task.assignment_id)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW) is None
    # Going on renews its lease, too.
    task_of(session, jo, minutes=29)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW + timedelta(minutes=58)) is None
    assert return_assignments(session, jo) == 4
    assert task_of(session, kim, minutes=58).waiting == 4
    # What was said of it afterwards is late, as of any other.
    record(session, jo, task.assignment_id, Decision(1), minutes=59)
    assert judgements(session)[0].late


def test_leases_are_renewed_when_less_than_half_is_left(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    leases = select(Assignment.lease_until).distinct()
    task_of(session, jo, minutes=14)
    assert session.scalars(leases).all() == [NOW + LEASE]
    record_acts(session, SLUG, jo, [Act("a", task.assignment_id, Decision(1))], received_at=NOW + timedelta(minutes=16))
    held = leases.where(Assignment.state == AssignmentState.LIVE)
    assert session.scalars(held).all() == [NOW + timedelta(minutes=16) + LEASE]


def test_nothing_is_drawn_before_the_guidelines_in_force_are_accepted(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    task = task_of(session, jo)
    collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    session.flush()
    with pytest.raises(NotPreparedError, match="read the guidelines") as refusal:
        task_of(session, jo)
    assert refusal.value.preparation == Preparation.GUIDELINES
    # What is in hand is recorded all the same.
    record(session, jo, task.assignment_id, Decision(1))
    collection.accept_guidelines(session, SLUG, jo, 1)
    assert task_of(session, jo).judged == 1


def test_no_more_documents_of_a_topic_that_was_dropped(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    held = [one.assignment_id for one in task_of(session, jo).documents]
    topic_editing.drop_topics(session, SLUG, ["1"], reason="too easy")
    with pytest.raises(ConflictError, match="has dropped this topic"):
        more(session, jo, held)
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is None


# Shown again: of `again`, items with their lots, one in four of `count`, at the place that the lot gives.
@pytest.mark.parametrize(
    ("fresh", "again", "count", "shown"),
    [
        ([1, 2, 3, 4], [], 4, [1, 2, 3, 4]),
        ([1, 2, 3, 4], [(9, 0)], 4, [9, 1, 2, 3]),
        ([1, 2, 3, 4], [(9, 6)], 4, [1, 2, 9, 3]),  # 6 % 4 = 2
        ([1, 2, 3, 4], [(9, 0), (8, 0)], 4, [9, 1, 2, 3]),
        (list(range(1, 9)), [(9, 0), (19, 7), (29, 3)], 8, [9, 1, 2, 3, 4, 5, 6, 19]),  # 7 % 8 = 7
        ([1, 2], [(9, 0), (8, 1), (7, 2)], 4, [9, 8, 1, 2]),
        ([], [(9, 5), (8, 0)], 4, [8, 9]),
        ([1, 2, 3], [(9, 0)], 3, [1, 2, 3]),
        ([], [], 4, []),
    ],
)
def test_where_documents_stand_that_are_shown_again(
    fresh: list[int], again: list[tuple[int, int]], count: int, shown: list[int]
) -> None:
    assert shown_among(fresh, again, count) == shown


def test_a_document_is_shown_again_after_a_day_as_if_it_were_new(session: Session) -> None:
    many_documents(session, 12)
    collection_row = session.scalars(select(Collection)).one()
    collection_row.reshow_share = 100
    jo = member(session, "jo")
    first = task_of(session, jo)
    record(session, jo, first.assignment_id, Decision(2, note="sure"))
    return_assignments(session, jo)
    day = 24 * 60 + 1
    shown = judging.more_documents(
        session,
        SLUG,
        "1",
        jo,
        holds=frozenset(),
        now=NOW + timedelta(minutes=day),
    )
    again = [one for one in shown if one.docno == first.docno]
    assert [(one.judgement, one.assignment_id != first.assignment_id) for one in again] == [(None, True)]
    # It takes no place of what the item wants, and what is said of it replaces nothing.
    own = select(Assignment.pool_item_id).where(Assignment.id == first.assignment_id)
    item = session.get_one(PoolItem, session.scalars(own).one())
    assert item.taken == 1
    second = again[0].assignment_id
    record(session, jo, second, Decision(0), minutes=day, client_id="again-1")
    record(session, jo, second, Decision(1), minutes=day, client_id="again-2")
    stored = judgements(session)
    assert [(one.grade, one.current, one.replaces_id) for one in stored] == [
        (2, True, None),
        (0, False, None),
        (1, False, stored[1].id),
    ]
    assert item.taken == 1
    assert judging.open_task(session, SLUG, first.assignment_id, jo, now=NOW).decision == Decision(2, note="sure")
    assert judging.open_task(session, SLUG, second, jo, now=NOW).decision == Decision(1)
    assert session.scalars(select(Assignment.purpose).where(Assignment.id == second)).one() == "re-shown"
    # Undo goes back the way that was come.
    task = task_of(session, jo, minutes=day)
    assert task.previous_assignment_id == second
    assert judging.open_task(session, SLUG, second, jo, now=NOW).previous_assignment_id == first.assignment_id


def test_going_back_meets_each_document_once_though_one_that_was_shown_again_was_judged_twice(session: Session) -> None:
    many_documents(session, 12)
    session.scalars(select(Collection)).one().reshow_share = 100
    jo = member(session, "jo")
    task = task_of(session, jo)
    first, docno = task.assignment_id, task.docno
    record(session, jo, first, Decision(2))
    return_assignments(session, jo)
    day = 24 * 60 + 1
    shown = judging.more_documents(session, SLUG, "1", jo, holds=frozenset(), now=NOW + timedelta(minutes=day))
    again = next(one for one in shown if one.docno == docno).assignment_id
    other = next(one for one in shown if one.assignment_id != again).assignment_id
    for number, assignment in enumerate((again, other, again)):
        record(session, jo, assignment, Decision(number % 2), minutes=day, client_id=f"back-{number}")
    way: list[int] = []
    at = task_of(session, jo, minutes=day).previous_assignment_id
    while at is not None and len(way) < 9:
        way.append(at)
        at = judging.open_task(session, SLUG, at, jo, now=NOW).previous_assignment_id
    assert way == [again, other, first]


def test_giving_back_what_is_shown_again_frees_no_place(session: Session) -> None:
    many_documents(session, 1)
    session.scalars(select(Collection)).one().reshow_share = 100
    jo, kim = member(session, "jo"), member(session, "kim")
    record(session, jo, task_of(session, jo).assignment_id, Decision(2))
    later = NOW + timedelta(days=2)
    assert judging.next_task(session, SLUG, "1", jo, now=later) is not None
    assert return_assignments(session, jo) == 1
    assert session.scalars(select(PoolItem.taken)).one() == 1
    assert judging.next_task(session, SLUG, "1", kim, now=later) is None
