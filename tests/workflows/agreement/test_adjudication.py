"""Adjudication: who is given which dispute and in what order, what a decision does, and what it leaves alone."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, labels, member, news
from opinions import Opinion, settle
from opinions import disputed as items_disputed
from queues import grades, grow, queue, retext
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, NotFoundError
from annotator.evaluation.agreement.columns import Upheld
from annotator.evaluation.qrels.consensus import NAMED_POLICIES
from annotator.files import InputFile
from annotator.storage import (
    Assignment,
    CannotJudge,
    Collection,
    Document,
    Judgement,
    PoolItem,
    Purpose,
    Role,
    Topic,
    TopicState,
    User,
    UserKind,
)
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.eligibility import due_again
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import Decision, lend, return_assignments
from annotator.storage.judging.progress import item_progress
from annotator.storage.qrels.current_grades import opinions
from annotator.storage.tables.judging import LEASE
from annotator.workflows.agreement import agreement, machine_judges
from annotator.workflows.agreement.adjudication import (
    DisputedTopic,
    TopicToAdjudicate,
    show_adjudication,
    topics_to_adjudicate,
)
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents, search_adding
from annotator.workflows.judging import judge_history, judging, judging_turn, recording
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.gold_questions import show_answers
from annotator.workflows.judging.topic_owners import show_assigning
from annotator.workflows.people import members
from annotator.workflows.qrels import qrels

ADJUDICATION = Queue.ADJUDICATION
LATER = NOW + LEASE + timedelta(minutes=1)


def disputed(session: Session, *pairs: tuple[int, ...], topic: str = "1", name: str = "labels") -> list[str]:
    """A topic whose documents have these grades, the first by ann, the second by bob, …; their docnos in that order."""
    if session.scalar(select(Collection.id).where(Collection.slug == SLUG)) is None:
        queue(session, 0, judgements_wanted=2)
    where = session.scalars(select(Topic).where(Topic.number == topic)).one()
    items = grow(session, where, [None] * len(pairs))
    docnos = [docno_of(session, item) for item in items]
    for index, judge in enumerate(("ann", "bob", "cid")):
        given = [(docno, pair[index]) for docno, pair in zip(docnos, pairs, strict=True) if len(pair) > index]
        if given:
            text = "".join(f"{topic} 0 {docno} {grade}\n" for docno, grade in given)
            labels(session, judge, text, name=f"{name}-{judge}")
    return docnos


def docno_of(session: Session, item: int) -> str:
    statement = select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id)
    return session.scalars(statement.where(PoolItem.id == item)).one()


def item_of(session: Session, docno: str) -> PoolItem:
    statement = select(PoolItem).join(Document, PoolItem.document_id == Document.id).where(Document.docno == docno)
    return session.scalars(statement.execution_options(populate_existing=True)).one()


def adjudicator(session: Session, name: str = "ada") -> int:
    return member(session, name, Role.ADJUDICATOR)


def drawn(session: Session, who: int, *, topic: str = "1", at: object = NOW) -> list[str]:
    """The docnos that an adjudicator is given."""
    task = judging.next_task(session, SLUG, topic, who, now=at, queue=ADJUDICATION)  # type: ignore[arg-type]
    return [one.docno for one in task.documents] if task else []


def held(session: Session, who: int, docno: str) -> int:
    statement = select(Assignment.id).where(
        Assignment.judge_id == who, Assignment.pool_item_id == item_of(session, docno).id
    )
    return session.scalars(statement.order_by(Assignment.id.desc())).all()[0]


def decide(session: Session, who: int, docno: str, grade: int | None = 1, *, at: object = NOW) -> None:
    """Decide a document in hand; without a grade it cannot be judged."""
    decision = Decision(grade, None if grade is not None else CannotJudge.OTHER)
    id_ = f"{who}-{docno}-{grade}".replace("None", "x")
    acts = [Act(id_, held(session, who, docno), decision)]
    result = recording.record_acts(session, SLUG, who, acts, received_at=at, queue=ADJUDICATION)  # type: ignore[arg-type]
    assert result.acknowledged == (id_,), result.refused


def purposes(session: Session) -> list[str]:
    return list(session.scalars(select(Assignment.purpose).where(Assignment.purpose == Purpose.ADJUDICATION)))


# Grades are 0, 1 and 2, relevant from 1.


def test_with_the_grades_disputes_come_worst_first_across_the_line_of_relevance_then_by_distance(
    session: Session,
) -> None:
    agreed, apart, across, furthest, three = disputed(session, (1, 1), (1, 2), (0, 1), (0, 2), (2, 2, 0))
    session.execute(update(Collection).values(shows_grades=True))
    found = drawn(session, adjudicator(session))
    assert set(found[:2]) == {furthest, three}
    assert found[2:] == [across, apart]
    assert agreed not in found


def test_without_the_grades_their_order_tells_nothing_of_them(session: Session) -> None:
    docnos = disputed(session, (1, 2), (0, 1), (0, 2), (1, 2), (0, 2))
    order = select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id).order_by(PoolItem.priority)
    in_order = list(session.scalars(order))
    assert sorted(in_order) == docnos
    # In the order of the judges the worst, which are the third and the fifth, are not the first two.
    assert set(in_order[:2]) != {docnos[2], docnos[4]}
    assert drawn(session, adjudicator(session)) == in_order


def test_what_one_judge_alone_said_is_in_no_dispute(session: Session) -> None:
    disputed(session, (1,), (0,))
    assert drawn(session, adjudicator(session)) == []


def test_machines_are_in_no_dispute(session: Session) -> None:
    disputed(session, (1, 1, 0))
    session.execute(update(User).where(User.name == "cid").values(kind=UserKind.MACHINE))
    assert drawn(session, adjudicator(session)) == []


def test_nobody_decides_what_they_judged_themselves(session: Session) -> None:
    first, second = disputed(session, (0, 2), (0, 2))
    labels(session, "ada", f"1 0 {first} 1\n", name="own")
    members.add_member(session, SLUG, "ada", Role.ADJUDICATOR, added_at=NOW)
    ada = session.scalars(select(User.id).where(User.name == "ada")).one()
    assert drawn(session, ada) == [second]


def test_nor_what_they_were_given_as_judges_and_gave_back(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(PoolItem).values(judgements_wanted=3))
    ada = member(session, "ada", Role.JUDGE)
    assert judging.next_task(session, SLUG, "1", ada, now=NOW) is not None
    return_assignments(session, ada)
    members.add_member(session, SLUG, "ada", Role.ADJUDICATOR, added_at=NOW)
    assert drawn(session, ada) == []
    assert drawn(session, adjudicator(session, "eve")) == [docno]


def test_an_item_is_in_one_adjudicators_hands_at_a_time(session: Session) -> None:
    docnos = disputed(session, *[(0, 2)] * 10)
    ada, eve = adjudicator(session), adjudicator(session, "eve")
    first, second = drawn(session, ada), drawn(session, eve)
    assert len(first) == judging.DRAWN_AT_ONCE
    assert sorted(first + second) == sorted(docnos)
    assert drawn(session, adjudicator(session, "zoe")) == []


def test_a_lease_that_ran_out_lets_another_decide_and_a_late_decision_is_stored(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada, eve = adjudicator(session), adjudicator(session, "eve")
    before = item_of(session, docno).taken
    assert drawn(session, ada) == [docno]
    assert drawn(session, eve, at=LATER) == [docno]
    assert item_of(session, docno).taken == before
    decide(session, ada, docno, 2, at=LATER)
    decide(session, eve, docno, 1, at=LATER)
    late = session.scalars(select(Judgement.late).where(Judgement.judge_id == ada)).one()
    assert late
    assert item_of(session, docno).taken == before


def test_a_decision_decides_and_the_dispute_is_over(session: Session) -> None:
    [docno] = disputed(session, (0, 2, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, 0)
    assert drawn(session, ada) == []
    assert drawn(session, adjudicator(session, "eve")) == []
    assert settled(session, "adjudicated-else-majority") == {docno: 0}
    assert disputes_left(session) == set()


def as_opinions(session: Session) -> list[Opinion]:
    collection_id = session.scalars(select(Collection.id)).one()
    return [
        Opinion(row.pool_item_id, row.grade, row.judge, row.place, row.by_owner, row.adjudicates)
        for row in opinions(session, collection_id, machines=False)
    ]


def settled(session: Session, policy: str) -> dict[str, int]:
    grades = settle(policy, as_opinions(session))
    return {docno_of(session, item): grade for item, grade in grades.items()}


def disputes_left(session: Session) -> set[str]:
    return {docno_of(session, item) for item in items_disputed(as_opinions(session))}


def test_who_cannot_judge_decides_nothing_and_another_is_asked(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, None)
    assert drawn(session, ada) == []
    assert drawn(session, adjudicator(session, "eve")) == [docno]
    assert disputes_left(session) == {docno}


def test_a_dispute_that_ends_meanwhile_is_decided_all_the_same(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    labels(session, "ann", f"1 0 {docno} 2\n", name="changed")
    assert drawn(session, ada) == [docno]  # it stays in hand
    decide(session, ada, docno, 1)
    assert settled(session, "adjudicated-else-median") == {docno: 1}


def test_an_adjudicator_may_change_their_mind_and_the_last_word_decides(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, 1)
    decide(session, ada, docno, 2)
    assert settled(session, "adjudicated-else-median") == {docno: 2}
    [row] = judge_history.list_judged(session, SLUG, ada, judge_history.HistoryFilter()).rows
    assert row.decides
    assert [word.decision.grade for word in row.earlier] == [1]


def test_the_same_decision_twice_is_stored_once(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, 1)
    decide(session, ada, docno, 1)
    assert len(session.scalars(select(Judgement.id).where(Judgement.judge_id == ada)).all()) == 1


def test_a_decision_is_no_judgement_that_the_item_wants(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(PoolItem).values(judgements_wanted=3))
    before = item_of(session, docno).taken
    ada, jo = adjudicator(session), member(session, "jo")
    drawn(session, ada)
    assert item_of(session, docno).taken == before
    decide(session, ada, docno)
    assert item_of(session, docno).taken == before
    [row] = session.execute(item_progress(Topic.collection_id == find_collection(session, SLUG).id)).all()
    assert (row.missing, row.is_complete) == (1, False)
    task = judging.next_task(session, SLUG, "1", jo, now=NOW)
    assert task is not None
    assert (task.docno, task.waiting) == (docno, 1)


def test_what_is_given_back_takes_no_place_away(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    before = item_of(session, docno).taken
    ada = adjudicator(session)
    drawn(session, ada)
    assert return_assignments(session, ada) == 1
    assert item_of(session, docno).taken == before


def test_an_overlap_still_gets_its_second_judge_when_it_was_decided(session: Session) -> None:
    [topic] = queue(session, 0, judging_mode="owned", overlap_share=100)
    [item] = grow(session, topic, [None])
    docno = docno_of(session, item)
    olga, jo, ada = member(session, "olga"), member(session, "jo"), adjudicator(session)
    topic.owner_id = olga
    labels(session, "olga", f"1 0 {docno} 0\n", name="olga")
    labels(session, "nist", f"1 0 {docno} 2\n", name="nist")
    assert drawn(session, ada) == [docno]
    decide(session, ada, docno)
    session.execute(
        update(Assignment)
        .where(Assignment.purpose == Purpose.FIRST, Assignment.judge_id != olga)
        .values(state="returned")
    )
    session.execute(update(PoolItem).values(taken=1, judgements_wanted=2))
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is not None


def test_who_judges_and_adjudicates_has_both_queues_apart(session: Session) -> None:
    queue(session, 0, judgements_wanted=2)
    [contested] = disputed(session, (0, 2))
    [topic] = session.scalars(select(Topic)).all()
    [fresh] = [docno_of(session, item) for item in grow(session, topic, [None])]
    ada = adjudicator(session)
    members.add_member(session, SLUG, "ada", Role.JUDGE, added_at=NOW)
    assert drawn(session, ada) == [contested]
    [work] = judging.topics_to_judge(session, SLUG, ada, now=NOW)
    assert (work.judged, work.waiting) == (0, 1)
    task = judging.next_task(session, SLUG, "1", ada, now=NOW)
    assert task is not None
    assert [one.docno for one in task.documents] == [fresh]
    counted = judging_turn.count_topic(session, SLUG, "1", ada, to_come=0, now=NOW)
    disputes = judging_turn.count_topic(session, SLUG, "1", ada, to_come=0, now=NOW, queue=ADJUDICATION)
    decide(session, ada, contested)
    [work] = judging.topics_to_judge(session, SLUG, ada, now=NOW)
    assert (work.judged, work.waiting) == (0, 1)
    after = judging_turn.count_on(session, counted, ada)
    assert after is not None
    assert after.counts == counted.counts
    decided = judging_turn.count_on(session, disputes, ada, ADJUDICATION)
    assert decided is not None
    assert (disputes.counts, decided.counts) == (judging_turn.Counts(0, 1, 0), judging_turn.Counts(1, 1, 0))
    assert task.previous_assignment_id is None
    [own] = topics_to_adjudicate(session, SLUG, ada)
    assert (own.in_dispute, own.waiting, own.decided) == (0, 0, 1)


def test_what_was_decided_is_not_shown_again_for_self_agreement(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(Collection).values(reshow_share=100))
    ada = adjudicator(session)
    members.add_member(session, SLUG, "ada", Role.JUDGE, added_at=NOW)
    drawn(session, ada)
    decide(session, ada, docno)
    assert judging.next_task(session, SLUG, "1", ada, now=NOW + timedelta(days=3)) is None
    assert judging.topics_to_judge(session, SLUG, ada, now=NOW + timedelta(days=3)) == []


def test_what_a_text_reopens_gives_no_place_back_that_was_not_taken(session: Session) -> None:
    queue(session, 0, judgements_wanted=2)
    [docno] = disputed(session, (0, 2))
    before = item_of(session, docno).taken
    session.execute(update(Document).values(body=None, text_hash=None))
    ada = adjudicator(session)
    drawn(session, ada)
    act = Act("no-text", held(session, ada, docno), Decision(None, CannotJudge.NO_TEXT))
    recording.record_acts(session, SLUG, ada, [act], received_at=NOW, queue=ADJUDICATION)
    from_file = InputFile("d.tsv", f"{docno}\ttitle\tNow it has one.\n".encode())
    read = documents.read_documents([from_file], fields={}, unpacked_limit=1 << 20)
    documents.import_documents(session, SLUG, read)
    assert item_of(session, docno).taken == before
    assert drawn(session, ada) == [docno]


def test_a_decision_is_carried_over_to_documents_with_the_same_text(session: Session) -> None:
    one, twin = disputed(session, (0, 2), ())
    collection_id = session.scalars(select(Collection.id)).one()
    retext(session, item_of(session, one).id, "the same")
    retext(session, item_of(session, twin).id, "the same")
    settle_needs(session, collection_id, session.scalars(select(Topic.id)).all())
    assert disputes_left(session) == {one, twin}
    ada = adjudicator(session)
    assert drawn(session, ada) == [one]
    decide(session, ada, one, 1)
    assert grades(session, item_of(session, twin).id)[ada] == (1, True)
    assert disputes_left(session) == set()
    assert settled(session, "adjudicated-else-lowest") == {one: 1, twin: 1}
    [topic] = show_adjudication(session, SLUG, now=NOW).topics
    assert (topic.in_dispute, topic.decided) == (0, 1)


def test_later_puts_a_dispute_off_and_it_comes_back_last(session: Session) -> None:
    docnos = disputed(session, (0, 2), (0, 1))
    ada = adjudicator(session)
    assert drawn(session, ada) == docnos
    act = Act("later", held(session, ada, docnos[0]), None)
    recording.record_acts(session, SLUG, ada, [act], received_at=NOW, queue=ADJUDICATION)
    assert drawn(session, ada) == docnos[1:]
    [row] = judge_history.put_off_by(session, SLUG, ada)
    assert (row.docno, row.held, row.decides) == (docnos[0], True, True)
    [own] = topics_to_adjudicate(session, SLUG, ada)
    assert own == TopicToAdjudicate("1", "topic 1", 2, 2, 0, 1, dropped=False)
    decide(session, ada, docnos[1])
    assert drawn(session, ada) == docnos[:1]


def test_taking_the_role_away_gives_back_what_it_was_held_by_and_nothing_else(session: Session) -> None:
    queue(session, 0, judgements_wanted=2)
    [contested] = disputed(session, (0, 2))
    [topic] = session.scalars(select(Topic)).all()
    grow(session, topic, [None])
    ada = adjudicator(session)
    members.add_member(session, SLUG, "ada", Role.JUDGE, added_at=NOW)
    drawn(session, ada)
    judging.next_task(session, SLUG, "1", ada, now=NOW)
    members.remove_member(session, SLUG, "ada", Role.ADJUDICATOR, at=NOW)
    live = session.scalars(select(Assignment.purpose).where(Assignment.state == "live")).all()
    assert live == [Purpose.FIRST]
    assert drawn(session, adjudicator(session, "eve")) == [contested]


def test_only_what_one_holds_as_an_adjudicator_can_be_decided(session: Session) -> None:
    queue(session, 1, judgements_wanted=2)
    ada = adjudicator(session)
    members.add_member(session, SLUG, "ada", Role.JUDGE, added_at=NOW)
    task = judging.next_task(session, SLUG, "1", ada, now=NOW)
    assert task is not None
    acts = [Act("x", task.assignment_id, Decision(1))]
    [refusal] = recording.record_acts(session, SLUG, ada, acts, received_at=NOW, queue=ADJUDICATION).refused
    assert isinstance(refusal.error, NotFoundError)
    with pytest.raises(NotFoundError):
        judging.open_task(session, SLUG, task.assignment_id, ada, now=NOW, queue=ADJUDICATION)


def test_nobody_opens_or_decides_what_another_holds(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada, eve = adjudicator(session), adjudicator(session, "eve")
    drawn(session, ada)
    with pytest.raises(NotFoundError):
        judging.open_document(session, SLUG, held(session, ada, docno), eve, queue=ADJUDICATION)
    acts = [Act("x", held(session, ada, docno), Decision(1))]
    assert recording.record_acts(session, SLUG, eve, acts, received_at=NOW, queue=ADJUDICATION).refused


def test_nothing_is_decided_of_a_closed_collection_or_drawn_of_a_dropped_topic(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    session.execute(update(Topic).values(state=TopicState.DROPPED, reason="too easy"))
    assert drawn(session, ada) == []
    assert topics_to_adjudicate(session, SLUG, ada) == []
    session.execute(update(Topic).values(state=TopicState.ACCEPTED))
    assert drawn(session, ada) == [docno]
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError):
        judging.next_task(session, SLUG, "1", ada, now=NOW, queue=ADJUDICATION)


@pytest.mark.parametrize(("shows", "given"), [(True, (0, 2)), (False, ())])
def test_the_grades_are_shown_only_where_the_organiser_chose_so(
    session: Session, given: Sequence[int], *, shows: bool
) -> None:
    # Each once: how many gave it is not told.
    [docno] = disputed(session, (0, 2, 2))
    session.execute(update(Collection).values(shows_grades=shows))
    ada = adjudicator(session)
    task = judging.next_task(session, SLUG, "1", ada, now=NOW, queue=ADJUDICATION)
    assert task is not None
    assert task.documents[0].given == given
    decide(session, ada, docno, 1)
    shown, _ = judging.open_document(session, SLUG, task.assignment_id, ada, queue=ADJUDICATION)
    assert shown.given == given  # their own is none of them


def test_a_judge_is_never_shown_a_grade(session: Session) -> None:
    queue(session, 0, judgements_wanted=3)
    disputed(session, (0, 2))
    session.execute(update(PoolItem).values(judgements_wanted=3))
    session.execute(update(Collection).values(shows_grades=True))
    task = judging.next_task(session, SLUG, "1", member(session, "jo"), now=NOW)
    assert task is not None
    assert task.documents[0].given == ()


def test_the_organiser_sees_topics_and_who_was_upheld(session: Session) -> None:
    queue(session, 0, judgements_wanted=2)
    docnos = disputed(session, (0, 2), (0, 2), (0, 1), (1, 1))
    ada = adjudicator(session)
    assert len(drawn(session, ada)) == 3
    decide(session, ada, docnos[0], 2)
    decide(session, ada, docnos[1], 1)
    report = show_adjudication(session, SLUG, now=NOW)
    assert report.topics == (DisputedTopic("1", "topic 1", 1, 1, 2),)
    # Of two decided documents ann's grade 0 was decided in none, bob's 2 in one.
    assert report.judges == (Upheld("ann", 2, 0), Upheld("bob", 2, 1))
    assert report.judges[1].share == 0.5
    assert (report.in_dispute, report.in_hands, report.decided) == (1, 1, 2)


@pytest.mark.parametrize(("policy", "is_heard"), [("majority", False), ("adjudicated-else-majority", True)])
def test_it_is_said_whether_the_policy_hears_adjudicators(session: Session, policy: str, *, is_heard: bool) -> None:
    news(session)
    session.execute(update(Collection).values(consensus_policy=policy))
    assert show_adjudication(session, SLUG, now=NOW).is_heard == is_heard


def test_without_disputes_everything_is_empty(session: Session) -> None:
    news(session)
    assert topics_to_adjudicate(session, SLUG, adjudicator(session)) == []
    report = show_adjudication(session, SLUG, now=NOW)
    assert (report.topics, report.judges) == ((), ())


def test_a_decision_is_no_answer_to_a_test_question(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(PoolItem).values(known_grade=1, for_everyone=True))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, 1)
    assert [one.judge for one in show_answers(session, SLUG).judges] == ["ann", "bob"]


def test_what_an_owner_is_to_decide_is_no_work_of_their_topic(session: Session) -> None:
    queue(session, 0, judging_mode="owned")
    disputed(session, (0, 2))
    olga = adjudicator(session, "olga")
    members.add_member(session, SLUG, "olga", Role.JUDGE, added_at=NOW)
    session.execute(update(Topic).values(owner_id=olga))
    [before] = show_assigning(session, SLUG).topics
    drawn(session, olga)
    [after] = show_assigning(session, SLUG).topics
    assert after.remaining == before.remaining == 0


# Who judges and adjudicates has seen the grades of what they decided, or could have.


def both_roles(session: Session, name: str = "ada") -> int:
    """An adjudicator who judges, too, where every item wants a third judge."""
    who = adjudicator(session, name)
    members.add_member(session, SLUG, name, Role.JUDGE, added_at=NOW)
    session.execute(update(PoolItem).values(judgements_wanted=3))
    return who


def waiting_as_judge(session: Session, who: int, *, at: datetime = NOW) -> int:
    return sum(work.waiting for work in judging.topics_to_judge(session, SLUG, who, now=at))


@pytest.mark.parametrize("mode", ["shared", "owned"])
def test_what_was_to_be_decided_is_never_judged_besides(session: Session, mode: str) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(Collection).values(judging_mode=mode))
    olga = member(session, "olga")
    session.execute(update(Topic).values(owner_id=olga))
    session.execute(update(PoolItem).values(is_overlap=True))
    session.execute(update(Assignment).values(judge_id=olga).where(Assignment.judge_id == judge_id(session, "ann")))
    session.execute(update(Assignment).values(state="returned").where(Assignment.judge_id != olga))
    ada = both_roles(session)
    assert waiting_as_judge(session, ada) == 1
    for at in (NOW, LATER):
        assert drawn(session, ada, at=at) == [docno]
        assert waiting_as_judge(session, ada, at=at) == 0
        return_assignments(session, ada)
        assert waiting_as_judge(session, ada, at=at) == 0
        assert judging.next_task(session, SLUG, "1", ada, now=at) is None
    assert waiting_as_judge(session, member(session, "jo")) == 1


def judge_id(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


def test_nor_is_it_shown_again(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(Collection).values(reshow_share=100))
    ann = judge_id(session, "ann")
    past = NOW + timedelta(days=3)
    topic = session.scalars(select(Topic)).one()
    assert due_again(session, topic.id, ann, 100, past) != []
    held_before = {"pool_item_id": item_of(session, docno).id, "judge_id": ann, "state": "returned"}
    session.add(Assignment(**held_before, purpose=Purpose.ADJUDICATION, drawn_at=NOW, lease_until=NOW))
    session.flush()
    assert due_again(session, topic.id, ann, 100, past) == []


def test_a_late_decision_stays_one_whatever_its_adjudicator_holds_as_a_judge(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = both_roles(session)
    drawn(session, ada)
    decided_late = held(session, ada, docno)
    return_assignments(session, ada)
    # As it was possible once, and as an import may leave it.
    lend(session, [item_of(session, docno).id], ada, NOW)
    act = Act("late", decided_late, Decision(2))
    assert recording.record_acts(session, SLUG, ada, [act], received_at=NOW, queue=ADJUDICATION).acknowledged
    said = select(Judgement.assignment_id).where(Judgement.judge_id == ada)
    assert session.scalars(said).all() == [decided_late]
    assert disputes_left(session) == set()


def test_nothing_is_decided_by_the_judges_door(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = both_roles(session)
    drawn(session, ada)
    assignment, before = held(session, ada, docno), item_of(session, docno).taken
    for decision in (Decision(2), None):
        [refusal] = recording.record_acts(session, SLUG, ada, [Act("x", assignment, decision)], received_at=NOW).refused
        assert isinstance(refusal.error, NotFoundError)
    with pytest.raises(NotFoundError):
        recording.record_judgement(session, SLUG, assignment, ada, Decision(2), client_id="y", judged_at=NOW)
    with pytest.raises(NotFoundError):
        judging.open_task(session, SLUG, assignment, ada, now=NOW)
    with pytest.raises(NotFoundError):
        judging.open_document(session, SLUG, assignment, ada)
    assert (disputes_left(session), item_of(session, docno).taken) == ({docno}, before)


def test_a_search_does_not_lead_a_judge_to_what_they_are_to_decide(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    session.execute(update(Collection).values(judges_search=True))
    for_search = InputFile("d.tsv", f"{docno}\ttitle\tsomething to find\n".encode())
    read = documents.read_documents([for_search], fields={}, unpacked_limit=1 << 20)
    documents.import_documents(session, SLUG, read)
    ada = both_roles(session)
    found = {"topic": "1", "docno": docno, "query": "something", "judge_id": ada, "now": NOW}
    drawn(session, ada)
    for _ in ("in hand", "given back"):
        with pytest.raises(ConflictError, match="as an adjudicator"):
            search_adding.take_for_judging(session, SLUG, **found)  # type: ignore[arg-type]
        return_assignments(session, ada)


def test_labels_from_a_file_decide_nothing(session: Session) -> None:
    one, two = disputed(session, (0, 2), (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    with pytest.raises(FileRefusedError) as refused:
        labels(session, "ada", f"1 0 {one} 1\n1 0 {two} -1\n", name="ada.txt")
    [problem] = refused.value.problems
    assert (problem.file, problem.line) == ("ada.txt", 1)
    assert "ada decides on document d00001 of topic 1 as adjudicator: leave it out." in str(problem.sentence)


def test_of_two_decisions_the_latest_counts_everywhere(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada, eve = adjudicator(session), adjudicator(session, "eve")
    drawn(session, ada)
    drawn(session, eve, at=LATER)
    for who, grade in ((ada, 2), (eve, 2), (ada, 0)):  # ada changes her mind: her present word is the last
        decide(session, who, docno, grade, at=LATER)
    by_policy = {policy: settled(session, policy)[docno] for policy in NAMED_POLICIES if "adjudicated" in policy}
    assert set(by_policy.values()) == {0}
    upheld = (Upheld("ann", 1, 1), Upheld("bob", 1, 0))
    assert show_adjudication(session, SLUG, now=LATER).judges == upheld
    assert agreement.agreement_report(session, SLUG).upheld == upheld
    session.execute(update(Collection).values(consensus_policy="adjudicated-else-highest"))
    assert qrels.export_qrels(session, SLUG, made_at=LATER).qrels == f"1 0 {docno} 0\n".encode()


def test_what_a_machine_said_before_it_was_marked_as_one_decides_nothing(session: Session) -> None:
    [docno] = disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    decide(session, ada, docno, 2)
    session.execute(update(User).where(User.name == "ada").values(kind=UserKind.MACHINE))
    report = show_adjudication(session, SLUG, now=NOW)
    assert (report.in_dispute, report.decided, report.judges) == (1, 0, ())
    assert disputes_left(session) == {docno}
    assert drawn(session, adjudicator(session, "eve")) == [docno]


def test_an_adjudicator_is_no_machine(session: Session) -> None:
    disputed(session, (0, 2))
    ada = adjudicator(session)
    drawn(session, ada)
    before = session.scalars(select(PoolItem.taken)).one()
    with pytest.raises(ConflictError, match="“ada” was given documents to decide"):
        machine_judges.mark_machine(session, "ada", MachineFacts())
    assert session.scalars(select(PoolItem.taken)).one() == before


def test_nobody_learns_from_their_count_that_others_differ_from_them(session: Session) -> None:
    disputed(session, (0, 2))
    disputed(session, (2,), name="alone")
    for name in ("ann", "bob"):
        members.add_member(session, SLUG, name, Role.ADJUDICATOR, added_at=NOW)
        assert topics_to_adjudicate(session, SLUG, judge_id(session, name)) == []
    ada, eve = adjudicator(session), adjudicator(session, "eve")
    drawn(session, ada)
    assert topics_to_adjudicate(session, SLUG, ada) == [TopicToAdjudicate("1", "topic 1", 1, 1, 0, 0, dropped=False)]
    # In another's hands: they may still come to decide it.
    assert topics_to_adjudicate(session, SLUG, eve) == [TopicToAdjudicate("1", "topic 1", 1, 0, 0, 0, dropped=False)]


def test_what_a_lease_has_run_out_of_is_in_nobodys_hands(session: Session) -> None:
    disputed(session, (0, 2))
    drawn(session, adjudicator(session))
    assert show_adjudication(session, SLUG, now=NOW + LEASE).in_hands == 1
    assert show_adjudication(session, SLUG, now=LATER).in_hands == 0


def test_documents_with_the_same_text_are_one_dispute_here_and_several_in_the_qrels(session: Session) -> None:
    one, twin = disputed(session, (0, 2), ())
    for docno in (one, twin):
        retext(session, item_of(session, docno).id, "the same")
    settle_needs(session, session.scalars(select(Collection.id)).one(), session.scalars(select(Topic.id)).all())
    assert show_adjudication(session, SLUG, now=NOW).in_dispute == 1
    [own] = topics_to_adjudicate(session, SLUG, adjudicator(session))
    assert (own.in_dispute, own.waiting) == (1, 1)
    assert disputes_left(session) == {one, twin}
