"""The training: what it is made of, how a judge goes through it, what passes."""

from datetime import timedelta
from itertools import pairwise

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, document_file, member, news, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.files import InputFile
from annotator.storage import CannotJudge, Document, Preparation, QualifyingItem
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judge_desk import may_judge
from annotator.workflows.collections import collection
from annotator.workflows.judging import (
    gold_questions,
    judgement_export,
    training,
    training_attempts,
)
from annotator.workflows.judging.training_draws import draw
from annotator.workflows.topics import topic_editing
from annotator.workflows.topics.topic_editing import TopicWords

# The right grades are 2, 0 and 1.
TRAINING = "1\ta\t2\tIt answers it.\n1\tb\t0\tIt is about dogs.\n2\ta\t1\n"
LATER = NOW + timedelta(minutes=5)


@beginning
def with_training(session: Session, *, pass_mark: int | None = 60) -> None:
    news(session)
    topic_file(session)
    document_file(session, ["a", "b", "c"])
    assert take_in(session, TRAINING) == 3
    training.set_pass_mark(session, SLUG, pass_mark)


def take_in(session: Session, text: str) -> int:
    checked = training.check_training(session, SLUG, InputFile("t.tsv", text.encode()), unpacked_limit=LIMIT)
    return training.store_training(session, SLUG, checked)


def go_through(session: Session, judge: int, attempt: int, grades: list[int]) -> list[tuple[str, str]]:
    """Give these grades in turn; the topics and documents, in the order of showing."""
    shown = []
    for grade in grades:
        task = training_attempts.next_of_attempt(session, SLUG, judge, attempt)
        assert task is not None
        training_attempts.answer_item(session, SLUG, judge, attempt, task.item_id, grade, answered_at=NOW)
        shown.append((task.topic_number, task.document.docno))
    return shown


def answer_rightly(session: Session, judge: int, attempt: int) -> None:
    """Give every document of an attempt its correct grade."""
    correct = {(row.topic, row.docno): row.grade for row in training.show_training(session, SLUG).rows}
    while task := training_attempts.next_of_attempt(session, SLUG, judge, attempt):
        grade = correct[task.topic_number, task.document.docno]
        training_attempts.answer_item(session, SLUG, judge, attempt, task.item_id, grade, answered_at=NOW)


def test_a_judge_goes_through_the_documents_in_their_order_and_is_told_what_is_right(session: Session) -> None:
    with_training(session)
    jo = member(session, "jo")
    task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None
    assert (task.position, task.of, task.topic_number, task.topic_title) == (1, 3, "1", "first topic")
    assert (task.document.docno, task.document.body) == ("a", "Text of a.")
    with pytest.raises(NotFoundError, match="not answered"):
        training_attempts.feedback_on(session, SLUG, jo, 1, 1)
    position = training_attempts.answer_item(session, SLUG, jo, 1, task.item_id, 1, answered_at=NOW)
    told = training_attempts.feedback_on(session, SLUG, jo, 1, position).answer
    assert (told.grade, told.known_grade, told.is_right, told.explanation) == (1, 2, False, "It answers it.")
    following = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert following is not None
    assert (following.position, following.document.docno) == (2, "b")


def test_the_first_answer_to_a_document_stands(session: Session) -> None:
    with_training(session)
    jo = member(session, "jo")
    task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None
    for grade in (1, 2):
        assert training_attempts.answer_item(session, SLUG, jo, 1, task.item_id, grade, answered_at=LATER) == 1
    assert training_attempts.feedback_on(session, SLUG, jo, 1, 1).answer.grade == 1


# Two of three are 66.7 %.
@pytest.mark.parametrize(("pass_mark", "passes"), [(0, True), (66, True), (67, False), (100, False)])
def test_who_reaches_the_mark_may_judge(session: Session, pass_mark: int, *, passes: bool) -> None:
    with_training(session, pass_mark=pass_mark)
    jo = member(session, "jo")
    place = find_collection(session, SLUG)
    go_through(session, jo, 1, [2, 0])
    assert may_judge(session, place, jo) == Preparation.TRAINING  # what is not finished does not pass
    go_through(session, jo, 1, [0])
    assert may_judge(session, place, jo) == (None if passes else Preparation.TRAINING)
    state = training_attempts.training_of(session, SLUG, jo)
    assert (state.passed, state.current) == (passes, None if passes else 2)


