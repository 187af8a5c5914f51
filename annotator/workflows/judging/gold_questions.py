"""Gold questions: documents with a known grade, mixed in for every judge of their topic."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Row, insert, select, update
from sqlalchemy.orm import Session, aliased

from annotator.errors import InvalidValueError, NotFoundError, Problems
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.qrels.gold_question_files import KnownGrade, readable_known_grades
from annotator.evaluation.qrels.scale import note_outside_scale
from annotator.files import InputFile
from annotator.storage import (
    ACCEPTED,
    Assignment,
    AssignmentState,
    Collection,
    Contribution,
    Document,
    Judgement,
    PoolItem,
    Purpose,
    Topic,
    User,
)
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    lock_open_collection,
    scale_of,
    topic_ids,
)
from annotator.storage.documents.documents import document_ids, in_training
from annotator.storage.judging.judgements_wanted import base_wanted, settle_needs
from annotator.storage.judging.leases import give_back
from annotator.storage.pools.pool_items import add_pool_items
from annotator.storage.pools.pools import next_pool, next_seed
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import Besides

Key = TypeVar("Key", int, str)


@dataclass(frozen=True)
class CheckedQuestions:
    """Valid gold questions, and their source."""

    name: str
    checksum: str | None
    rows: tuple[KnownGrade, ...]


@dataclass(frozen=True)
class StoredQuestions:
    """Result of storing gold questions: `changed` had another grade, `known` this one, `pooled` joined the pool."""

    added: int
    changed: int
    known: int
    pooled: int


@dataclass(frozen=True)
class _Present:
    """A pooled document with its known grade so far."""

    item_id: int
    known_grade: int | None


def check_questions(session: Session, slug: str, file: InputFile, *, unpacked_limit: int) -> CheckedQuestions:
    """Read and validate a file of topic, docno and grade; stores nothing.

    Raises `FileRefusedError` with every problem: the format, topics that are not accepted, grades outside the scale,
    documents without a text, and those never shown because they repeat the text of another.
    """
    collection = find_open_collection(session, slug)
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    scale = [grade.value for grade in scale_of(session, collection.id)]
    rows = readable_known_grades(file.name, text, problems, scale=scale) if text is not None else []
    _note_what_does_not_fit(session, collection, file.name, rows, problems)
    problems.refuse_if_any()
    return CheckedQuestions(file.name, hashlib.sha256(file.content).hexdigest(), tuple(rows))


def one_question(session: Session, slug: str, topic: str, docno: str, grade: int) -> CheckedQuestions:
    """One gold question, validated as a file of them is; raises `InvalidValueError`."""
    collection = find_open_collection(session, slug)
    problems = Problems()
    row = KnownGrade(topic, docno, grade)
    _note_what_does_not_fit(session, collection, "", [row], problems)
    for problem in problems.first:
        raise InvalidValueError(problem.sentence.template, **problem.sentence.values)
    return CheckedQuestions("", None, (row,))


def store_questions(
    session: Session, slug: str, checked: CheckedQuestions, *, added_by_id: int | None, added_at: datetime
) -> StoredQuestions:
    """Store gold questions; those outside the pool join it, with this import as their contribution.

    Judgements that exist already count as answers. Raises `FileRefusedError` for questions no longer valid since the
    check.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    problems = Problems()
    _note_what_does_not_fit(session, collection, checked.name, checked.rows, problems)
    problems.refuse_if_any()
    topics = topic_ids(session, collection.id)
    documents = document_ids(session, collection.id, {row.docno for row in checked.rows})
    pairs = {(topics[row.topic], documents[row.docno]): row for row in checked.rows}
    outside = sorted(pairs.keys() - _present(session, pairs).keys())
    if outside:
        _pool(session, collection, outside, checked, added_by_id, added_at)
        _note_repeated_texts(session, collection.id, checked.name, checked.rows, problems)
        problems.refuse_if_any()
    present = _present(session, pairs)
    new = {present[pair].item_id: row.grade for pair, row in pairs.items() if present[pair].known_grade != row.grade}
    if new:
        rows = [{"id": id_, "known_grade": grade, "for_everyone": True} for id_, grade in sorted(new.items())]
        session.execute(update(PoolItem), rows)
        settle_needs(session, collection.id, sorted({topic_id for topic_id, _ in pairs}))
    changed = sum(present[pair].known_grade not in (None, row.grade) for pair, row in pairs.items())
    return StoredQuestions(len(new) - changed, changed, len(pairs) - len(new), len(outside))


def add_question(
    session: Session, slug: str, topic: str, docno: str, grade: int, *, added_by_id: int | None, added_at: datetime
) -> StoredQuestions:
    """Store one gold question; raises as `one_question` and `store_questions`."""
    checked = one_question(session, slug, topic, docno, grade)
    return store_questions(session, slug, checked, added_by_id=added_by_id, added_at=added_at)


