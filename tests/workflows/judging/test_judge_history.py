"""A judge looks back: finding what they judged, what they said before, and what they put off."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import (
    Assignment,
    AssignmentState,
    Collection,
    Document,
    Evidence,
    Judgement,
    JudgingMode,
    PoolItem,
    Purpose,
    Topic,
)
from annotator.storage.judging.leases import give_back, lend
from annotator.workflows.collections import collection
from annotator.workflows.judging import judge_history
from annotator.workflows.judging.judge_history import (
    CANNOT,
    ROWS_A_PAGE,
    HistoryFilter,
    JudgedPage,
    put_off_by,
    take_up,
)
from annotator.workflows.topics import topic_editing

LATER = NOW + timedelta(hours=1)


def found(session: Session, judge: int, **wanted: object) -> JudgedPage:
    return judge_history.list_judged(session, SLUG, judge, HistoryFilter(**wanted))  # type: ignore[arg-type]  # what each test asks for


def docnos(session: Session, judge: int, **wanted: object) -> list[str]:
    return [row.docno for row in found(session, judge, **wanted).rows]


def item(session: Session, topic: str, docno: str) -> int:
    return session.scalars(
        select(PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.number == topic, Document.docno == docno)
    ).one()


def put_off(session: Session, judge: int, pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Docno → the assignment by which a judge has put the document off, one minute after the other."""
    items = {docno: item(session, topic, docno) for topic, docno in pairs}
    lend(session, list(items.values()), judge, NOW)
    own = select(Assignment).where(Assignment.judge_id == judge).order_by(Assignment.id.desc())
    for minutes, item_id in enumerate(items.values()):
        assignment = session.scalars(own.where(Assignment.pool_item_id == item_id).limit(1)).one()
        assignment.state, assignment.put_off_at = AssignmentState.LATER, NOW + timedelta(minutes=minutes)
    session.flush()
    return {
        docno: session.scalars(own.where(Assignment.pool_item_id == item_id).limit(1)).one().id
        for docno, item_id in items.items()
    }


def listed(session: Session, judge: int) -> list[tuple[str, bool]]:
    return [(row.docno, row.held) for row in put_off_by(session, SLUG, judge)]