def test_who_has_not_passed_begins_again_and_every_attempt_is_kept(session: Session) -> None:
    with_training(session, pass_mark=100)
    jo, kim = member(session, "jo"), member(session, "kim")
    go_through(session, jo, 1, [0, 1, 0])
    answer_rightly(session, jo, 2)
    go_through(session, kim, 1, [2])
    place = find_collection(session, SLUG)
    assert (may_judge(session, place, jo), may_judge(session, place, kim)) == (None, Preparation.TRAINING)
    results = training.training_results(session, SLUG)
    assert [
        (result.judge, result.passed, [(one.number, one.answered, one.right, one.of) for one in result.attempts])
        for result in results
    ] == [("jo", True, [(1, 3, 0, 3), (2, 3, 3, 3)]), ("kim", False, [(1, 1, 1, 3)])]
    # Of the answers to a, b and a of the second topic, 2 of 3, 1 of 2 and 1 of 2 were right.
    assert [(row.right, row.answered) for row in training.show_training(session, SLUG).rows] == [(2, 3), (1, 2), (1, 2)]


def test_every_attempt_after_the_first_has_an_order_of_its_own(session: Session) -> None:
    with_training(session, pass_mark=100)
    jo = member(session, "jo")
    given = go_through(session, jo, 1, [0, 1, 0])
    others = [go_through(session, jo, attempt, [0, 1, 0]) for attempt in range(2, 6)]
    assert all(sorted(other) == sorted(given) and other != given for other in others)
    answers = training_attempts.training_of(session, SLUG, jo).answers
    assert [one.position for one in answers[2]] == [1, 2, 3]
    for one in answers[2]:
        assert training_attempts.feedback_on(session, SLUG, jo, 2, one.position).answer.is_right == one.is_right


def test_an_attempt_draws_documents_that_the_attempts_before_it_had_not(session: Session) -> None:
    with_training(session, pass_mark=100)
    take_in(session, "1\tc\t1\n2\tb\t1\n2\tc\t1\n")
    training.set_training_size(session, SLUG, 2)
    jo = member(session, "jo")
    attempts = [go_through(session, jo, attempt, [0, 0]) for attempt in range(1, 4)]
    stored = {(row.topic, row.docno) for row in training.show_training(session, SLUG).rows}
    assert {pair for attempt in attempts for pair in attempt} == stored
    state = training_attempts.training_of(session, SLUG, jo)
    assert (state.documents, state.stored, state.current) == (2, 6, 4)
    assert [(one.answered, one.of) for one in state.attempts] == [(2, 2)] * 3
    # The wrong answers of the last attempt, with what is correct and where to read the document again.
    assert [(one.topic, one.docno) for one in state.wrong] == [pair for pair in attempts[2] if pair != ("1", "b")]
    again = training_attempts.feedback_on(session, SLUG, jo, 3, state.wrong[0].position)
    assert (again.is_finished, again.answer, again.task.document.docno) == (True, state.wrong[0], state.wrong[0].docno)


@pytest.mark.parametrize(("stored", "size"), [(6, 2), (7, 3), (5, 4), (4, 4), (3, 9), (1, None), (6, None)])
def test_every_draw_has_each_document_once_and_is_the_same_when_it_is_repeated(stored: int, size: int | None) -> None:
    draws = [draw(stored, size, attempt, seed="s") for attempt in range(1, 9)]
    assert all(len(set(one)) == len(one) == min(size or stored, stored) for one in draws)
    assert draws == [draw(stored, size, attempt, seed="s") for attempt in range(1, 9)]
    if stored > 1:
        assert all(one != another for one, another in pairwise(draws) if len(one) < stored)
        assert all(one != draws[0] for one in draws[1:]) or size


@pytest.mark.parametrize("size", [0, 10_001])
def test_the_number_of_documents_of_an_attempt_has_limits(session: Session, size: int) -> None:
    with_training(session)
    with pytest.raises(InvalidValueError, match="1 to 10000"):
        training.set_training_size(session, SLUG, size)


def test_the_number_of_documents_of_an_attempt_stays_while_there_are_answers(session: Session) -> None:
    with_training(session)
    training.set_training_size(session, SLUG, 2)
    go_through(session, member(session, "jo"), 1, [0])
    with pytest.raises(ConflictError, match="Judges have begun this training"):
        training.set_training_size(session, SLUG, 3)
    training.set_rules(session, SLUG, 70, 2)
    assert (training.show_training(session, SLUG).pass_mark, training.show_training(session, SLUG).size) == (70, 2)


