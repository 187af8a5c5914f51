"""The training for organisers: documents with the correct grade and its reason, a pass mark, and results."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Problems
from annotator.evaluation.formats.qualifying_format import QualifyingRow, parse_qualifying
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.qrels.scale import note_outside_scale
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Document,
    Membership,
    QualifyingAnswer,
    QualifyingItem,
    Role,
    Topic,
    TopicState,
    User,
)
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    lock_open_collection,
    scale_of,
    topic_ids,
)
from annotator.storage.documents.documents import asked_as_test, document_ids, stored_documents
from annotator.storage.judging.judge_desk import Attempt, attempts_at_training, count_qualifying

MOST_IN_AN_ATTEMPT = 10_000


@dataclass(frozen=True)
class CheckedTraining:
    """A valid file of training documents."""

    name: str
    rows: tuple[QualifyingRow, ...]


@dataclass(frozen=True)
class TrainingRow:
    """A training document, and how many of the answers to it, over all attempts, were correct."""

    topic: str
    docno: str
    title: str
    grade: int
    explanation: str
    right: int
    answered: int


@dataclass(frozen=True)
class Training:
    """The documents in their order, the pass mark in per cent, and the number of documents of an attempt.

    Without a mark (None) none is required; without a number (None) an attempt has all documents.
    """

    pass_mark: int | None
    size: int | None
    rows: tuple[TrainingRow, ...]


@dataclass(frozen=True)
class TrainingResult:
    """A judge's result: every attempt, and whether one of them passes."""

    judge: str
    attempts: tuple[Attempt, ...]
    passed: bool


def check_training(session: Session, slug: str, file: InputFile, *, unpacked_limit: int) -> CheckedTraining:
    """Read and validate a file of training documents; stores nothing.

    Raises `FileRefusedError` with every problem: the format, topics and documents that are unknown or not ready for
    judges, grades outside the scale, and documents that are in the training already.
    """
    collection = find_open_collection(session, slug)
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    rows = parse_qualifying(file.name, text, problems) if text is not None else []
    _note_unfitting(session, collection, file.name, rows, problems)
    problems.refuse_if_any()
    return CheckedTraining(file.name, tuple(rows))


def store_training(session: Session, slug: str, checked: CheckedTraining) -> int:
    """Append valid documents to the training, and return their number.

    Raises `ConflictError` when judges have begun: their attempts would count for a different training.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    if _count_answers(session, collection.id):
        raise ConflictError("Judges have begun this training: clear it, with their answers, before you change it.")
    problems = Problems()
    _note_unfitting(session, collection, checked.name, checked.rows, problems)
    problems.refuse_if_any()
    topics = topic_ids(session, collection.id)
    documents = document_ids(session, collection.id, {row.docno for row in checked.rows})
    first = count_qualifying(session, collection.id)
    session.execute(
        insert(QualifyingItem),
        [
            {
                "collection_id": collection.id,
                "topic_id": topics[row.topic],
                "document_id": documents[row.docno],
                "position": position,
                "known_grade": row.grade,
                "explanation": row.explanation,
            }
            for position, row in enumerate(checked.rows, start=first + 1)
        ],
    )
    return len(checked.rows)


def clear_training(session: Session, slug: str, *, with_answers: bool = False) -> int:
    """Delete every training document and return their number; `with_answers` deletes judges' answers, too.

    Raises `ConflictError` when there are answers that are not to be deleted.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    if _count_answers(session, collection.id) and not with_answers:
        raise ConflictError("Judges have answered in this training: confirm that their answers are deleted, too.")
    items = select(QualifyingItem.id).where(QualifyingItem.collection_id == collection.id)
    count = count_qualifying(session, collection.id)
    session.execute(delete(QualifyingAnswer).where(QualifyingAnswer.qualifying_item_id.in_(items)))
    session.execute(delete(QualifyingItem).where(QualifyingItem.collection_id == collection.id))
    return count


def set_rules(session: Session, slug: str, mark: int | None, size: int | None) -> None:
    """Set the pass mark and the number of documents of an attempt, as `set_pass_mark` and `set_training_size` do."""
    set_pass_mark(session, slug, mark)
    set_training_size(session, slug, size)


def set_pass_mark(session: Session, slug: str, mark: int | None) -> None:
    """Set the percentage of correct answers required before real work; None requires no training.

    It applies to earlier attempts, too. Raises `InvalidValueError` for a value outside 0 to 100.
    """
    if mark is not None and not 0 <= mark <= 100:  # noqa: PLR2004 - percent
        raise InvalidValueError("A pass mark is a percentage from 0 to 100; %(mark)d is not.", mark=mark)
    lock_open_collection(session, slug).pass_mark = mark


def set_training_size(session: Session, slug: str, size: int | None) -> None:
    """Set how many of its documents an attempt at the training has; None for all of them.

    Raises `InvalidValueError` for a number under 1, and `ConflictError` when judges have begun: the documents of their
    attempts would change.
    """
    if size is not None and not 1 <= size <= MOST_IN_AN_ATTEMPT:
        raise InvalidValueError(
            "An attempt has 1 to %(most)d documents; %(size)d is not possible.", most=MOST_IN_AN_ATTEMPT, size=size
        )
    collection = lock_open_collection(session, slug, against_judging=True)
    if size != collection.training_size and _count_answers(session, collection.id):
        raise ConflictError("Judges have begun this training: clear it, with their answers, before you change it.")
    collection.training_size = size


