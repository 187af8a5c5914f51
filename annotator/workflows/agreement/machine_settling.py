"""What came of a part of a run of a machine judge: labels, documents without one, and whether the run goes on."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.machine_judging.graded_responses import NoGrade, Vote, grade_in, vote
from annotator.storage import (
    MachineOutcome,
    MachineRun,
    MachineRunState,
    OutcomeKind,
    User,
)
from annotator.storage.agreement.machine_judging import (
    give_up_due,
    locked_run,
    next_deferred,
    outcomes_among,
)
from annotator.storage.collections.collection import lock_open_collection
from annotator.workflows.agreement.machine_parts import AskedDocument, Part, RunAtHand, is_held
from annotator.workflows.agreement.model_requests import Failure, ModelError
from annotator.workflows.judging.machine_labels import add_labels, machine_labels

# While the endpoint gives nothing at all; after the last one the run stops.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 15, 60, 300, 600, 600))
# Pauses between the attempts at a document while others succeed; after the last attempt it is given up.
DOCUMENT_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 600))
REASONS: Mapping[NoGrade, Sentence] = {
    NoGrade.EMPTY: Sentence("The response is empty."),
    NoGrade.NONE_NAMED: Sentence("The response names no grade."),
    NoGrade.SEVERAL: Sentence("The response names several grades."),
    NoGrade.OFF_SCALE: Sentence("The response names a grade that is not on the scale."),
}


def settle_part(session: Session, run: RunAtHand, part: Part, *, at: datetime) -> None:
    """Store what came of a part: labels, documents without one, counts and how far the run has come.

    Nothing is stored of a run that was cancelled, or that another worker has taken.
    """
    # Locked in the order in which a run is started.
    lock_open_collection(session, run.slug)
    row = locked_run(session, run.id)
    if row is None or row.attempt != run.attempt:
        return
    row.taken_until = None
    if row.state != MachineRunState.RUNNING:
        return
    errors = [one.error for one in part.documents if one.error is not None]
    gives_nothing = part.gives_nothing(is_first=run.used.total == 0) and part.stop is None
    if gives_nothing and part.pause is None:
        part.pause = errors[-1]
    if part.is_deferred or not gives_nothing:
        _settle_documents(session, run, part, row, at)
    if part.stop is not None:
        _stop(row, part.stop, at)
    elif part.pause is not None:
        _pause(row, part, part.pause, at)
    elif part.fresh:
        row.failures, row.problem, row.problem_values, row.paused_until = 0, "", {}, None


def finish_run(session: Session, run: RunAtHand, *, at: datetime) -> None:
    """End a run that has nothing left, or let it wait for the documents that are tried again later."""
    row = locked_run(session, run.id)
    if row is None or not is_held(row, run):
        return
    row.taken_until = None
    row.failed += give_up_due(session, run.version.id, now=at)  # their texts are gone
    row.paused_until = next_deferred(session, run.version.id)
    if row.paused_until is not None:
        return
    # The pool may have grown or shrunk since the run was started.
    row.documents = row.labelled + row.without_grade + row.failed
    row.state, row.finished_at = MachineRunState.DONE.value, at
    row.problem, row.problem_values, row.failures = "", {}, 0


def _settle_documents(session: Session, run: RunAtHand, part: Part, row: MachineRun, at: datetime) -> None:
    settled = part.settled()
    if not settled:
        return
    votes, without = _votes(part, settled)
    known = outcomes_among(session, run.version.id, part.topic_id, [one.id for one in settled])
    _label(session, run, part, votes, at)
    for document in settled:
        outcome = known.get(document.id)
        if document.error is not None:
            row.failed += _note_failed(session, run, part, document, document.error, outcome, at)
        elif document.id in without:
            row.without_grade += 1
            outcome = outcome or _new_outcome(session, run, part, document)
            _describe(outcome, OutcomeKind.WITHOUT_GRADE, without[document.id], None, at)
        elif outcome is not None:
            session.delete(outcome)
    row.labelled += len(votes)
    if not part.is_deferred:
        row.at_topic_id, row.at_document_id = part.topic_id, settled[-1].id
    row.moved_at = at


def _votes(part: Part, settled: Sequence[AskedDocument]) -> tuple[dict[int, Vote], dict[int, Sentence]]:
    """The vote of each document that has a valid sample, and why each of the others has none."""
    votes, without = {}, {}
    grades = part.parts.grades
    for document in settled:
        if document.error is not None:
            continue
        responses = [part.responses[digest] for digest in document.digests]
        read = [(grade_in(one.text, grades), one.probabilities) for one in responses]
        found = vote([(one.grade, shares or None) for one, shares in read if one.grade is not None], grades)
        if found is not None:
            votes[document.id] = found
        else:
            without[document.id] = REASONS[read[0][0].reason or NoGrade.NONE_NAMED]
    return votes, without


def _label(session: Session, run: RunAtHand, part: Part, votes: Mapping[int, Vote], at: datetime) -> None:
    """Store the labels that are new or differ from those that were stored."""
    ids = sorted(votes)
    packed = machine_labels(session, run.version.judge_id, [part.topic_id]).get(part.topic_id)
    labelled = {} if packed is None else dict(zip(packed.document_ids.tolist(), packed.grades.tolist(), strict=True))
    new = [id_ for id_ in ids if labelled.get(id_) != votes[id_].grade]
    if not new:
        return
    unknown = (math.nan,) * len(part.parts.grades)
    has_probabilities = any(votes[id_].probabilities is not None for id_ in new)
    add_labels(
        session,
        run.version.judge_id,
        part.topic_id,
        new,
        [votes[id_].grade for id_ in new],
        confidences=[votes[id_].confidence for id_ in new],
        probabilities=[votes[id_].probabilities or unknown for id_ in new] if has_probabilities else None,
        at=at,
    )
    session.get_one(User, run.version.judge_id).labelled_on = at.date()


def _note_failed(
    session: Session,
    run: RunAtHand,
    part: Part,
    document: AskedDocument,
    error: ModelError,
    outcome: MachineOutcome | None,
    at: datetime,
) -> int:
    """Note that a document failed, and when it is tried again; returns 1 when it is given up, else 0."""
    attempts = outcome.attempts if outcome is not None and outcome.kind == OutcomeKind.DEFERRED else 0
    pauses = DOCUMENT_PAUSES[attempts : attempts + 1] if error.failure is Failure.PASSING else ()
    row = outcome or _new_outcome(session, run, part, document)
    row.attempts = attempts + 1
    kind = OutcomeKind.DEFERRED if pauses else OutcomeKind.FAILED
    _describe(row, kind, error.sentence, at + pauses[0] if pauses else None, at)
    return 0 if pauses else 1


def _new_outcome(session: Session, run: RunAtHand, part: Part, document: AskedDocument) -> MachineOutcome:
    row = MachineOutcome(machine_judge_id=run.version.id, topic_id=part.topic_id, document_id=document.id, attempts=0)
    session.add(row)
    row.request_digest = document.digests[0]
    return row


def _describe(
    row: MachineOutcome, kind: OutcomeKind, problem: Sentence, next_at: datetime | None, at: datetime
) -> None:
    row.kind, row.problem, row.problem_values = kind.value, problem.template, dict(problem.values)
    row.next_at, row.at = next_at, at


def _stop(row: MachineRun, problem: Sentence, at: datetime) -> None:
    row.state, row.finished_at, row.paused_until = MachineRunState.STOPPED.value, at, None
    row.problem, row.problem_values = problem.template, dict(problem.values)


def _pause(row: MachineRun, part: Part, error: ModelError, at: datetime) -> None:
    """Leave the endpoint alone: for longer each time, and as long as it asked for; stop after many times."""
    row.failures = 1 if part.fresh else row.failures + 1
    if row.failures > len(PAUSES):
        _stop(row, error.sentence, at)
        return
    row.paused_until = at + max(PAUSES[row.failures - 1], timedelta(seconds=error.retry_after or 0))
    row.problem, row.problem_values = error.sentence.template, dict(error.sentence.values)
