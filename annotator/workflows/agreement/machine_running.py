"""Running a machine judge in parts: ask a model about documents, keep each response, and label the documents.

A part is settled as a whole: its labels, its counts and how far the run has come are stored in one transaction. Until
then its responses are kept as they come, so that a part that is begun again asks only for those that are missing.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.machine_judging.completions import Completion, ModelRequest
from annotator.evaluation.machine_judging.graded_responses import NoGrade, Vote, grade_in, probabilities_in, vote
from annotator.evaluation.machine_judging.tokens import Ceiling, Tokens, estimated_tokens
from annotator.storage import (
    Collection,
    Database,
    MachineJudge,
    MachineOutcome,
    MachineRun,
    MachineRunState,
    OutcomeKind,
    User,
)
from annotator.storage.agreement.machine_judging import (
    LEASE,
    NewResponse,
    StoredResponse,
    add_responses,
    due_deferred,
    due_runs,
    give_up_due,
    locked_run,
    next_deferred,
    outcomes_among,
    stored_responses,
    texts_after,
)
from annotator.storage.collections.collection import lock_open_collection
from annotator.workflows.agreement.machine_runs import prompt_tokens
from annotator.workflows.agreement.machine_setup import (
    MachineVersion,
    PromptParts,
    prompt_parts,
    requests_for,
    version_of_row,
)
from annotator.workflows.agreement.model_requests import Failure, ModelAccess, ModelError, ModelHost, open_model
from annotator.workflows.judging.machine_labels import add_labels, machine_labels

DOCUMENTS_OF_A_PART = 256
SECONDS_BETWEEN_SIGNS = 5.0
# While the endpoint gives nothing at all; after the last one the run stops.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 15, 60, 300, 600, 600))
# Between the attempts at a document while others succeed, after the last of which it is given up.
DOCUMENT_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 600))
# When so many requests failed, and none succeeded, the rest of the part is not tried.
ENOUGH_FAILURES = 3
AT_CEILING = Sentence("The run stopped at its ceiling. Continue it with a higher one.")
REASONS: Mapping[NoGrade, Sentence] = {
    NoGrade.EMPTY: Sentence("The response is empty."),
    NoGrade.NONE_NAMED: Sentence("The response names no grade."),
    NoGrade.SEVERAL: Sentence("The response names several grades."),
    NoGrade.OFF_SCALE: Sentence("The response names a grade that is not on the scale."),
}


@dataclass(frozen=True)
class RunAtHand:
    """A run that a worker has taken; the attempt distinguishes it from an earlier worker's."""

    id: int
    attempt: int
    slug: str
    version: MachineVersion
    scope: Mapping[str, Any]
    ceiling: Ceiling
    used: Tokens
    at: tuple[int, int]


@dataclass
class _Document:
    """A document of a part, with its requests and what came of them."""

    id: int
    requests: Sequence[ModelRequest]
    error: ModelError | None = None
    digests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.digests = [request.digest() for request in self.requests]


@dataclass
class _Part:
    """Documents of one topic; `is_deferred` when they are tried again."""

    topic_id: int
    parts: PromptParts
    documents: list[_Document]
    is_deferred: bool
    responses: dict[str, StoredResponse]
    fresh: int = 0  # responses that came now
    stop: Sentence | None = None  # why the run is to stop
    pause: ModelError | None = None  # why the endpoint is left alone
    is_lost: bool = False  # cancelled, or taken by another worker

    def gives_nothing(self, *, is_first: bool) -> bool:
        """Whether the endpoint failed at several documents and gave no response.

        Before the first response of all, refusals count: what is wrong is in every request.
        """
        counting = {Failure.PASSING, Failure.REFUSED} if is_first and not self.responses else {Failure.PASSING}
        failures = sum(one.error is not None and one.error.failure in counting for one in self.documents)
        return failures >= ENOUGH_FAILURES and not self.fresh

    def settled(self) -> list[_Document]:
        """The first documents of which each has all responses, or has failed."""
        for place, one in enumerate(self.documents):
            if one.error is None and not all(digest in self.responses for digest in one.digests):
                return self.documents[:place]
        return self.documents


def has_due(session: Session, *, now: datetime) -> bool:
    """Whether a run may go on; takes no lock."""
    return bool(due_runs(session, now=now))


