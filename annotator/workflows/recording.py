"""Recording what a judge said: appended, stored once however often it arrives, never refused for being late."""

import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.free_text import check_free_text
from annotator.storage import Assignment, AssignmentState, Document, Grade, GuidelineVersion, Judgement, PoolItem, Topic
from annotator.storage.collection import find_collection, latest_guidelines, refuse_closed_judging
from annotator.storage.judging import Decision, current_judgement
from annotator.storage.selection import hold_back_choices

LONGEST_SECONDS = 3600.0
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class JudgedRow:
    """A document this judge has judged, for looking it up and changing one's mind."""

    assignment_id: int
    topic_number: str
    topic_title: str
    docno: str
    title: str
    decision: Decision
    judged_at: datetime


def record_judgement(
    session: Session,
    slug: str,
    assignment_id: int,
    judge_id: int,
    decision: Decision,
    *,
    client_id: str,
    judged_at: datetime,
    guidelines: int | None = None,
) -> str:
    """Append a judgement and return the number of its topic; the same one arriving again changes nothing.

    `guidelines` is the number of the version the judge had before them, 0 before the first; without it, the newest.
    A late one, whose lease has gone, is stored and marked. Raises `NotFoundError` for another judge's assignment,
    `InvalidValueError` for a grade outside the scale, `ConflictError` when the collection is closed.
    """
    topic = _topic_of_own(session, slug, assignment_id, judge_id)
    # The locks in the order in which everybody takes them: collection, topic, assignment, pool item.
    refuse_closed_judging(session, topic.collection_id)
    hold_back_choices(session, topic.id)
    assignment = _lock_assignment(session, assignment_id, judge_id)
    _check_decision(session, topic.collection_id, decision)
    fresh_id = _fresh_client_id(session, client_id, assignment, decision)
    if fresh_id is not None:
        late = assignment.state == AssignmentState.RETURNED
        version_id = _guideline_version(session, topic.collection_id, guidelines)
        _append(session, assignment, decision, fresh_id, judged_at, version_id, late=late)
        _finish(session, assignment)
    return topic.number


def judged_by(session: Session, slug: str, judge_id: int) -> list[JudgedRow]:
    """What a judge has judged in a collection, newest first."""
    rows = session.execute(
        select(Judgement, Topic.number, Topic.title.label("topic_title"), Document.docno, Document.title)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(
            Judgement.judge_id == judge_id,
            Judgement.current,
            Topic.collection_id == find_collection(session, slug).id,
        )
        .order_by(Judgement.id.desc())
    )
    return [
        JudgedRow(
            row.Judgement.assignment_id,
            row.number,
            row.topic_title,
            row.docno,
            row.title,
            Decision.of(row.Judgement),
            row.Judgement.judged_at,
        )
        for row in rows
    ]


def _topic_of_own(session: Session, slug: str, assignment_id: int, judge_id: int) -> Topic:
    """The topic of the judge's assignment; `NotFoundError` for anybody else's."""
    topic = session.scalar(
        select(Topic)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(
            Assignment.id == assignment_id,
            Assignment.judge_id == judge_id,
            Topic.collection_id == find_collection(session, slug).id,
        )
    )
    if topic is None:
        raise NotFoundError("You have no such assignment.")
    return topic


def _lock_assignment(session: Session, assignment_id: int, judge_id: int) -> Assignment:
    """The judge's assignment, locked.

    One that was given back stands for the judge's newer hold on the same item, when there is one.
    """
    statement = select(Assignment).where(Assignment.judge_id == judge_id).with_for_update()
    assignment = session.scalars(statement.where(Assignment.id == assignment_id)).one()
    if assignment.state == AssignmentState.RETURNED:
        held = statement.where(
            Assignment.pool_item_id == assignment.pool_item_id, Assignment.state != AssignmentState.RETURNED
        )
        return session.scalar(held) or assignment
    return assignment


def _check_decision(session: Session, collection_id: int, decision: Decision) -> None:
    if (decision.grade is None) == (decision.cannot_judge is None):
        raise InvalidValueError("A judgement is either a grade or a reason why the document cannot be judged.")
    check_free_text(decision.note, LONGEST_NOTE)
    if decision.grade is not None and session.get(Grade, (collection_id, decision.grade)) is None:
        raise InvalidValueError("%(grade)d is not a grade of this collection's scale.", grade=decision.grade)


def _fresh_client_id(session: Session, client_id: str, assignment: Assignment, decision: Decision) -> str | None:
    """The id to store a judgement under, None when it is stored already.

    A page taken back in the browser's history sends its old id with a new grade: that is another judgement.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", client_id):
        raise InvalidValueError("A judgement's id has 1 to 64 letters, digits, “-” and “_”.")
    owner = session.scalar(select(Judgement).where(Judgement.client_id == client_id))
    if owner is None:
        return client_id
    if (owner.pool_item_id, owner.judge_id) != (assignment.pool_item_id, assignment.judge_id):
        raise InvalidValueError("This judgement's id belongs to another judgement.")
    history = session.scalars(
        select(Judgement)
        .where(Judgement.pool_item_id == assignment.pool_item_id, Judgement.judge_id == assignment.judge_id)
        .order_by(Judgement.id)
    ).all()
    family = [one for one in history if one.client_id.partition(":")[0] == client_id]
    return None if _says(family[-1], decision) else f"{client_id}:{len(history)}"


def _says(judgement: Judgement, decision: Decision) -> bool:
    """Whether a stored judgement says this; the seconds it took do not count."""
    stored = Decision.of(judgement)
    return (stored.grade, stored.cannot_judge, stored.note) == (decision.grade, decision.cannot_judge, decision.note)


def _finish(session: Session, assignment: Assignment) -> None:
    if assignment.state == AssignmentState.RETURNED:
        # Its place had gone back to the queue: the item now has one judgement more than its assignments counted.
        session.execute(update(PoolItem).where(PoolItem.id == assignment.pool_item_id).values(taken=PoolItem.taken + 1))
    assignment.state = AssignmentState.DONE


def _guideline_version(session: Session, collection_id: int, number: int | None) -> int | None:
    """The row of the guidelines with this number, None when there was none yet."""
    if number is None:
        latest = latest_guidelines(session, collection_id)
        return latest.id if latest else None
    version_id = session.scalar(
        select(GuidelineVersion.id).where(
            GuidelineVersion.collection_id == collection_id, GuidelineVersion.number == number
        )
    )
    if version_id is None and number:
        raise InvalidValueError("There is no version %(number)d of the guidelines.", number=number)
    return version_id


def _append(
    session: Session,
    assignment: Assignment,
    decision: Decision,
    client_id: str,
    judged_at: datetime,
    guideline_version_id: int | None,
    *,
    late: bool,
) -> None:
    replaced = current_judgement(session, assignment.pool_item_id, assignment.judge_id)
    if replaced is not None:
        replaced.current = False
        session.flush()
    session.add(
        Judgement(
            client_id=client_id,
            assignment_id=assignment.id,
            pool_item_id=assignment.pool_item_id,
            judge_id=assignment.judge_id,
            grade=decision.grade,
            cannot_judge=decision.cannot_judge,
            note=decision.note,
            seconds=None if decision.seconds is None else min(max(decision.seconds, 0.0), LONGEST_SECONDS),
            guideline_version_id=guideline_version_id,
            judged_at=judged_at,
            received_at=judged_at,
            late=late,
            replaces_id=replaced.id if replaced else None,
        )
    )