def test_a_document_that_cannot_be_judged_is_answered_wrongly(session: Session) -> None:
    with_training(session, pass_mark=60)
    jo = member(session, "jo")
    task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None

    def say(grade: int | None, reason: CannotJudge | None) -> int:
        return training_attempts.answer_item(
            session, SLUG, jo, 1, task.item_id, grade, cannot_judge=reason, answered_at=NOW
        )

    for grade, reason in ((None, None), (1, CannotJudge.BROKEN), (None, CannotJudge.WITHDRAWN)):
        with pytest.raises(InvalidValueError):
            say(grade, reason)
    assert say(None, CannotJudge.NO_TEXT) == 1
    answer = training_attempts.feedback_on(session, SLUG, jo, 1, 1).answer
    assert (answer.grade, answer.cannot_judge, answer.is_right) == (None, CannotJudge.NO_TEXT, False)
    go_through(session, jo, 1, [0, 1])
    assert [(one.answered, one.right) for one in training_attempts.training_of(session, SLUG, jo).attempts] == [(3, 2)]


def test_documents_of_an_attempt_are_shown_when_it_is_their_turn_and_afterwards(session: Session) -> None:
    with_training(session)
    jo = member(session, "jo")
    go_through(session, jo, 1, [0])
    shown = [training_attempts.shown_document(session, SLUG, jo, 1, position).docno for position in (1, 2)]
    assert shown == ["a", "b"]
    for attempt, position in ((1, 3), (1, 0), (2, 1)):
        with pytest.raises(NotFoundError):
            training_attempts.shown_document(session, SLUG, jo, attempt, position)


def test_only_the_attempt_that_is_due_takes_answers(session: Session) -> None:
    with_training(session, pass_mark=100)
    jo = member(session, "jo")
    task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None
    with pytest.raises(ConflictError, match="not the one that you are at"):
        training_attempts.answer_item(session, SLUG, jo, 2, task.item_id, 0, answered_at=NOW)
    with pytest.raises(NotFoundError, match="no such attempt"):
        training_attempts.next_of_attempt(session, SLUG, jo, 2)
    go_through(session, jo, 1, [0, 0, 0])
    assert training_attempts.next_of_attempt(session, SLUG, jo, 1) is None
    with pytest.raises(InvalidValueError, match="3 is not a grade"):
        training_attempts.answer_item(session, SLUG, jo, 2, task.item_id, 3, answered_at=NOW)
    with pytest.raises(NotFoundError, match="not in the training any more"):
        training_attempts.answer_item(session, SLUG, jo, 2, 999, 0, answered_at=NOW)


def test_the_documents_of_an_attempt_are_answered_in_their_order(session: Session) -> None:
    with_training(session)
    jo = member(session, "jo")
    first, second, third = session.scalars(select(QualifyingItem.id).order_by(QualifyingItem.position))
    for too_early in (second, third):
        with pytest.raises(ConflictError, match="Another document of the training comes first"):
            training_attempts.answer_item(session, SLUG, jo, 1, too_early, 0, answered_at=NOW)
    for position, item in enumerate((first, second, third), start=1):
        assert training_attempts.answer_item(session, SLUG, jo, 1, item, 0, answered_at=NOW) == position
        assert training_attempts.feedback_on(session, SLUG, jo, 1, position).answer.grade == 0


def test_no_training_is_asked_for_without_a_mark_or_without_documents(session: Session) -> None:
    with_training(session, pass_mark=None)
    jo = member(session, "jo")
    place = find_collection(session, SLUG)
    assert may_judge(session, place, jo) is None
    go_through(session, jo, 1, [0, 1, 0])
    assert training_attempts.training_of(session, SLUG, jo).passed  # that it is finished is enough
    training.set_pass_mark(session, SLUG, 50)
    assert may_judge(session, place, jo) == Preparation.TRAINING
    training.clear_training(session, SLUG, with_answers=True)
    assert may_judge(session, place, jo) is None
    state = training_attempts.training_of(session, SLUG, jo)
    assert (state.documents, state.current, state.attempts) == (0, None, ())


def test_nothing_that_is_said_in_a_training_is_a_judgement(session: Session) -> None:
    with_training(session)
    run(session, "alpha", {"1": ["a", "b"]})
    go_through(session, member(session, "jo"), 1, [2, 0, 1])
    assert list(judgement_export.export_judgements(session, SLUG)) == []


