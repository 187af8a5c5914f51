"""Running a machine judge in parts: ask a model about documents, keep each response, and label the documents.

A part is settled as a whole: its labels, its counts and how far the run has come are stored in one transaction. Until
then its responses are kept as they come, so that a part that is begun again asks only for those that are missing.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, Sentence
from annotator.evaluation.machine_judging.completions import Completion, ModelRequest
from annotator.evaluation.machine_judging.graded_responses import grade_in, probabilities_in
from annotator.evaluation.machine_judging.tokens import Ceiling, Tokens, estimated_tokens
from annotator.storage import Collection, Database, MachineJudge, MachineRunState
from annotator.storage.agreement.machine_judging import (
    LEASE,
    NewResponse,
    StoredResponse,
    add_responses,
    due_runs,
    locked_run,
)
from annotator.workflows.agreement.machine_parts import AskedDocument, Part, RunAtHand, is_held, next_part
from annotator.workflows.agreement.machine_runs import prompt_tokens
from annotator.workflows.agreement.machine_settling import finish_run, settle_part
from annotator.workflows.agreement.machine_setup import version_of_row
from annotator.workflows.agreement.model_requests import Failure, ModelAccess, ModelError, ModelHost, open_model

SECONDS_BETWEEN_SIGNS = 5.0
# To store responses, beside the time for which a transaction waits itself.
SECONDS_BETWEEN_TRIES = 1.0
MOST_TRIES = 30
AT_CEILING = Sentence("The run stopped at its ceiling. Continue it with a higher one.")


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
        part = next_part(session, run, clock())
    if part is None:
        with database.transaction() as session:
            finish_run(session, run, at=clock())
        return
    missing = any(digest not in part.responses for one in part.documents for digest in one.digests)
    if missing:
        try:
            with open_model(run.version.settings.endpoint, access) as host:
                _Asking(database, run, part, host, ending, clock).ask()
        except ModelError as error:
            _note_error(part, None, error)
    with database.transaction() as session:
        settle_part(session, run, part, at=clock())


def now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


class _Asking:
    """Sends the requests of a part that have no response, several at once, and keeps the responses as they come."""

    def __init__(
        self,
        database: Database,
        run: RunAtHand,
        part: Part,
        host: ModelHost,
        ending: threading.Event,
        clock: Callable[[], datetime],
    ) -> None:
        self._database, self._run, self._part, self._host = database, run, part, host
        self._ending, self._clock = ending, clock
        self._used = run.used
        self._asked: dict[Future[Completion], tuple[AskedDocument, ModelRequest, str]] = {}
        self._unstored: list[NewResponse] = []
        self._tries = 0

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
                    break
                done, _ = wait(self._asked, SECONDS_BETWEEN_SIGNS, FIRST_COMPLETED)
                self._keep([(*self._asked.pop(one), one) for one in done])
        while self._unstored:
            # They are paid for: a database that is busy is waited for.
            self._ending.wait(SECONDS_BETWEEN_TRIES)
            self._store_all(may_fail=self._tries < MOST_TRIES)

    def _missing(self) -> list[tuple[AskedDocument, ModelRequest, str]]:
        """What is to be sent: documents with the same title and text have one request."""
        found: dict[str, tuple[AskedDocument, ModelRequest, str]] = {}
        for document in self._part.documents:
            for request, digest in zip(document.requests, document.digests, strict=True):
                if digest not in self._part.responses:
                    found.setdefault(digest, (document, request, digest))
        return list(found.values())

    def _may_go_on(self) -> bool:
        part = self._part
        is_over = part.stop is not None or part.pause is not None or part.is_lost
        return not (
            self._ending.is_set() or is_over or self._unstored or part.gives_nothing(is_first=self._run.used.total == 0)
        )

    def _is_affordable(self, request: ModelRequest) -> bool:
        """Whether the ceiling also allows this request, with all that are on their way, at their longest answers."""
        on_their_way = [one for _, one, _ in self._asked.values()]
        most = self._used
        for one in (*on_their_way, request):
            most = most.plus(Tokens(prompt_tokens(one.prompt), one.answer_tokens))
        return self._run.ceiling.allows(most, self._run.version.settings.prices)

    def _keep(self, answered: Sequence[tuple[AskedDocument, ModelRequest, str, Future[Completion]]]) -> None:
        """Store the responses that came, and note the errors; renew the lease in either case."""
        grades = self._part.parts.grades
        for document, request, digest, future in answered:
            try:
                completion = future.result()
            except ModelError as error:
                _note_error(self._part, document, error)
                continue
            response = _as_stored(completion, request, grades)
            self._part.responses[digest] = response
            self._unstored.append(NewResponse(digest, self._part.topic_id, document.id, response))
            self._part.fresh += 1
            self._used = self._used.plus(Tokens(response.sent, response.received))
        self._store_all(may_fail=True)

    def _store_all(self, *, may_fail: bool) -> None:
        """Store what came; with `may_fail`, a database that cannot be written now is tried again later."""
        self._tries += 1
        try:
            with self._database.transaction() as session:
                is_held = _store(session, self._run, self._unstored, at=self._clock())
        except (BusyError, DBAPIError):
            if not may_fail:
                raise
            return
        self._part.is_lost |= not is_held
        self._unstored, self._tries = [], 0


def _as_stored(completion: Completion, request: ModelRequest, grades: Sequence[int]) -> StoredResponse:
    read = grade_in(completion.text, grades)
    found = None if read.grade is None else probabilities_in(completion, grades, read.at)
    # An endpoint that does not count is counted by our estimate.
    sent = prompt_tokens(request.prompt) if completion.sent is None else completion.sent
    received = estimated_tokens(completion.text) if completion.received is None else completion.received
    return StoredResponse(completion.text, found or (), completion.finish, sent, received)


def _note_error(part: Part, document: AskedDocument | None, error: ModelError) -> None:
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
    return is_held(row, run)