def remove_questions(session: Session, slug: str, questions: Sequence[tuple[str, str]]) -> int:
    """Turn gold questions (topic number, docno) into ordinary documents, keep their judgements, and return the number.

    Raises `NotFoundError` for a document that is no gold question; nothing is changed then.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    topics = topic_ids(session, collection.id)
    documents = document_ids(session, collection.id, {docno for _, docno in questions})
    pairs = {(topics.get(number, 0), documents.get(docno, 0)): (number, docno) for number, docno in questions}
    present = _present(session, pairs)
    for pair, (number, docno) in pairs.items():
        if pair not in present or present[pair].known_grade is None:
            raise NotFoundError(
                "Document “%(docno)s” is no gold question of topic “%(topic)s”.", docno=docno, topic=number
            )
    items = sorted(one.item_id for one in present.values())
    for chunk in chunks(items):
        # An assignment held only as a gold question exceeds the judgements wanted.
        give_back(session, Assignment.pool_item_id.in_(chunk), Assignment.purpose == Purpose.TEST)
    if items:
        # Items drawn as common before they became gold questions are common again.
        common = _drawn_as_common(session, items)
        rows = [{"id": id_, "known_grade": None, "for_everyone": id_ in common} for id_ in items]
        session.execute(update(PoolItem), rows)
        settle_needs(session, collection.id, sorted({topic_id for topic_id, _ in pairs}))
    return len(items)


def _note_what_does_not_fit(
    session: Session, collection: Collection, name: str, rows: Sequence[KnownGrade], problems: Problems
) -> None:
    accepted = topic_ids(session, collection.id, ACCEPTED)
    scale = {grade.value for grade in scale_of(session, collection.id)}
    with_text = _with_text(session, collection.id, {row.docno for row in rows})
    for row in rows:
        if row.topic not in accepted:
            problems.add(
                name, row.line, "There is no accepted topic “%(number)s” in this collection.", number=row.topic
            )
        elif row.docno not in with_text:
            problems.add(
                name, row.line, "Document %(docno)s has no text in this collection: import it first.", docno=row.docno
            )
        elif row.grade not in scale:
            note_outside_scale(name, row.line, row.grade, scale, problems)
    _note_repeated_texts(session, collection.id, name, rows, problems)
    _note_training(session, collection.id, name, rows, problems)


def _note_training(
    session: Session, collection_id: int, name: str, rows: Sequence[KnownGrade], problems: Problems
) -> None:
    """Add a problem for every document whose grade the training reveals."""
    in_both = in_training(session, collection_id, {(row.topic, row.docno) for row in rows})
    for row in rows:
        if other := in_both.get((row.topic, row.docno)):
            problems.add(
                name,
                row.line,
                "Document %(docno)s of topic %(topic)s cannot be a gold question: the training contains %(other)s and "
                "reveals the grade of this text.",
                docno=row.docno,
                topic=row.topic,
                other=other,
            )


def _note_repeated_texts(
    session: Session, collection_id: int, name: str, rows: Sequence[KnownGrade], problems: Problems
) -> None:
    """Add a problem for every document that is not shown, since another of its topic has the same text."""
    shown, document = aliased(PoolItem), aliased(Document)
    repeated = (
        select(Topic.number, Document.docno, document.docno)
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(shown, shown.id == PoolItem.duplicate_of_id)
        .join(document, document.id == shown.document_id)
        .where(Topic.collection_id == collection_id, Document.collection_id == collection_id)
    )
    shown_instead = {
        (number, docno): other
        for wanted, docnos in _by_topic((row.topic, row.docno) for row in rows)
        for number, docno, other in session.execute(repeated.where(Topic.number == wanted, Document.docno.in_(docnos)))
    }
    for row in rows:
        if other := shown_instead.get((row.topic, row.docno)):
            problems.add(
                name,
                row.line,
                "Document %(docno)s of topic %(topic)s has the same text as %(other)s, which is shown instead: make "
                "that the gold question.",
                docno=row.docno,
                topic=row.topic,
                other=other,
            )


def _with_text(session: Session, collection_id: int, docnos: Iterable[str]) -> set[str]:
    statement = select(Document.docno).where(Document.collection_id == collection_id, Document.body.is_not(None))
    return {
        docno
        for chunk in chunks(sorted(docnos))
        for docno in session.scalars(statement.where(Document.docno.in_(chunk)))
    }


def _present(session: Session, pairs: Mapping[tuple[int, int], object]) -> dict[tuple[int, int], _Present]:
    """Those of the (topic id, document id) pairs that are in the pool."""
    statement = select(PoolItem.topic_id, PoolItem.document_id, PoolItem.id, PoolItem.known_grade)
    return {
        (topic_id, document_id): _Present(item_id, grade)
        for topic, documents in _by_topic(pairs)
        for topic_id, document_id, item_id, grade in session.execute(
            statement.where(PoolItem.topic_id == topic, PoolItem.document_id.in_(documents))
        )
    }


def _by_topic(pairs: Iterable[tuple[Key, Key]]) -> Iterator[tuple[Key, list[Key]]]:
    """Group the pairs by topic, in chunks that fit one statement; an index covers both columns."""
    documents: dict[Key, list[Key]] = {}
    for topic, document in pairs:
        documents.setdefault(topic, []).append(document)
    for topic, several in documents.items():
        for chunk in chunks(several):
            yield topic, chunk


def _drawn_as_common(session: Session, item_ids: Sequence[int]) -> set[int]:
    """The items that somebody holds or has judged as common documents."""
    statement = select(Assignment.pool_item_id).where(
        Assignment.purpose == Purpose.COMMON, Assignment.state != AssignmentState.RETURNED
    )
    return {
        item_id
        for chunk in chunks(list(item_ids))
        for item_id in session.scalars(statement.where(Assignment.pool_item_id.in_(chunk)))
    }


def _pool(
    session: Session,
    collection: Collection,
    outside: Sequence[tuple[int, int]],
    checked: CheckedQuestions,
    added_by_id: int | None,
    added_at: datetime,
) -> None:
    """Add the pairs to the pool as a new version."""
    file = {"file": checked.name, "checksum": checked.checksum} if checked.checksum else {}
    pool = next_pool(
        session,
        collection.id,
        strategy=Besides.TEST_QUESTIONS,
        parameters=file,
        seed=next_seed(session, collection.id),
        built_by_id=added_by_id,
        built_at=added_at,
    )
    items = add_pool_items(session, pool, outside, judgements_wanted=base_wanted(collection), order=judging_order)
    source = checked.name or Besides.TEST_QUESTIONS
    session.execute(
        insert(Contribution),
        [{"pool_item_id": items[pair], "pool_id": pool.id, "imported_from": source} for pair in outside],
    )


@dataclass(frozen=True)
class JudgeAnswers:
    """One judge's answers to gold questions; `answered` excludes those they could not judge."""

    judge: str
    answered: int
    right: int
    could_not: int

    @property
    def share(self) -> float | None:
        """Correct answers as a share of those answered, from 0 to 1; None before the first answer."""
        return self.right / self.answered if self.answered else None


