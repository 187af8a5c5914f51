"""The worker: runs queued jobs, sends heartbeats, and returns an unfinished job to the queue when it ends."""

import logging
import os
import signal
import threading
import time
from collections.abc import Hashable, Iterator
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
from annotator.storage.qrels.unfinished_versions import remove_interrupted_versions
from annotator.storage.site.jobs import remove_unneeded
from annotator.storage.site.mail import forget_mail
from annotator.storage.site.upkeep import UpkeepError
from annotator.storage.site.webhooks import forget_deliveries
from annotator.worker.asking import Asking
from annotator.worker.delivering import Delivering
from annotator.worker.fetching import Fetching
from annotator.worker.folder_indexing import FolderIndexing
from annotator.worker.learning import Learning
from annotator.worker.mailing import Mailing
from annotator.worker.refreshing import Refreshing
from annotator.worker.repeating import Repeating
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.collections import restoring
from annotator.workflows.documents import search
from annotator.workflows.documents.source_places import Reach, reach_of
from annotator.workflows.judging.topic_counting import count_changed_topics
from annotator.workflows.judging.topic_judgements import pack_changed_topics
from annotator.workflows.runs.due_sources import queue_due
from annotator.workflows.site import idempotency, jobs
from annotator.workflows.site.jobs import FAULT, JobLostError, Outcome, TakenJob

# Imports index their own documents; only what an interruption left is found by polling.
SECONDS_BETWEEN_INDEX_LOOKS = 60.0
SECONDS_BETWEEN_COMPLETE_LOOKS = 3_600.0


if TYPE_CHECKING:
    from annotator.worker.answering import Answering

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_SIGNS = 5.0  # heartbeats
SECONDS_AFTER_TROUBLE = 5.0
SECONDS_BETWEEN_DELIVERIES = 1.0
SECONDS_BETWEEN_FETCHES = 0.5
# Counting and packing each take a twentieth of the time at most.
SECONDS_BETWEEN_COUNTS = 2.0
SECONDS_BETWEEN_PACKINGS = 10.0
SHARE_OF_REFRESHING = 19.0
BETWEEN_CLEANINGS = timedelta(hours=1)
LOG = logging.getLogger("annotator.worker")


class _Ending(BaseException):
    """The worker must end, wherever it is."""


class Worker:
    """Runs the jobs of a database until it is stopped.

    With `only_short`, it leaves indexing and cleaning up to other workers.
    """

    def __init__(self, settings: Settings, *, only_short: bool = False) -> None:
        """Create the application now, or for short jobs with the first one: it is half of the worker's memory."""
        self._settings = settings
        self._only_short = only_short
        self._answering: Answering | None = None
        if not only_short:
            self._pages()
        # Not the application's engine: heartbeats are committed independently of the job.
        self._database = Database(settings.database_url, search_folder=settings.search_folder)
        self._indexing = Indexing(self._database)
        self._restorable = timedelta(days=settings.deletion_days)
        self._taken: TakenJob | None = None
        self._cleaned_at: datetime | None = None

    def work(self, *, only_what_waits: bool = False) -> None:
        """Run jobs until none wait (`only_what_waits`) or forever; an unfinished job is returned to the queue."""
        counting = Refreshing(self._database, count_changed_topics)
        packing = Refreshing(self._database, pack_changed_topics)
        delivering = Delivering(self._database, self._settings.outgoing_hosts)
        reach = self._reach()
        indexing, fetching = FolderIndexing(self._database, reach), Fetching(self._database, reach)
        asking = Asking(self._database, ModelAccess(self._settings.outgoing_hosts, self._settings.model_keys))
        learning = Learning(self._database)
        mailing = Mailing(self._database, self._settings, lambda due: self._pages().words_of(due))
        beside = [
            Repeating("Counts of topics", counting.step, seconds=SECONDS_BETWEEN_COUNTS, share=SHARE_OF_REFRESHING),
            Repeating("Judgements", packing.step, seconds=SECONDS_BETWEEN_PACKINGS, share=SHARE_OF_REFRESHING),
            Repeating("Webhooks", delivering.step, seconds=SECONDS_BETWEEN_DELIVERIES),
            Repeating("E-mail", mailing.step, seconds=SECONDS_BETWEEN_DELIVERIES),
            Repeating("Indexes of folders", indexing.step, seconds=SECONDS_BETWEEN_FETCHES),
            Repeating("Texts from sources", fetching.step, seconds=SECONDS_BETWEEN_FETCHES),
            Repeating("Machine judges", asking.step, seconds=SECONDS_BETWEEN_FETCHES),
            Repeating("Classifiers", learning.step, seconds=SECONDS_BETWEEN_FETCHES),
        ]
        working = (counting, packing, delivering, mailing, indexing, fetching, asking, learning)
        if not self._only_short and not only_what_waits:
            for one in beside:
                one.start()
        try:
            while True:
                if not self._worked():
                    if only_what_waits:
                        while any(one.step() for one in working):
                            pass
                        return
                    time.sleep(SECONDS_BETWEEN_LOOKS)
        finally:
            asking.end()
            for one in beside:
                one.stop()
            with suppress(BusyError, DBAPIError):
                self._put_back()
            if self._answering is not None:
                self._answering.database.close()
            self._database.close()

    def _reach(self) -> Reach:
        chosen = self._settings
        return reach_of(
            self._database,
            hosts=chosen.outgoing_hosts,
            places=chosen.document_sources,
            index_folder=chosen.index_folder,
        )

    def _pages(self) -> "Answering":
        if self._answering is None:
            # Imported dynamically, since it imports all pages.
            self._answering = import_module("annotator.worker.answering").Answering(self._settings)
        return self._answering

    def _worked(self) -> bool:
        """Run a job or index some documents; return False when there is neither."""
        try:
            self._put_back()
            if not self._only_short:
                self._clean()
                remove_unneeded(self._database, now=_now())
                queue_due(self._database, now=_now())
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
            with suppress(BusyError, DBAPIError):  # then it is returned in the next round
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
            # A failing job must not stop the others.
            LOG.exception("The worker failed at job %d.", taken.id)
            return Outcome(JobState.FAILED, {"reason": FAULT})

    def _tell(self, taken: TakenJob, done: int, steps: int) -> None:
        with self._database.transaction() as session:
            jobs.note_progress(session, taken, now=_now(), done=done, steps=steps)

    @contextmanager
    def _alive(self, taken: TakenJob) -> Iterator[None]:
        """Send heartbeats for the job from a thread while the block lasts."""
        ended = threading.Event()

        def say_so() -> None:
            while not ended.wait(SECONDS_BETWEEN_SIGNS):
                # On SQLite, the worker's own writes may block this one; a lost job is noticed later.
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
        """Return the current job to the queue; kept for the next try when the database is unavailable."""
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
                idempotency.forget_responses(session, now=now)
            with self._database.transaction() as session:
                forget_deliveries(session, now=now)
            with self._database.transaction() as session:
                forget_mail(session, now=now)
            with self._database.transaction() as session:
                restoring.begin_removal(session, before=now - self._restorable, at=now)
            restoring.finish_removals(self._database)
            remove_interrupted_versions(self._database)
            # If another import is running, it has already removed these leftovers.
            with suppress(UpkeepError), importing_alone(self._database):
                remove_interrupted(self._database)
            self._cleaned_at = now


