"""Questions of judges: stored once, answered by organisers, shown to who asked."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, member, news, pooled_news, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Assignment, Role
from annotator.workflows.collections import collection
from annotator.workflows.collections.waiting import waiting
from annotator.workflows.judging import questions
from annotator.workflows.topics import topic_editing
from annotator.workflows.topics.topic_editing import TopicWords

LATER = NOW + timedelta(hours=1)


def ask(session: Session, judge: int, text: str, client_id: str, **about: object) -> None:
    questions.ask(session, SLUG, judge, text, client_id=client_id, asked_at=NOW, **about)  # type: ignore[arg-type]  # topic or assignment


def answer(session: Session, text: str, number: int, by: int | None = None) -> None:
    questions.answer(session, SLUG, number, text, answered_by_id=by, answered_at=LATER)


def numbers(session: Session) -> dict[str, int]:
    return {row.client_id: row.id for row in questions.list_questions(session, SLUG)}


def test_a_question_is_stored_once_however_often_it_arrives(session: Session) -> None:
    news(session)
    topic_file(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    ask(session, jo, " Do kittens count?\n", "q1", topic="1")
    ask(session, jo, "Do kittens count?", "q1", topic="1")
    [row] = questions.own_questions(session, SLUG, jo)
    assert (row.topic, row.topic_title, row.docno, row.text, row.is_open) == (
        "1",
        "first topic",
        None,
        "Do kittens count?",
        True,
    )
    with pytest.raises(ConflictError, match="belongs to another question"):
        ask(session, kim, "Mine.", "q1")
    assert questions.own_questions(session, SLUG, kim) == []


def test_a_question_about_a_document_is_about_its_topic_too_and_only_about_ones_own(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "2 0 e 1\n")
    jo, kim = member(session, "jo"), member(session, "kim")
    assignment = session.scalars(select(Assignment.id)).one()
    ask(session, jo, "Is this one broken?", "q1", assignment_id=assignment, topic="1")
    [row] = questions.own_questions(session, SLUG, jo)
    assert (row.topic, row.docno, row.document_title) == ("2", "e", "Title of e")
    assert row.assignment_id == assignment
    with pytest.raises(NotFoundError, match="no such assignment"):
        ask(session, kim, "And this?", "q2", assignment_id=assignment)
    assert questions.ask_about(session, SLUG, jo, None, assignment).docno == "e"
    assert questions.ask_about(session, SLUG, jo, "1", None).topic_title == "first topic"
    assert questions.ask_about(session, SLUG, jo, None, None).topic is None


def test_an_answer_is_new_until_it_was_shown_and_again_when_it_changes(session: Session) -> None:
    news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    ola = member(session, "ola", Role.ORGANISER)
    ask(session, jo, "How long?", "q1")
    ask(session, kim, "How many?", "q2")
    assert questions.count_new_answers(session, SLUG, jo) == 0
    answer(session, "Ten days.", numbers(session)["q1"], ola)
    assert (questions.count_new_answers(session, SLUG, jo), questions.count_new_answers(session, SLUG, kim)) == (1, 0)
    [row] = questions.own_questions(session, SLUG, jo)
    assert (row.answer, row.answered_by, row.answered_at, row.is_new) == ("Ten days.", "ola", LATER, True)
    questions.read_answers(session, SLUG, jo, read_at=LATER)
    assert questions.count_new_answers(session, SLUG, jo) == 0
    answer(session, "Ten days. ", numbers(session)["q1"], ola)  # the same
    assert questions.count_new_answers(session, SLUG, jo) == 0
    answer(session, "Nine days.", numbers(session)["q1"])
    [row] = questions.own_questions(session, SLUG, jo)
    assert (row.answer, row.answered_by, row.is_new) == ("Nine days.", None, True)


def test_only_those_answers_are_read_that_were_shown(session: Session) -> None:
    news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    for judge, client_id in ((jo, "q1"), (jo, "q2"), (kim, "q3")):
        ask(session, judge, "How?", client_id)
        answer(session, "So.", numbers(session)[client_id])
    questions.read_answers(session, SLUG, jo, read_at=LATER, client_ids=["q2", "q3"])
    assert {row.client_id: row.is_new for row in questions.list_questions(session, SLUG)} == {
        "q1": True,
        "q2": False,
        "q3": True,
    }


def test_organisers_see_open_questions_first_and_then_the_newest_answers(session: Session) -> None:
    news(session)
    jo = member(session, "jo")
    for client_id in ("q1", "q2", "q3", "q4"):
        ask(session, jo, "How?", client_id)
    ids = numbers(session)
    assert waiting(session, SLUG).questions == 4
    questions.answer(session, SLUG, ids["q1"], "So.", answered_by_id=None, answered_at=NOW + timedelta(hours=2))
    questions.answer(session, SLUG, ids["q3"], "So.", answered_by_id=None, answered_at=NOW + timedelta(hours=3))
    assert [row.client_id for row in questions.list_questions(session, SLUG)] == ["q2", "q4", "q3", "q1"]
    assert waiting(session, SLUG).questions == 2


@pytest.mark.parametrize(
    ("text", "client_id", "sentence"),
    [(" \n", "q1", "cannot be empty"), ("x" * 10_001, "q1", "too long"), ("How?", "q 1", "1 to 64 letters")],
)
def test_what_cannot_be_asked_is_refused(session: Session, text: str, client_id: str, sentence: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        ask(session, member(session, "jo"), text, client_id)


def test_nobody_asks_about_drafts_nor_when_judging_has_ended_but_answers_still_come(session: Session) -> None:
    news(session)
    jo = member(session, "jo")
    topic_editing.add_draft(session, SLUG, "3", TopicWords("a draft"))
    with pytest.raises(NotFoundError):
        ask(session, jo, "How?", "q1", topic="3")
    ask(session, jo, "How?", "q2")
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        ask(session, jo, "And now?", "q3")
    answer(session, "So.", numbers(session)["q2"])
    assert questions.count_new_answers(session, SLUG, jo) == 1


def test_a_question_is_answered_in_its_own_collection_with_words(session: Session) -> None:
    news(session)
    news(session, "other")
    ask(session, member(session, "jo"), "How?", "q1")
    number = numbers(session)["q1"]
    with pytest.raises(InvalidValueError, match="An answer cannot be empty"):
        answer(session, " \u200b\u3164", number)
    with pytest.raises(NotFoundError, match=f"no question {number} in"):
        questions.answer(session, "other", number, "So.", answered_by_id=None, answered_at=LATER)