def show_training(session: Session, slug: str) -> Training:
    """The documents and the pass mark of the training."""
    collection = find_collection(session, slug)
    right = func.count().filter(QualifyingAnswer.grade == QualifyingItem.known_grade)
    answers = dict[int, tuple[int, int]]()
    for item, right_answers, count in session.execute(
        select(QualifyingItem.id, right, func.count())
        .join(QualifyingAnswer, QualifyingAnswer.qualifying_item_id == QualifyingItem.id)
        .where(QualifyingItem.collection_id == collection.id)
        .group_by(QualifyingItem.id)
    ):
        answers[item] = (right_answers, count)
    rows = session.execute(
        select(QualifyingItem, Topic.number, Document.docno, Document.title)
        .join(Topic, Topic.id == QualifyingItem.topic_id)
        .join(Document, Document.id == QualifyingItem.document_id)
        .where(QualifyingItem.collection_id == collection.id)
        .order_by(QualifyingItem.position)
    )
    return Training(
        collection.pass_mark,
        collection.training_size,
        tuple(
            TrainingRow(number, docno, title, item.known_grade, item.explanation, *answers.get(item.id, (0, 0)))
            for item, number, docno, title in rows
        ),
    )


def training_results(session: Session, slug: str) -> list[TrainingResult]:
    """Results of every judge, by name, including those who have not begun and former judges."""
    collection = find_collection(session, slug)
    attempts = {
        judge: tuple(of_judge)
        for judge, of_judge in groupby(attempts_at_training(session, collection.id), key=lambda each: each.judge_id)
    }
    members = select(Membership.user_id).where(Membership.collection_id == collection.id, Membership.role == Role.JUDGE)
    judges = session.execute(
        select(User.id, User.name).where(User.id.in_(members) | User.id.in_(list(attempts))).order_by(User.name)
    )
    return [
        TrainingResult(
            name,
            attempts.get(id_, ()),
            any(attempt.passes(collection.pass_mark) for attempt in attempts.get(id_, ())),
        )
        for id_, name in judges
    ]


def _count_answers(session: Session, collection_id: int) -> int:
    return session.scalars(
        select(func.count())
        .select_from(QualifyingAnswer)
        .join(QualifyingItem, QualifyingItem.id == QualifyingAnswer.qualifying_item_id)
        .where(QualifyingItem.collection_id == collection_id)
    ).one()


def _note_unfitting(
    session: Session, collection: Collection, name: str, rows: Sequence[QualifyingRow], problems: Problems
) -> None:
    """Add a problem for every row that does not fit the collection's current state."""
    topics = topic_ids(session, collection.id, Topic.state != TopicState.DRAFT)
    grades = {grade.value for grade in scale_of(session, collection.id)}
    there = _pairs(session, collection.id)
    has_text = _has_text(session, collection.id, {row.docno for row in rows})
    for row in rows:
        if row.topic not in topics:
            problems.add(name, row.line, "The collection has no topic %(topic)s.", topic=row.topic)
        if row.docno not in has_text:
            problems.add(name, row.line, "The collection has no document %(docno)s.", docno=row.docno)
        elif not has_text[row.docno]:
            problems.add(name, row.line, "The document %(docno)s has no text here yet.", docno=row.docno)
        if row.grade not in grades:
            note_outside_scale(name, row.line, row.grade, grades, problems)
        if (row.topic, row.docno) in there:
            problems.add(
                name,
                row.line,
                "Document %(docno)s of topic %(topic)s is in the training already.",
                docno=row.docno,
                topic=row.topic,
            )
    _note_test_questions(session, collection.id, name, rows, problems)


def _note_test_questions(
    session: Session, collection_id: int, name: str, rows: Sequence[QualifyingRow], problems: Problems
) -> None:
    """Add a problem for every gold question: judges must not be shown its grade."""
    asked = asked_as_test(session, collection_id, {(row.topic, row.docno) for row in rows})
    for row in rows:
        if other := asked.get((row.topic, row.docno)):
            problems.add(
                name,
                row.line,
                "Document %(docno)s of topic %(topic)s cannot be in the training, which would reveal the grade of "
                "this text: %(other)s is a gold question.",
                docno=row.docno,
                topic=row.topic,
                other=other,
            )


def _pairs(session: Session, collection_id: int) -> set[tuple[str, str]]:
    rows = session.execute(
        select(Topic.number, Document.docno)
        .join(QualifyingItem, QualifyingItem.topic_id == Topic.id)
        .join(Document, Document.id == QualifyingItem.document_id)
        .where(QualifyingItem.collection_id == collection_id)
    )
    return {(number, docno) for number, docno in rows}


def _has_text(session: Session, collection_id: int, docnos: set[str]) -> dict[str, bool]:
    """Docno → whether there is a text, for the documents that exist."""
    stored = stored_documents(session, collection_id, len(docnos), [sorted(docnos)], with_text=True)
    return {docno: has_text for rows in stored for docno, _, has_text in rows if docno in docnos}
