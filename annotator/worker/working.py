"""The worker: takes jobs while there are any, says that it is alive, and leaves a job to the next one when it ends."""

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from annotator.errors import BusyError
from annotator.logs import write_log
from annotator.settings import Settings
from annotator.storage import Database, JobState
from annotator.storage.collections.arrivals import importing_alone, remove_interrupted
from annotator.storage.site.jobs import remove_unneeded
from annotator.storage.site.upkeep import UpkeepError
from annotator.workflows.collections import restoring
from annotator.workflows.documents import search
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import FAULT, JobLostError, Outcome, TakenJob

# Others index what they import; only what was broken off is found by looking again.
SECONDS_BETWEEN_INDEX_LOOKS = 60.0


if TYPE_CHECKING:
    from annotator.worker.answering import Answering

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_SIGNS = 5.0  # of life
SECONDS_AFTER_TROUBLE = 5.0
BETWEEN_CLEANINGS = timedelta(hours=1)
LOG = logging.getLogger("annotator.worker")


class _Ending(BaseException):
    """The worker is to end, wherever it is."""


class Worker:
    """Works on the jobs of a database until it is told to end.

    One that takes only short jobs leaves the search index and the removal of what is old to the others.
    """

    def __init__(self, settings: Settings, *, only_short: bool = False) -> None:
        """Make the pages it answers with; for short jobs with the first of them, as half of its memory is theirs."""
        self._settings = settings
        self._only_short = only_short
        self._answering: Answering | None = None
        if not only_short:
            self._pages()
        # Another engine than the pages': signs of life are no part of what is stored.
        self._database = Database(settings.database_url)
        self._indexing = Indexing(self._database)
        self._restorable = timedelta(days=settings.deletion_days)
        self._taken: TakenJob | None = None
        self._cleaned_at: datetime | None = None

    def work(self, *, only_what_waits: bool = False) -> None:
        """Work until nothing waits, or for good; whatever ends it, what is in hand goes back."""
        try:
            while True:
                if not self._worked():
                    if only_what_waits:
                        return
                    time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            with suppress(BusyError, DBAPIError):
                self._put_back()
            if self._answering is not None:
                self._answering.database.close()
            self._database.close()

    def _pages(self) -> "Answering":
        if self._answering is None:
            # Imported by name: it imports all pages.
            self._answering = import_module("annotator.worker.answering").Answering(self._settings)
        return self._answering

    def _worked(self) -> bool:
        """Do one job, or index some documents; False when there is neither."""
        try:
            self._put_back()
            if not self._only_short:
                self._clean()
                remove_unneeded(self._database, now=_now())
            self._taken = self._take()
            if self._taken is None:
                return not self._only_short and self._indexing.step()
            with self._alive(self._taken):
                self._do(self._taken)
            self._taken = None
            if not self._only_short:
                self._indexing.look_again()
                self._indexing.step()
        except (BusyError, DBAPIError) as trouble:
            # Without the statement, whose values may be secrets.
            LOG.error("The worker cannot use the database: %s", getattr(trouble, "orig", trouble))  # noqa: TRY400
            with suppress(BusyError, DBAPIError):  # then it is put back after the rest
                self._put_back(has_failed=not isinstance(trouble, BusyError))
            time.sleep(SECONDS_AFTER_TROUBLE)
        return True

    def _take(self) -> TakenJob | None:
        with self._database.reading() as session:
            if not jobs.has_due(session, now=_now(), only_short=self._only_short):
                return None
        with self._database.transaction() as session:
            return jobs.take_job(session, now=_now(), only_short=self._only_short)

    def _do(self, taken: TakenJob) -> None:
        with suppress(JobLostError):
            outcome = self._outcome(taken)
            with self._database.transaction() as session:
                jobs.finish_job(session, taken, outcome, now=_now())

    def _outcome(self, taken: TakenJob) -> Outcome:
        try:
            return self._pages().answer(taken, lambda done, steps: self._tell(taken, done, steps))
        except (JobLostError, BusyError, DBAPIError):
            raise
        except Exception:
            # A fault in one job is no reason to leave the others.
            LOG.exception("The worker failed at job %d.", taken.id)
            return Outcome(JobState.FAILED, {"reason": FAULT})

    def _tell(self, taken: TakenJob, done: int, steps: int) -> None:
        with self._database.transaction() as session:
            jobs.note_progress(session, taken, now=_now(), done=done, steps=steps)

    @contextmanager
    def _alive(self, taken: TakenJob) -> Iterator[None]:
        """Say again and again that somebody is at work, in a thread, while the block lasts."""
        ended = threading.Event()

        def say_so() -> None:
            while not ended.wait(SECONDS_BETWEEN_SIGNS):
                # Busy is, on SQLite, also this worker itself while it stores; and who lost the job learns of it later.
                with suppress(BusyError, DBAPIError, JobLostError), self._database.transaction() as session:
                    jobs.keep_alive(session, taken, now=_now())

        signs = threading.Thread(target=say_so, daemon=True)
        signs.start()
        try:
            yield
        finally:
            ended.set()
            signs.join()

    def _put_back(self, *, has_failed: bool = False) -> None:
        """Leave what is in hand to the next worker; it stays in hand when the database is not to be used now."""
        if self._taken is not None:
            with suppress(JobLostError), self._database.transaction() as session:
                jobs.put_back(session, self._taken, has_failed=has_failed)
            self._taken = None

    def _clean(self) -> None:
        now = _now()
        if self._cleaned_at is None or abs(now - self._cleaned_at) > BETWEEN_CLEANINGS:
            with self._database.transaction() as session:
                jobs.forget_answers(session, now=now)
            with self._database.transaction() as session:
                restoring.begin_removal(session, before=now - self._restorable, at=now)
            restoring.finish_removals(self._database)
            # Another import may be at work; then it has removed what was left.
            with suppress(UpkeepError), importing_alone(self._database):
                remove_interrupted(self._database)
            self._cleaned_at = now


