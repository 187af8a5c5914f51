"""How judges answered test questions: each of them, and question by question. For organisers alone."""

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import ACCEPTED, Assignment, Document, Judgement, PoolItem, Purpose, Topic, User
from annotator.storage.collections.collection import find_collection, scale_of
from annotator.storage.tables.people import MACHINES


@dataclass(frozen=True)
class JudgeAnswers:
    """What one judge made of the test questions; where they could not judge, it is not `answered`."""

    judge: str
    answered: int
    right: int
    could_not: int

    @property
    def share(self) -> float | None:
        """Right of those answered, from 0 to 1; None before the first answer."""
        return self.right / self.answered if self.answered else None


@dataclass(frozen=True)
class QuestionAnswers:
    """A test question, and how the grades fell: `fell` has each grade of the scale with its count, in order."""

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
        """How many gave it the known one."""
        return dict(self.fell).get(self.known_grade, 0)


@dataclass(frozen=True)
class Answers:
    """All test questions of accepted topics, by topic and docno, and all judges who answered any, by name."""

    judges: tuple[JudgeAnswers, ...]
    questions: tuple[QuestionAnswers, ...]


def show_answers(session: Session, slug: str) -> Answers:
    """The present answers; what a judge said when a document was shown to them again is none."""
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
        said = "could not" if grade is None else "right" if grade == known[item] else "wrong"
        by_judge.setdefault(judge, Counter())[said] += 1
    judges = [
        JudgeAnswers(judge, said["right"] + said["wrong"], said["right"], said["could not"])
        for judge, said in sorted(by_judge.items())
    ]
    shown = [_question(row, scale, fell[row.id]) for row in questions]
    shown.sort(key=lambda question: (natural_order(question.topic), question.docno))
    return Answers(tuple(judges), tuple(shown))


def _question(row: Row[int, int | None, str, str, str], scale: list[int], fell: Counter[int | None]) -> QuestionAnswers:
    grades = tuple((grade, fell[grade]) for grade in scale)
    return QuestionAnswers(row.number, row.docno, row.title, row.known_grade or 0, grades, fell[None])


def _answers(session: Session, collection_id: int) -> list[tuple[int, str, int | None]]:
    """Pool item, judge and grade, if they gave one, of every answer that people have given.

    A grade that was carried over from another document is no answer to this one, nor is what an adjudicator decided.
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
