"""Recording of a judge's acts: load the state, decide, store; idempotent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage import CannotJudge, PoolItem, Topic
from annotator.storage.judging.changed_texts import retire_repeats
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.duplicates import carry_over
from annotator.storage.judging.judgement_writing import Passage, store_changes
from annotator.storage.judging.judging_state import judgements_of_item, load_state, stored_judgements
from annotator.storage.judging.leases import Decision, renew
from annotator.storage.tables.judging import LEASE
from annotator.workflows.judging.act_decisions import (
    Act,
    Outcome,
    Refusal,
    decide,
    decide_closed,
    id_of_page_again,
    own_assignment,
)
from annotator.workflows.judging.sending_again import with_own_assignments

# Acts beyond these are sent again by the browser with its next request.
MOST_ACTS = 100


@dataclass(frozen=True)
class Recorded:
    """The ids stored, now or earlier, and the refused acts."""

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
    """Store the acts of a judge's browser in order; each is stored or refused independently.

    Refused are: all when the collection is closed, and an assignment of another document than the judge saw
    (`ConflictError`), another judge's assignment (`NotFoundError`), a grade outside the scale or a text that is too
    long (`InvalidValueError`). A resubmitted act is acknowledged again.
    Acts beyond the limit are neither stored nor refused.
    """
    acts = acts[:MOST_ACTS]
    if not acts:
        return Recorded((), ())
    try:
        acts = with_own_assignments(session, slug, judge_id, acts, received_at, queue)
        state = load_state(
            session,
            slug,
            judge_id,
            {act.assignment_id for act in acts},
            {act.id for act in acts},
            asks_for_texts=any(_lacks_text(act) for act in acts),
        )
    except ConflictError as closed:
        stored = stored_judgements(session, [act.id for act in acts])
        outcome = decide_closed(stored, judge_id, acts, closed)
    else:
        outcome = decide(state, acts, received_at, queue)
        _store(session, judge_id, outcome, received_at)
        earliest = state.earliest_lease()
        if earliest is not None and earliest < received_at + LEASE / 2:
            renew(session, judge_id, received_at)
    return Recorded(outcome.acknowledged, outcome.refused)


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
    withdraws: str | None = None,
    evidence: Sequence[Passage] = (),
    queue: Queue = Queue.JUDGING,
) -> str:
    """Append a judgement, defer the document or withdraw the judgement with that id; return the topic's number.

    Resubmission changes nothing; a page reopened from the browser's history submits its old id with a new grade, which
    counts as another judgement. Raises the refusals of `record_acts`.
    """
    act = Act(client_id, assignment_id, decision, guidelines=guidelines, withdraws=withdraws, evidence=tuple(evidence))
    texts = _lacks_text(act)
    try:
        state = load_state(session, slug, judge_id, {assignment_id}, {client_id}, asks_for_texts=texts)
    except ConflictError as closed:
        return _topic_of_stored(session, act, judge_id, closed)
    assignment = own_assignment(state.assignments, assignment_id, queue)
    known = state.stored.get(client_id)
    if assignment and decision and known and known.is_of(assignment.pool_item_id, judge_id):
        history = judgements_of_item(session, assignment.pool_item_id, judge_id)
        act = replace(act, id=id_of_page_again(act, history))
        state = replace(state, stored={one.client_id: one for one in history})
    outcome = decide(state, [act], judged_at, queue, page_id=client_id)
    for refusal in outcome.refused:
        raise refusal.error
    _store(session, judge_id, outcome, judged_at)
    return session.get_one(Topic, state.assignments[assignment_id].topic_id).number


def _topic_of_stored(session: Session, act: Act, judge_id: int, closed: ConflictError) -> str:
    """The topic number of a judgement that was stored before judging ended; raises `closed` for any other."""
    known = stored_judgements(session, [act.id]).get(act.id)
    if known is None or known.judge_id != judge_id:
        raise closed
    history = judgements_of_item(session, known.pool_item_id, judge_id)
    again = replace(act, id=id_of_page_again(act, history))
    outcome = decide_closed({one.client_id: one for one in history}, judge_id, [again], closed)
    for refusal in outcome.refused:
        raise refusal.error
    return session.get_one(Topic, session.get_one(PoolItem, known.pool_item_id).topic_id).number


def _store(session: Session, judge_id: int, outcome: Outcome, at: datetime) -> None:
    """Store the changes of acts, and copy judgements to documents with the same text."""
    store_changes(session, judge_id, outcome.changes, at)
    if outcome.unrepeated:
        retire_repeats(session, outcome.unrepeated)
    if outcome.duplicated:
        carry_over(session, outcome.duplicated)


def _lacks_text(act: Act) -> bool:
    return act.decision is not None and act.decision.cannot_judge == CannotJudge.NO_TEXT
