"""Sends the e-mail that is due, one after the other, and writes the reminders."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

from annotator.settings import Settings
from annotator.storage import Database, MailKind
from annotator.storage.site.mail import DueMail, has_due_mail, record_failure, record_sent
from annotator.workflows.runs.mail_taking import take_true_mail
from annotator.workflows.runs.reminders import due_reminders, queue_reminders
from annotator.workflows.site.mail_server import MailProblem, MailServer, Post, unwritten

# A server that cannot be reached is tried again after this time, with one e-mail; the others wait.
SECONDS_AFTER_TROUBLE = 60.0
SECONDS_OF_A_STEP = 5.0
# Between two searches for deadlines that are near.
SECONDS_BETWEEN_SEARCHES = 600.0

LOG = logging.getLogger("annotator.worker")

Words = Callable[[DueMail], tuple[str, str]]


class Mailing:
    """Sends for some seconds per step, while the site sends e-mail at all."""

    def __init__(self, database: Database, settings: Settings, words: Words) -> None:
        """Take the database, the settings, and what makes the subject and text of an e-mail."""
        self._database, self._settings, self._words = database, settings, words
        self._server = server_of(settings)
        self._next_try = self._next_search = 0.0

    def step(self) -> bool:
        """Send some of what is due; False when nothing is, or the server has to be waited for."""
        if not self._settings.sends_mail:
            return False
        if time.monotonic() >= self._next_search:
            # Before the search: a fault in it must not keep all e-mail waiting.
            self._next_search = time.monotonic() + SECONDS_BETWEEN_SEARCHES
            self._remind()
        end = time.monotonic() + SECONDS_OF_A_STEP
        has_tried = False
        while time.monotonic() < end and time.monotonic() >= self._next_try and self._send_one():
            has_tried = True
        return has_tried

    def _remind(self) -> None:
        if MailKind.REMINDER not in self._settings.mail_kinds:
            return
        with self._database.reading() as session:
            due = due_reminders(session, now=_now())
        if due:
            with self._database.transaction() as session:
                queue_reminders(session, due, at=_now())

    def _send_one(self) -> bool:
        kinds, per_hour = self._settings.mail_kinds, self._settings.mail_per_hour
        with self._database.reading() as session:
            if not has_due_mail(session, now=_now(), per_hour=per_hour):
                return False
        with self._database.transaction() as session:
            due = take_true_mail(session, now=_now(), kinds=kinds, per_hour=per_hour)
        if due is None:
            return False
        try:
            self._server.send(self._post(due))
        except MailProblem as problem:
            if problem.is_of_server:
                self._next_try = time.monotonic() + SECONDS_AFTER_TROUBLE
            with self._database.transaction() as session:
                record_failure(session, due, str(problem), is_final=problem.is_final, at=_now())
        else:
            with self._database.transaction() as session:
                record_sent(session, due, at=_now())
        return True

    def _post(self, due: DueMail) -> Post:
        try:
            subject, text = self._words(due)
        except Exception as fault:
            LOG.exception("The text of the e-mail %d cannot be written.", due.id)
            raise unwritten(fault) from fault
        return Post(due.address, subject, text, due.message, due.asked_at)


def server_of(settings: Settings) -> MailServer:
    """The mail server of the settings."""
    return MailServer(
        settings.mail_host,
        settings.mail_port,
        settings.mail_tls,
        settings.mail_name,
        settings.mail_password,
        settings.mail_from,
    )


def _now() -> datetime:
    return datetime.now(UTC)
