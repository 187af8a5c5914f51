"""Runs one job: replays the stored request through its view, which commits its changes and the job's end together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from secrets import token_hex
from typing import Any, Self

from flask import Flask, g, session
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Response

from annotator.app import create_app
from annotator.errors import BusyError
from annotator.settings import Settings
from annotator.storage import Database, JobState
from annotator.storage.people.accounts import Person
from annotator.storage.site.jobs import file_of_job
from annotator.storage.site.mail import DueMail
from annotator.web.people.mail_texts import words_of
from annotator.web.site.access import enter
from annotator.web.site.background import MARK, TOKEN, TOKEN_FIELD, WORK, Work
from annotator.web.site.language import COOKIE
from annotator.worker.nightly import fetch_nightly
from annotator.workflows.people.accounts import load_person
from annotator.workflows.runs.due_sources import SOURCE
from annotator.workflows.site.jobs import Outcome, TakenJob, confirm_job

SIGNED_OUT = "signed out"
FIELDS = "application/x-www-form-urlencoded"


class AnsweringDatabase(Database):
    """Finishes a job in the transaction that stores its changes; a worker that lost the job stores nothing."""

    taken: TakenJob | None = None

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[Session]:
        """A write session; raises `JobLostError` at its end when another worker has taken the job."""
        with super().transaction(keep=keep) as writing:
            yield writing
            # A dry run is rolled back, which would also undo the job's end.
            if keep and self.taken is not None:
                confirm_job(writing, self.taken, now=datetime.now(UTC))

    def preparing(self) -> Self:
        """The same database, whose transactions leave the job unfinished."""
        same = super().preparing()
        same.taken = None
        return same


class Answering:
    """The application within the worker."""

    def __init__(self, settings: Settings) -> None:
        """Create the application; CSRF was checked when the form was submitted, with its own token."""
        self._settings = settings
        self.database = AnsweringDatabase(settings.database_url, settings.replica_url, settings.search_folder)
        self.pages: Flask = create_app(settings, self.database)
        self.pages.config.update(WTF_CSRF_ENABLED=False)

    def answer(self, taken: TakenJob, tell: Callable[[int, int], None]) -> Outcome:
        """Run the job's request, and return the outcome.

        Raises `BusyError` for a transient failure, `JobLostError`, and any unexpected exception of the view.
        """
        if SOURCE in taken.parameters:
            return self._fetched(taken, tell)
        person = None
        # An API client is authenticated by its token, as in its request.
        if TOKEN not in taken.parameters:
            with self.database.reading() as reading:
                person = load_person(reading, taken.asked_by_id or 0, int(taken.parameters["generation"]))
            if person is None:
                return Outcome(JobState.FAILED, {"reason": SIGNED_OUT})
        # The own writes of a GET view, such as a sample of documents, must not end the job.
        self.database.taken = taken if taken.parameters["method"] == "POST" else None
        with self.database.reading() as reading:
            content = file_of_job(reading, taken.id)
        environ = _environ(taken, content, tell)
        try:
            return self._answered(environ, person)
        finally:
            self.database.taken = None
            environ["wsgi.input"].close()  # a temporary file, when it is large

    def _fetched(self, taken: TakenJob, tell: Callable[[int, int], None]) -> Outcome:
        self.database.taken = taken
        try:
            return fetch_nightly(self.database, self._settings, taken, tell)
        finally:
            self.database.taken = None

    def words_of(self, due: DueMail) -> tuple[str, str]:
        """The subject and the text of an e-mail, in the language of its recipient."""
        with self.pages.app_context():
            return words_of(due, self._settings.site_address)

    def _answered(self, environ: dict[str, Any], person: Person | None) -> Outcome:
        with self.pages.request_context(environ):
            if person is not None:
                enter(person)
            # Random for each job: a known mark in a text would be replaced by the reader's CSRF token.
            mark = token_hex(16)
            setattr(g, TOKEN_FIELD, mark)
            response = self.pages.full_dispatch_request()
            response.direct_passthrough = False  # the bytes of a file response must be stored
            said = [message for _, message in session.pop("_flashes", [])]
            found = _outcome(response, response.get_data(), said)
            return replace(found, result={**found.result, MARK: mark})


def _environ(taken: TakenJob, sent: bytes, tell: Callable[[int, int], None]) -> dict[str, Any]:
    asked = taken.parameters
    path, _, query = str(asked["target"]).partition("?")
    if TOKEN in asked:
        builder = EnvironBuilder(
            path,
            asked["site"],
            query,
            method=asked["method"],
            data=sent,
            content_type=asked["content_type"],
        )
        return {**builder.get_environ(), WORK: Work(taken.asked_at, tell, asked[TOKEN])}
    data: MultiDict[str, Any] = MultiDict([(name, value) for name, value in asked["fields"]])
    begin = 0
    for name, file_name, kind, size in asked["files"]:
        content = BytesIO(sent[begin : begin + size])
        data.add(name, FileStorage(content, file_name, name, kind))
        begin += size
    headers = [("Cookie", f"{COOKIE}={asked['language']}")]
    if asked["back"]:
        headers.append(("Referer", asked["back"]))
    is_form = asked["method"] == "POST"
    builder = EnvironBuilder(
        path,
        asked["site"],
        query,
        method=asked["method"],
        data=data if is_form else None,
        headers=headers,
        # A multipart form has at most a thousand fields.
        content_type="multipart/form-data" if asked["files"] else FIELDS if is_form else None,
    )
    return {**builder.get_environ(), WORK: Work(taken.asked_at, tell)}


def _outcome(response: Response, body: bytes, said: list[str]) -> Outcome:
    status = response.status_code
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        raise BusyError("The database is busy with a large import. Nothing was stored: try again.")
    result = {
        "status": status,
        "location": response.location,
        "said": said,
        "type": response.headers.get("Content-Type", ""),
        "file": response.headers.get("Content-Disposition"),
    }
    state = JobState.DONE if status < HTTPStatus.BAD_REQUEST else JobState.FAILED
    return Outcome(state, result, None if response.location else body)