def run_worker(
    settings: Settings, *, only_what_waits: bool = False, only_short: bool = False, parent: int | None = None
) -> None:
    """Run a worker until SIGTERM, until no jobs wait, or until the parent process has ended.

    Ctrl-C ends it by `KeyboardInterrupt`. It keeps normal priority: on SQLite pages wait while it writes, so it must
    not be slower.
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
        signal.signal(ending, signal.SIG_IGN)  # ignore further signals
    raise KeyboardInterrupt if number == signal.SIGINT else _Ending


def _now() -> datetime:
    return datetime.now(UTC)


class Indexing:
    """Indexes some documents per step while there are any, then polls at intervals.

    A complete look reads every document: after the first it looks again when texts were imported, or after an hour.
    With an index in a folder it looks whenever the database has changed, since texts that are fetched, copied or
    restored are then left to it, too.
    """

    def __init__(self, database: Database) -> None:
        """Start polling with the first step."""
        self._database = database
        self._after = 0
        self._next_look = self._next_complete_look = time.monotonic()
        self._import = 0  # the entry of the last one in the audit log
        self._is_tuned = False
        self._seen: Hashable = None  # the state of the database before the last complete look

    def look_again(self) -> None:
        """Restart from the first document at the next step if there was an import, as by a job."""
        self._after, self._next_look = 0, time.monotonic()

    def step(self) -> bool:
        """Index some documents; return False when none are left or polling is not due yet.

        Errors are logged and retried later, so that they do not delay jobs.
        """
        if time.monotonic() < self._next_look:
            return False
        try:
            self._mend()
            if self._after or self._is_due():
                return self._indexed()
        except (BusyError, DBAPIError) as trouble:
            # Without the statement, whose values are texts.
            LOG.error("The worker cannot index documents: %s", getattr(trouble, "orig", trouble))  # noqa: TRY400
            self._next_complete_look = time.monotonic()
        except Exception:
            LOG.exception("The worker failed at indexing documents.")
            self._next_complete_look = time.monotonic()
        self._wait()
        return False

    def _mend(self) -> None:
        """Replace an index that cannot be read, and index all documents again."""
        with self._database.reading() as session:
            if search.has_usable_index(session):
                return
        LOG.warning("The search index is missing or damaged: the worker builds a new one.")
        with self._database.transaction() as session:
            search.mend_index(session)
        self._after, self._next_complete_look, self._is_tuned = 0, time.monotonic(), False

    def _is_due(self) -> bool:
        state = self._database.state()
        with self._database.reading() as session:
            entry = search.import_after(session, self._import)
            has_changed = search.folder_of(session) is not None and (state is None or state != self._seen)
        is_due = entry is not None or has_changed or time.monotonic() >= self._next_complete_look
        self._import, self._seen = entry or self._import, state
        return is_due

    def _indexed(self) -> bool:
        words = search.next_words(self._database, self._after)
        if words is None:
            return self._merged()
        several, index = words
        if not self._is_tuned:
            with self._database.transaction() as session:
                search.tune_index(session)
            self._is_tuned = True
        with self._database.transaction() as session:
            index(session)
        self._after = several[-1].document_id
        return True

    def _merged(self) -> bool:
        """Merge some of the index, and return False when there is nothing left to do."""
        if self._after:
            with self._database.transaction() as session:
                if search.merge_index(session):
                    return True
        self._next_complete_look = time.monotonic() + SECONDS_BETWEEN_COMPLETE_LOOKS
        self._wait()
        return False

    def _wait(self) -> None:
        self._after, self._next_look = 0, time.monotonic() + SECONDS_BETWEEN_INDEX_LOOKS