def take_run(session: Session, *, now: datetime) -> RunAtHand | None:
    """Take the run that waits longest; no other worker takes it while its lease is renewed. None when none is due."""
    for run_id in due_runs(session, now=now):
        run = locked_run(session, run_id)
        if run is None or run.state != MachineRunState.RUNNING or (run.taken_until and run.taken_until > now):
            continue
        run.taken_until, run.attempt = now + LEASE, run.attempt + 1
        judge = session.get_one(MachineJudge, run.machine_judge_id)
        return RunAtHand(
            run.id,
            run.attempt,
            session.get_one(Collection, judge.collection_id).slug,
            version_of_row(session, judge),
            run.scope,
            Ceiling(run.most_tokens, run.most_cost),
            Tokens(run.tokens_sent, run.tokens_received),
            (run.at_topic_id, run.at_document_id),
        )
    return None


def run_part(
    database: Database, run: RunAtHand, access: ModelAccess, ending: threading.Event, clock: Callable[[], datetime]
) -> None:
    """Ask about the next documents of a run, keep the responses, and label the documents that have all of theirs.

    No further request is sent once `ending` is set; those on their way are kept if they are answered soon.
    """
    with database.reading() as session:
        part = _next_part(session, run, clock())
    if part is None:
        with database.transaction() as session:
            _finish(session, run, at=clock())
        return
    missing = any(digest not in part.responses for one in part.documents for digest in one.digests)
    if missing:
        try:
            with open_model(run.version.settings.endpoint, access) as host:
                _Asking(database, run, part, host, ending, clock).ask()
        except ModelError as error:
            _note_error(part, None, error)
    with database.transaction() as session:
        _settle(session, run, part, at=clock())


def now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


class _Asking:
    """Sends the requests of a part that have no response, several at once, and keeps the responses as they come."""

    def __init__(
        self,
        database: Database,
        run: RunAtHand,
        part: _Part,
        host: ModelHost,
        ending: threading.Event,
        clock: Callable[[], datetime],
    ) -> None:
        self._database, self._run, self._part, self._host = database, run, part, host
        self._ending, self._clock = ending, clock
        self._used = run.used
        self._asked: dict[Future[Completion], tuple[_Document, ModelRequest, str]] = {}

    def ask(self) -> None:
        """Ask until nothing is missing, or the rest is not to be tried."""
        waiting = self._missing()
        with ThreadPoolExecutor(self._run.version.settings.parallel) as threads:
            while waiting or self._asked:
                while waiting and len(self._asked) < self._run.version.settings.parallel and self._may_go_on():
                    document, request, digest = waiting[0]
                    if not self._is_affordable(request):
                        self._part.stop = AT_CEILING
                        break
                    waiting.pop(0)
                    if document.error is None:
                        self._asked[threads.submit(self._host.ask, request)] = (document, request, digest)
                if not self._asked:
                    return
                done, _ = wait(self._asked, SECONDS_BETWEEN_SIGNS, FIRST_COMPLETED)
                self._keep([(*self._asked.pop(one), one) for one in done])

    def _missing(self) -> list[tuple[_Document, ModelRequest, str]]:
        """What is to be sent: documents with the same title and text have one request."""
        found: dict[str, tuple[_Document, ModelRequest, str]] = {}
        for document in self._part.documents:
            for request, digest in zip(document.requests, document.digests, strict=True):
                if digest not in self._part.responses:
                    found.setdefault(digest, (document, request, digest))
        return list(found.values())

    def _may_go_on(self) -> bool:
        part = self._part
        is_over = part.stop is not None or part.pause is not None or part.is_lost
        return not (self._ending.is_set() or is_over or part.gives_nothing(is_first=self._run.used.total == 0))

    def _is_affordable(self, request: ModelRequest) -> bool:
        """Whether the ceiling also allows this request, with all that are on their way, at their longest answers."""
        on_their_way = [one for _, one, _ in self._asked.values()]
        most = self._used
        for one in (*on_their_way, request):
            most = most.plus(Tokens(prompt_tokens(one.prompt), one.answer_tokens))
        return self._run.ceiling.allows(most, self._run.version.settings.prices)

    def _keep(self, answered: Sequence[tuple[_Document, ModelRequest, str, Future[Completion]]]) -> None:
        """Store the responses that came, and note the errors; renew the lease in either case."""
        grades = self._part.parts.grades
        new = []
        for document, request, digest, future in answered:
            try:
                completion = future.result()
            except ModelError as error:
                _note_error(self._part, document, error)
                continue
            response = _as_stored(completion, request, grades)
            self._part.responses[digest] = response
            new.append(NewResponse(digest, self._part.topic_id, document.id, response))
            self._used = self._used.plus(Tokens(response.sent, response.received))
        with self._database.transaction() as session:
            self._part.is_lost |= not _store(session, self._run, new, at=self._clock())
        self._part.fresh += len(new)


