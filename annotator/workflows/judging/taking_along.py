"""Taking a topic along: a judge holds its documents for a day, to judge them without a network."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import AssignmentState, TopicState
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.judging.drawing import Queue, held_in_topic
from annotator.storage.judging.taken_along import (
    TAKEN_FOR,
    TakenTopic,
    extend_leases,
    return_taken,
    taken_by,
    taken_topics,
)
from annotator.workflows.judging.judging import place_of, refill

# The most documents of one topic that a judge takes along.
MOST_TAKEN = 200


@dataclass(frozen=True)
class TakenAlong:
    """The assignments taken along, in the order of showing, and until when they are held."""

    assignments: tuple[int, ...]
    until: datetime


@dataclass(frozen=True)
class Kept:
    """How many documents of a topic a judge has taken along, and until when they are held; None without any."""

    documents: int
    until: datetime | None


def take_along(session: Session, slug: str, number: str, judge_id: int, *, now: datetime) -> TakenAlong:
    """Draw up to 200 documents of a topic for the judge, and hold them and those already drawn for a day.

    An item still goes to no more judges than it wants. Raises `ConflictError` when judging has ended or the topic was
    dropped, `NotPreparedError`, and `NotFoundError`.
    """
    collection, topic = place_of(session, slug, number)
    if topic.state != TopicState.ACCEPTED:
        raise ConflictError("The organiser has dropped this topic; what you judged is kept.")
    live = refill(session, collection, topic, judge_id, (), now, Queue.JUDGING, most=MOST_TAKEN)
    deferred = held_in_topic(session, topic.id, judge_id, AssignmentState.LATER)
    taken = tuple([*live, *deferred][:MOST_TAKEN])
    until = now + TAKEN_FOR
    extend_leases(session, taken, until)
    return TakenAlong(taken, until)


def give_back(session: Session, slug: str, number: str, judge_id: int, *, now: datetime) -> int:
    """Return to the queue what a judge has taken along of a topic and not judged; return the number."""
    topic = find_topic(session, find_collection(session, slug).id, number)
    return return_taken(session, topic.id, judge_id, now)


def show_kept(session: Session, slug: str, number: str, judge_id: int, *, now: datetime) -> Kept:
    """What a judge has taken along of a topic."""
    topic = find_topic(session, find_collection(session, slug).id, number)
    return Kept(*taken_by(session, topic.id, judge_id, now))


def list_taken(session: Session, slug: str, *, now: datetime, judge_id: int | None = None) -> list[TakenTopic]:
    """What all judges have taken along, for organisers; or one of them."""
    rows = taken_topics(session, find_collection(session, slug).id, now, judge_id)
    return sorted(rows, key=lambda row: (row.judge, natural_order(row.number)))