def run_worker(
    settings: Settings, *, only_what_waits: bool = False, only_short: bool = False, parent: int | None = None
) -> None:
    """Be a worker until SIGTERM, until nothing waits, or until the server that began this has gone.

    At Ctrl-C it ends just so, by `KeyboardInterrupt`.
    It is no nicer than the pages: while it stores, on SQLite, they wait for it, so that it must not wait for them.
    """
    try:
        for ending in (signal.SIGTERM, signal.SIGINT):
            signal.signal(ending, _end)
        write_log(settings.log_format)
        if parent is not None:
            threading.Thread(target=_end_without, args=(parent,), daemon=True).start()
        Worker(settings, only_short=only_short).work(only_what_waits=only_what_waits)
    except _Ending:
        return


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)


def _end(number: int, _frame: FrameType | None) -> None:
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, signal.SIG_IGN)  # once is enough
    raise KeyboardInterrupt if number == signal.SIGINT else _Ending


def _now() -> datetime:
    return datetime.now(UTC)


class Indexing:
    """Indexes some documents at each step while there are any; then looks again from time to time."""

    def __init__(self, database: Database) -> None:
        """Nothing is looked for before the first step."""
        self._database = database
        self._after = 0
        self._next_look = time.monotonic()

    def look_again(self) -> None:
        """Begin anew at the next step: something may have been imported."""
        self._after, self._next_look = 0, time.monotonic()

    def step(self) -> bool:
        """Index some documents; False when none are left, or it is not yet time to look for them.

        Trouble is logged and left until later: it must not keep jobs waiting.
        """
        if time.monotonic() < self._next_look:
            return False
        try:
            return self._indexed()
        except (BusyError, DBAPIError) as trouble:
            # Without the statement, whose values are texts.
            LOG.error("The worker cannot index documents: %s", getattr(trouble, "orig", trouble))  # noqa: TRY400
        except Exception:
            LOG.exception("The worker failed at indexing documents.")
        self._wait()
        return False

    def _indexed(self) -> bool:
        with self._database.reading() as session:
            several = search.words_to_index(session, after=self._after)
        if not several:
            self._wait()
            return False
        with self._database.transaction() as session:
            search.index_some(session, several)
        self._after = several[-1].document_id
        return True

    def _wait(self) -> None:
        self._after, self._next_look = 0, time.monotonic() + SECONDS_BETWEEN_INDEX_LOOKS