def _as_stored(completion: Completion, request: ModelRequest, grades: Sequence[int]) -> StoredResponse:
    read = grade_in(completion.text, grades)
    found = None if read.grade is None else probabilities_in(completion, grades, read.at)
    # An endpoint that does not count is counted by our estimate.
    sent = prompt_tokens(request.prompt) if completion.sent is None else completion.sent
    received = estimated_tokens(completion.text) if completion.received is None else completion.received
    return StoredResponse(completion.text, found or (), completion.finish, sent, received)


def _note_error(part: _Part, document: _Document | None, error: ModelError) -> None:
    match error.failure:
        case Failure.FATAL:
            part.stop = error.sentence
        case Failure.THROTTLED:
            part.pause = error
        case _ if document is None:
            part.pause = error
        case _:
            document.error = error


def _store(session: Session, run: RunAtHand, new: Sequence[NewResponse], *, at: datetime) -> bool:
    """Store responses with their counts, and renew the lease; returns whether the run is still this worker's."""
    row = locked_run(session, run.id)
    if row is None:
        return False
    stored = add_responses(session, run.version.collection_id, run.version.id, new, at=at)
    row.requests += len(stored)
    row.tokens_sent += sum(one.sent for one in stored)
    row.tokens_received += sum(one.received for one in stored)
    row.moved_at = at if stored else row.moved_at
    if row.attempt == run.attempt:
        row.taken_until = at + LEASE
    return _is_held(row, run)


def _is_held(row: MachineRun, run: RunAtHand) -> bool:
    return row.attempt == run.attempt and row.state == MachineRunState.RUNNING


def _next_part(session: Session, run: RunAtHand, at: datetime) -> _Part | None:
    """The next documents, or those that are due again; None when none is left."""
    due = due_deferred(session, run.version.id, now=at, most=DOCUMENTS_OF_A_PART)
    if due is not None:
        topic_id, documents = due
        part = _part(session, run, topic_id, 0, documents, is_deferred=True)
        if part is not None:
            return part
    at_topic, at_document = run.at
    chosen = _chosen(run.scope)
    for topic_id in run.scope["topics"]:
        if topic_id >= at_topic:
            after = at_document if topic_id == at_topic else 0
            among = None if chosen is None else chosen.get(topic_id, [])
            part = _part(session, run, topic_id, after, among, is_deferred=False)
            if part is not None:
                return part
    return None


def _chosen(scope: Mapping[str, Any]) -> dict[int, list[int]] | None:
    if "documents" not in scope:
        return None
    chosen: dict[int, list[int]] = {}
    for topic, document in scope["documents"]:
        chosen.setdefault(topic, []).append(document)
    return chosen


def _part(
    session: Session, run: RunAtHand, topic_id: int, after: int, among: Sequence[int] | None, *, is_deferred: bool
) -> _Part | None:
    parts = prompt_parts(session, run.version.collection_id, topic_id)
    if parts is None or among == []:
        return None
    judged = bool(run.scope["judged"]) and not is_deferred
    texts = texts_after(session, topic_id, after, most=DOCUMENTS_OF_A_PART, judged=judged, among=among)
    if not texts:
        return None
    documents = [_Document(text.document_id, requests_for(run.version.settings, parts, text)) for text in texts]
    digests = dict.fromkeys(digest for one in documents for digest in one.digests)
    responses = stored_responses(session, run.version.collection_id, digests)
    return _Part(topic_id, parts, documents, is_deferred, responses)


def _settle(session: Session, run: RunAtHand, part: _Part, *, at: datetime) -> None:
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


def _settle_documents(session: Session, run: RunAtHand, part: _Part, row: MachineRun, at: datetime) -> None:
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


def _votes(part: _Part, settled: Sequence[_Document]) -> tuple[dict[int, Vote], dict[int, Sentence]]:
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


def _label(session: Session, run: RunAtHand, part: _Part, votes: Mapping[int, Vote], at: datetime) -> None:
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
    part: _Part,
    document: _Document,
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


def _new_outcome(session: Session, run: RunAtHand, part: _Part, document: _Document) -> MachineOutcome:
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


def _pause(row: MachineRun, part: _Part, error: ModelError, at: datetime) -> None:
    """Leave the endpoint alone: for longer each time, and as long as it asked for; stop after many times."""
    row.failures = 1 if part.fresh else row.failures + 1
    if row.failures > len(PAUSES):
        _stop(row, error.sentence, at)
        return
    row.paused_until = at + max(PAUSES[row.failures - 1], timedelta(seconds=error.retry_after or 0))
    row.problem, row.problem_values = error.sentence.template, dict(error.sentence.values)


def _finish(session: Session, run: RunAtHand, *, at: datetime) -> None:
    """End a run that has nothing left, or let it wait for the documents that are tried again later."""
    row = locked_run(session, run.id)
    if row is None or not _is_held(row, run):
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