def test_every_problem_of_a_file_is_told_with_its_line_and_nothing_is_stored(session: Session) -> None:
    with_training(session)
    run(session, "alpha", {"1": ["notext"]})
    topic_editing.add_draft(session, SLUG, "3", TopicWords("a draft"))
    text = "1\tc\t2\n9\tc\t1\n3\tc\t1\n1\tmissing\t1\n1\tnotext\t1\n2\tc\t7\n1\ta\t2\nthree words here\n"
    with pytest.raises(FileRefusedError) as refused:
        take_in(session, text)
    assert [str(problem) for problem in refused.value.problems] == [
        "t.tsv:2: The collection has no topic 9.",
        "t.tsv:3: The collection has no topic 3.",
        "t.tsv:4: The collection has no document missing.",
        "t.tsv:5: The document notext has no text here yet.",
        "t.tsv:6: The grade 7 is not in the scale of the collection, which has 0, 1, 2.",
        "t.tsv:7: Document a of topic 1 is in the training already.",
        "t.tsv:8: The line has one field between tabs; it needs topic, docno, grade and, optionally, an explanation.",
    ]
    assert len(training.show_training(session, SLUG).rows) == 3


def test_a_document_that_is_a_test_question_is_refused_and_so_is_one_with_its_text(session: Session) -> None:
    pooled_news(session)
    question = gold_questions.one_question(session, SLUG, "1", "a", 2)
    gold_questions.store_questions(session, SLUG, question, added_by_id=None, added_at=NOW)
    for document in session.scalars(select(Document).where(Document.docno.in_(["a", "b"]))).all():
        document.text_hash = "the same"
    session.flush()
    # Of the other topic the same document may have any grade.
    with pytest.raises(FileRefusedError) as refused:
        take_in(session, "2\ta\t1\n1\ta\t2\n1\tb\t0\n1\tc\t0\n")
    assert [str(problem) for problem in refused.value.problems] == [
        f"t.tsv:{line}: Document {docno} of topic 1 cannot be in the training, which would reveal the grade of this "
        "text: a is a gold question."
        for line, docno in ((2, "a"), (3, "b"))
    ]
    assert take_in(session, "2\ta\t1\n1\tc\t0\n") == 2


def test_documents_join_behind_those_that_are_there_until_judges_begin(session: Session) -> None:
    with_training(session)
    assert take_in(session, "1\tc\t1\tIn part.\n") == 1
    rows = training.show_training(session, SLUG).rows
    assert [(row.topic, row.docno, row.grade) for row in rows] == [
        ("1", "a", 2),
        ("1", "b", 0),
        ("2", "a", 1),
        ("1", "c", 1),
    ]
    go_through(session, member(session, "jo"), 1, [2])
    with pytest.raises(ConflictError, match="Judges have begun this training"):
        take_in(session, "2\tc\t1\n")
    with pytest.raises(ConflictError, match="their answers are deleted"):
        training.clear_training(session, SLUG)
    assert training.clear_training(session, SLUG, with_answers=True) == 4
    assert take_in(session, "2\tc\t1\n") == 1


def test_a_check_made_before_somebody_else_added_the_same_is_made_again(session: Session) -> None:
    with_training(session)
    checked = training.check_training(session, SLUG, InputFile("t.tsv", b"1\tc\t1\n"), unpacked_limit=LIMIT)
    training.store_training(session, SLUG, checked)
    with pytest.raises(FileRefusedError):
        training.store_training(session, SLUG, checked)


@pytest.mark.parametrize("mark", [-1, 101])
def test_a_pass_mark_is_a_percentage(session: Session, mark: int) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match="from 0 to 100"):
        training.set_pass_mark(session, SLUG, mark)


def test_a_closed_collection_takes_no_training(session: Session) -> None:
    with_training(session)
    jo = member(session, "jo")
    task = training_attempts.next_of_attempt(session, SLUG, jo, 1)
    assert task is not None
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        training_attempts.answer_item(session, SLUG, jo, 1, task.item_id, 0, answered_at=NOW)
    with pytest.raises(ConflictError):
        training.set_pass_mark(session, SLUG, 10)
    with pytest.raises(ConflictError):
        training.clear_training(session, SLUG)


def test_the_right_grade_of_a_document_cannot_leave_the_scale(session: Session) -> None:
    with_training(session)
    without_two = collection.CollectionChange(scale=collection.read_scale("0=No, 1=Yes"), relevant_from=1)
    with pytest.raises(ConflictError, match="cannot leave the scale: 2"):
        collection.change_collection(session, SLUG, without_two)


def test_nor_can_a_grade_that_a_judge_in_training_gave(session: Session) -> None:
    with_training(session)
    training.clear_training(session, SLUG)
    take_in(session, "1\ta\t0\n1\tb\t1\n")
    go_through(session, member(session, "jo"), 1, [2])
    without_two = collection.CollectionChange(scale=collection.read_scale("0=No, 1=Yes"), relevant_from=1)
    with pytest.raises(ConflictError, match="cannot leave the scale: 2"):
        collection.change_collection(session, SLUG, without_two)