@dataclass(frozen=True)
class QuestionAnswers:
    """A gold question and the distribution of its answers: `fell` has each grade with its count, in scale order."""

    topic: str
    docno: str
    title: str
    known_grade: int
    fell: tuple[tuple[int, int], ...]
    could_not: int

    @property
    def answered(self) -> int:
        """How many judges gave it a grade."""
        return sum(count for _, count in self.fell)

    @property
    def right(self) -> int:
        """How many judges gave it the known grade."""
        return dict(self.fell).get(self.known_grade, 0)


@dataclass(frozen=True)
class Answers:
    """All gold questions of accepted topics, by topic and docno, and all judges who answered any, by name."""

    judges: tuple[JudgeAnswers, ...]
    questions: tuple[QuestionAnswers, ...]

    @property
    def missed(self) -> int:
        """How many questions somebody graded wrongly or could not judge."""
        return sum(one.right < one.answered or one.could_not > 0 for one in self.questions)


def show_answers(session: Session, slug: str) -> Answers:
    """The current answers, without judgements of documents that were shown again."""
    collection_id = find_collection(session, slug).id
    scale = [grade.value for grade in scale_of(session, collection_id)]
    questions = session.execute(
        select(PoolItem.id, PoolItem.known_grade, Topic.number, Document.docno, Document.title)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, PoolItem.known_grade.is_not(None))
    ).all()
    known = {row.id: row.known_grade for row in questions}
    fell: dict[int, Counter[int | None]] = {item: Counter() for item in known}
    by_judge: dict[str, Counter[str]] = {}
    for item, judge, grade in _answers(session, collection_id):
        fell[item][grade] += 1
        result = "could not" if grade is None else "right" if grade == known[item] else "wrong"
        by_judge.setdefault(judge, Counter())[result] += 1
    judges = [
        JudgeAnswers(judge, results["right"] + results["wrong"], results["right"], results["could not"])
        for judge, results in sorted(by_judge.items())
    ]
    shown = [_question(row, scale, fell[row.id]) for row in questions]
    shown.sort(key=lambda question: (natural_order(question.topic), question.docno))
    return Answers(tuple(judges), tuple(shown))


def _question(row: Row[int, int | None, str, str, str], scale: list[int], fell: Counter[int | None]) -> QuestionAnswers:
    grades = tuple((grade, fell[grade]) for grade in scale)
    return QuestionAnswers(row.number, row.docno, row.title, row.known_grade or 0, grades, fell[None])


def _answers(session: Session, collection_id: int) -> list[tuple[int, str, int | None]]:
    """Pool item, judge and grade (None: could not judge) of every person's answer.

    Grades copied from another document and adjudicators' decisions are not answers.
    """
    answers = session.execute(
        select(Judgement.pool_item_id, User.name, Judgement.grade)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(
            Topic.collection_id == collection_id,
            ACCEPTED,
            PoolItem.known_grade.is_not(None),
            Judgement.current,
            Judgement.carried_from_id.is_(None),
            Assignment.purpose != Purpose.ADJUDICATION,
            Judgement.judge_id.not_in(MACHINES),
        )
    )
    return [(item, judge, grade) for item, judge, grade in answers]
