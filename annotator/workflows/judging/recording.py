"""Recording what a judge said: appended, stored once however often it arrives, never refused for being late."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.storage import Judgement
from annotator.storage.judging.changed_texts import reopen_said_too_late
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.duplicates import carry_over
from annotator.storage.judging.judgement_writing import (
    JudgementWriter,
    NewJudgement,
    OwnAssignment,
    Passage,
    stored_ids,
)
from annotator.storage.judging.judging import Decision, renew
from annotator.storage.tables.judging import HELD, LEASE, AssignmentState, CannotJudge

LONGEST_SECONDS = 3600.0
LONGEST_NOTE = 10_000
LONGEST_PASSAGE = 10_000
MOST_PASSAGES = 100
# For longer than this nothing waits in a browser.
LONGEST_WAIT = 30 * 24 * 3600.0
# What was sent beyond these waits in the browser for the next time.
MOST_ACTS = 100
CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Act:
    """What a judge did with a document: a decision, or None when they put it off.

    `sequence` orders the acts of one tab; `ago` is for how many seconds it waited in the browser. `guidelines` is the
    number of the version the judge had before them, 0 before the first; without it, the newest.
    """

    id: str
    assignment_id: int
    decision: Decision | None
    tab: str = ""
    sequence: int | None = None
    guidelines: int | None = None
    evidence: tuple[Passage, ...] = ()
    ago: float = 0.0


@dataclass(frozen=True)
class Refusal:
    """Why an act was not stored."""

    id: str
    error: AnnotatorError


@dataclass(frozen=True)
class Recorded:
    """What is stored, now or since an earlier time, and what is not."""

    acknowledged: tuple[str, ...]
    refused: tuple[Refusal, ...]


def record_acts(
    session: Session,
    slug: str,
    judge_id: int,
    acts: Sequence[Act],
    *,
    received_at: datetime,
    queue: Queue = Queue.JUDGING,
) -> Recorded:
    """Store what a judge's browser sends, in this order; each act is stored or refused by itself.

    Refused are: all when the collection is closed (`ConflictError`), another judge's assignment (`NotFoundError`), a
    grade outside the scale or a text that is too long (`InvalidValueError`). One that arrives again is acknowledged
    again. Of very many the last are neither.
    """
    acts = acts[:MOST_ACTS]
    if not acts:
        return Recorded((), ())
    try:
        writer = JudgementWriter(session, slug, judge_id, {act.assignment_id for act in acts}, {act.id for act in acts})
    except ConflictError as closed:
        # What was stored before the end is acknowledged again, like anything that arrives again.
        stored = stored_ids(session, judge_id, [act.id for act in acts])
        stored -= {act.id for act in acts if act.id in stored and not _is_stored_so(session, act)}
        return Recorded(
            tuple(act.id for act in acts if act.id in stored),
            tuple(Refusal(act.id, closed) for act in acts if act.id not in stored),
        )
    acknowledged, refused = [], []
    for act in acts:
        try:
            check_id(act.id)
            _take(writer, act, received_at, queue)
        except AnnotatorError as error:
            refused.append(Refusal(act.id, error))
        else:
            acknowledged.append(act.id)
    _carry_over(session, writer)
    earliest = writer.earliest_lease()
    if earliest is not None and earliest < received_at + LEASE / 2:
        renew(session, judge_id, received_at)
    return Recorded(tuple(acknowledged), tuple(refused))


def record_judgement(
    session: Session,
    slug: str,
    assignment_id: int,
    judge_id: int,
    decision: Decision | None,
    *,
    client_id: str,
    judged_at: datetime,
    guidelines: int | None = None,
    queue: Queue = Queue.JUDGING,
) -> str:
    """Append a judgement, or put the document off, and return the number of its topic.

    The same one arriving again changes nothing; a page taken back in the browser's history sends its old id with a new
    grade: that is another judgement. Raises what `record_acts` refuses.
    """
    writer = JudgementWriter(session, slug, judge_id, {assignment_id}, {client_id})
    check_id(client_id)
    act = Act(client_id, assignment_id, decision, guidelines=guidelines)
    if decision is not None and client_id in writer.known:
        act = replace(act, id=_id_for_page_again(session, writer, act, decision))
    _take(writer, act, judged_at, queue)
    _carry_over(session, writer)
    return writer.topic_number(assignment_id)


def _take(writer: JudgementWriter, act: Act, received_at: datetime, queue: Queue) -> None:
    """Store one act; the checks come first, so that what is refused leaves nothing behind.

    An adjudicator is heard on the assignments by which they decide, a judge on all others.
    """
    assignment = writer.own(act.assignment_id)
    if assignment is None or assignment.decides != (queue == Queue.ADJUDICATION):
        raise NotFoundError("You have no such assignment.")
    if act.decision is None:
        writer.put_off(assignment, received_at)
        return
    _check(writer, act, act.decision)
    known = writer.known.get(act.id)
    if known is not None:
        if known != (assignment.pool_item_id, writer.judge_id):
            raise InvalidValueError("This judgement's id belongs to another judgement.")
        if not _is_stored_so(writer.session, act):
            raise InvalidValueError(
                "This id was stored with another grade, reason or note. What was stored stays: send a new id."
            )
        return
    seconds = act.decision.seconds
    judgement = NewJudgement(
        client_id=act.id,
        decision=replace(act.decision, seconds=None if seconds is None else min(max(seconds, 0.0), LONGEST_SECONDS)),
        tab=act.tab,
        sequence=act.sequence,
        guideline_version_id=_guideline_version(writer, act.guidelines),
        evidence=act.evidence,
        waited=min(max(act.ago, 0.0), LONGEST_WAIT),
        received_at=received_at,
    )
    is_held = assignment.id == act.assignment_id and assignment.state in HELD
    writer.append(assignment, judgement)
    # Whoever had it in hand when its text came has it no more: they were shown none, and are to see it.
    if judgement.decision.cannot_judge == CannotJudge.NO_TEXT and not is_held:
        _reopen(writer, assignment, act.id)


def _reopen(writer: JudgementWriter, assignment: OwnAssignment, client_id: str) -> None:
    """Put back what could not be judged for want of a text, if it has one."""
    if reopen_said_too_late(writer.session, client_id):
        writer.session.flush()
        assignment.state = AssignmentState.RETURNED


def _carry_over(session: Session, writer: JudgementWriter) -> None:
    """Let documents with the same text say the same."""
    if writer.to_carry_over:
        carry_over(session, *session.scalars(select(Judgement).where(Judgement.id.in_(writer.to_carry_over))))


def check_id(client_id: str) -> None:
    """Raise `InvalidValueError` for an id that no browser of ours makes, and no database needs to be asked for."""
    if not CLIENT_ID.fullmatch(client_id):
        raise InvalidValueError("A judgement's id has 1 to 64 letters, digits, “-” and “_”.")


def _check(writer: JudgementWriter, act: Act, decision: Decision) -> None:
    if act.tab and not CLIENT_ID.fullmatch(act.tab):
        raise InvalidValueError("A tab's name has 1 to 64 letters, digits, “-” and “_”.")
    if (decision.grade is None) == (decision.cannot_judge is None):
        raise InvalidValueError("A judgement is either a grade or a reason why the document cannot be judged.")
    if decision.grade is not None and decision.grade not in writer.grades:
        raise InvalidValueError("%(grade)d is not a grade of this collection's scale.", grade=decision.grade)
    check_free_text(decision.note, LONGEST_NOTE)
    if len(act.evidence) > MOST_PASSAGES:
        raise InvalidValueError("A judgement keeps at most %(most)d passages as evidence.", most=MOST_PASSAGES)
    for passage in act.evidence:
        check_free_text(passage.text, LONGEST_PASSAGE)


def _guideline_version(writer: JudgementWriter, number: int | None) -> int | None:
    """The row of the guidelines with this number, None when there was none yet."""
    versions = writer.guidelines
    if number is None:
        return versions[max(versions)] if versions else None
    if number and number not in versions:
        raise InvalidValueError("There is no version %(number)d of the guidelines.", number=number)
    return versions.get(number)


def _is_stored_so(session: Session, act: Act) -> bool:
    """Whether what is stored under an act's id says the same; what is put off stores nothing.

    Only the decision counts: what else came with it, such as evidence, is as it was first sent.
    """
    if act.decision is None:
        return True
    columns = select(Judgement.grade, Judgement.cannot_judge, Judgement.note)
    stored = session.execute(columns.where(Judgement.client_id == act.id)).one()
    return tuple(stored) == _said(act.decision)


def _said(decision: Decision) -> tuple[int | None, str | None, str]:
    return decision.grade, decision.cannot_judge, decision.note


def _id_for_page_again(session: Session, writer: JudgementWriter, act: Act, decision: Decision) -> str:
    """The id for a judgement whose own id is stored: that of the last one of its page, or a new one if it differs."""
    assignment = writer.own(act.assignment_id)
    if assignment is None or writer.known[act.id] != (assignment.pool_item_id, writer.judge_id):
        return act.id
    history = session.scalars(
        select(Judgement)
        .where(Judgement.pool_item_id == assignment.pool_item_id, Judgement.judge_id == writer.judge_id)
        .order_by(Judgement.id)
    ).all()
    last = [one for one in history if one.client_id.partition(":")[0] == act.id][-1]
    if _said(Decision.of(last)) != _said(decision):
        return f"{act.id}:{len(history)}"
    writer.known[last.client_id] = (last.pool_item_id, last.judge_id)
    return last.client_id