def test_a_judge_finds_their_own_last_words_newest_first(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    labels(session, "kim", "1 0 c 1\n", name="k.txt")
    jo, kim = member(session, "jo"), member(session, "kim")
    page = found(session, jo)
    assert [(row.topic_number, row.docno, row.decision.grade) for row in page.rows] == [
        *(("2", "a", 1), ("1", "b", 0), ("1", "a", 2)),
    ]
    assert (page.total, page.page, page.pages) == (3, 1, 1)
    assert page.topics == (("1", "first topic"), ("2", "second topic"))
    assert docnos(session, kim) == ["c"]


def test_what_was_judged_is_narrowed_by_words_grade_and_topic(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n2 0 a 1\n2 0 e 0\n")
    jo = member(session, "jo")
    session.execute(
        update(Judgement)
        .where(Judgement.pool_item_id == item(session, "1", "b"))
        .values(note="Half of it, 50% at most", grade=None, cannot_judge="broken")
    )
    assert docnos(session, jo, grade=0) == ["e", "c"]
    assert docnos(session, jo, grade=CANNOT) == ["b"]
    assert docnos(session, jo, topic="2") == ["e", "a"]
    assert docnos(session, jo, topic="2", grade=0) == ["e"]
    assert docnos(session, jo, words="title of E") == ["e"]
    assert docnos(session, jo, words=" HALF of ") == ["b"]
    assert docnos(session, jo, words="50%") == ["b"]
    assert docnos(session, jo, words="%") == ["b"]  # a sign like any other
    assert docnos(session, jo, words="nothing") == []
    # The choice of topics stays whole.
    assert [number for number, _ in found(session, jo, topic="2").topics] == ["1", "2"]


def test_long_lists_come_in_pages(session: Session) -> None:
    news(session)
    topic_file(session)
    names = [f"d{index:03}" for index in range(ROWS_A_PAGE + 2)]
    document_file(session, names)
    labels(session, "jo", "".join(f"1 0 {name} 1\n" for name in names), add_to_pool=True)
    jo = member(session, "jo")
    first, second, beyond = (found(session, jo, page=page) for page in (1, 2, 9))
    assert (len(first.rows), first.total, first.pages) == (ROWS_A_PAGE, ROWS_A_PAGE + 2, 2)
    assert {row.docno for row in first.rows + second.rows} == set(names)
    assert (beyond.page, beyond.rows) == (2, second.rows)


def test_all_earlier_words_on_a_document_are_there_with_their_times(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    for grade, name in ((0, "1.txt"), (2, "2.txt"), (1, "3.txt")):
        labels(session, "jo", f"1 0 a {grade}\n1 0 b 1\n", name=name)
    changed, unchanged = sorted(found(session, jo).rows, key=lambda row: row.docno)
    assert changed.decision.grade == 1
    assert [(word.decision.grade, word.judged_at) for word in changed.earlier] == [(2, NOW), (0, NOW)]
    assert unchanged.earlier == ()


def test_passages_stand_beside_the_word_they_were_kept_for(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 2\n")
    of_a = session.scalars(select(Judgement.id).where(Judgement.pool_item_id == item(session, "1", "a"))).one()
    session.add_all(
        [
            Evidence(judgement_id=of_a, start=0, end=4, text="Text"),
            Evidence(judgement_id=of_a, start=5, end=7, text="of"),
        ]
    )
    session.flush()
    rows = {row.docno: row.evidence for row in found(session, member(session, "jo")).rows}
    assert rows == {"a": ("Text", "of"), "b": ()}


def test_second_showings_and_carried_judgements_are_not_told(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    jo = member(session, "jo")
    first, second = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    second.carried_from_id = first.id
    lend(session, [first.pool_item_id], jo, NOW, {first.pool_item_id: Purpose.RE_SHOWN})
    again = session.scalars(select(Assignment).where(Assignment.purpose == Purpose.RE_SHOWN)).one()
    again.state = AssignmentState.DONE
    session.add(
        Judgement(
            client_id="again",
            assignment_id=again.id,
            pool_item_id=first.pool_item_id,
            judge_id=jo,
            grade=0,
            judged_at=LATER,
            received_at=LATER,
            current=False,
            replaces_id=first.id,
        )
    )
    session.flush()
    [row] = found(session, jo).rows
    assert (row.docno, row.decision.grade, row.earlier) == ("a", 2, ())


# What was put off


def test_what_was_put_off_is_kept_and_what_went_back_is_offered_while_it_is_free(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    held = put_off(session, jo, [("1", "a"), ("1", "b"), ("2", "e")])
    assert listed(session, jo) == [("a", True), ("b", True), ("e", True)]
    assert listed(session, kim) == []
    give_back(session, Assignment.id.in_([held["a"], held["b"]]))
    assert listed(session, jo) == [("a", False), ("b", False), ("e", True)]
    lend(session, [item(session, "1", "b")], kim, LATER)
    assert listed(session, jo) == [("a", False), ("e", True)]
    topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad.")
    assert listed(session, jo) == [("a", False)]


def test_what_was_put_off_twice_is_listed_once_and_what_was_judged_since_no_more(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    give_back(session, Assignment.id == put_off(session, jo, [("1", "a")])["a"])
    put_off(session, jo, [("1", "a")])
    assert listed(session, jo) == [("a", True)]
    give_back(session, Assignment.judge_id == jo)
    assert listed(session, jo) == [("a", False)]
    labels(session, "jo", "1 0 a 2\n")
    assert listed(session, jo) == []


def test_what_went_back_is_taken_up_again_once(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    old = put_off(session, jo, [("1", "a")])["a"]
    assert take_up(session, SLUG, old, jo, now=LATER) == old  # it is in hand
    give_back(session, Assignment.id == old)
    held = take_up(session, SLUG, old, jo, now=LATER)
    assert held != old
    assert take_up(session, SLUG, old, jo, now=LATER) == held
    assignment = session.get_one(Assignment, held)
    assert (assignment.state, assignment.pool_item_id) == (AssignmentState.LIVE, item(session, "1", "a"))
    assert session.get_one(PoolItem, assignment.pool_item_id, populate_existing=True).taken == 1


def test_what_others_have_by_now_cannot_be_taken_up(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    old = put_off(session, jo, [("1", "a")])["a"]
    give_back(session, Assignment.id == old)
    with pytest.raises(NotFoundError):
        take_up(session, SLUG, old, kim, now=LATER)
    lend(session, [item(session, "1", "a")], kim, LATER)
    with pytest.raises(ConflictError, match="no longer waiting for you"):
        take_up(session, SLUG, old, jo, now=LATER)


def test_what_is_taken_up_has_the_purpose_that_drawing_it_would_have(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    old = put_off(session, jo, [("1", "a"), ("1", "b")])
    assert {session.get_one(Assignment, id_).purpose for id_ in old.values()} == {Purpose.FIRST}
    give_back(session, Assignment.judge_id == jo)
    # Meanwhile topic 1 got an owner: what jo may have of it are second opinions and what is for everyone.
    session.execute(update(Collection).values(judging_mode=JudgingMode.OWNED))
    session.execute(update(Topic).where(Topic.number == "1").values(owner_id=kim))
    of_a, of_b = item(session, "1", "a"), item(session, "1", "b")
    session.execute(update(PoolItem).where(PoolItem.id == of_a).values(is_overlap=True, judgements_wanted=2))
    session.execute(update(PoolItem).where(PoolItem.id == of_b).values(for_everyone=True, known_grade=1))
    session.expire_all()
    taken = {docno: take_up(session, SLUG, id_, jo, now=LATER) for docno, id_ in old.items()}
    purposes = {docno: session.get_one(Assignment, id_).purpose for docno, id_ in taken.items()}
    assert purposes == {"a": Purpose.OVERLAP, "b": Purpose.TEST}


def test_a_second_showing_that_went_back_is_not_taken_up(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    jo, of_a = member(session, "jo"), item(session, "1", "a")
    lend(session, [of_a], jo, LATER, {of_a: Purpose.RE_SHOWN})
    again = session.scalars(select(Assignment.id).where(Assignment.purpose == Purpose.RE_SHOWN)).one()
    give_back(session, Assignment.id == again)
    with pytest.raises(ConflictError, match="no longer waiting for you"):
        take_up(session, SLUG, again, jo, now=LATER)


def test_nothing_of_a_dropped_topic_is_taken_up(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    old = put_off(session, jo, [("2", "e")])["e"]
    give_back(session, Assignment.id == old)
    topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad.")
    with pytest.raises(ConflictError, match="no longer waiting for you"):
        take_up(session, SLUG, old, jo, now=LATER)


def test_nothing_is_taken_up_before_the_guidelines_nor_after_the_end(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    old = put_off(session, jo, [("1", "a")])["a"]
    give_back(session, Assignment.id == old)
    number = collection.set_guidelines(session, SLUG, "Be fair.", made_by_id=None, made_at=NOW)
    with pytest.raises(ConflictError, match="Accept the guidelines"):
        take_up(session, SLUG, old, jo, now=LATER)
    collection.accept_guidelines(session, SLUG, jo, number)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        take_up(session, SLUG, old, jo, now=LATER)


def test_an_empty_list_is_empty(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]})
    pool(session)
    jo = member(session, "jo")
    assert found(session, jo) == JudgedPage((), 0, 1, 1, ())
    assert listed(session, jo) == []
