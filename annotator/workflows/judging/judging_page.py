"""What stands beside the documents on the judging screen: guidelines, words to mark, the judge's own note and marks."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.evaluation.search.query_marks import Mark, marks_in
from annotator.storage.collections.collection import find_collection, find_topic, latest_guidelines
from annotator.storage.judging.judge_desk import marks_of, note_of, unread_answers


@dataclass(frozen=True)
class GuidelinesInForce:
    """The guidelines in force; number 0 and no text before the first version."""

    number: int
    text: str


@dataclass(frozen=True)
class Beside:
    """What a judge has beside a topic's documents."""

    guidelines: GuidelinesInForce
    words: tuple[Mark, ...]
    note: str
    marks: tuple[str, ...]
    answers: int


def show_beside(session: Session, slug: str, topic_number: str, judge_id: int) -> Beside:
    """What stands beside the documents of a topic for one judge; `NotFoundError` for a topic that is not there."""
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, topic_number)
    latest = latest_guidelines(session, collection.id)
    return Beside(
        GuidelinesInForce(latest.number, latest.text) if latest else GuidelinesInForce(0, ""),
        tuple(marks_in(topic.title)),
        note_of(session, topic.id, judge_id),
        tuple(marks_of(session, topic.id, judge_id)),
        unread_answers(session, collection.id, judge_id),
    )
