"""One job answered: the request that was kept, given to the pages' own view, which stores and ends the job at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from secrets import token_hex
from typing import Any

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
from annotator.web.site.access import enter
from annotator.web.site.background import MARK, TOKEN_FIELD, WORK, Work
from annotator.web.site.language import COOKIE
from annotator.workflows.people.accounts import load_person
from annotator.workflows.site.jobs import Outcome, TakenJob, confirm_job

SIGNED_OUT = "signed out"
TOKEN = "token"  # noqa: S105 - the name of a parameter


class AnsweringDatabase(Database):
    """Ends a job in the very transaction that stores what it is about; who lost the job stores nothing."""

    taken: TakenJob | None = None

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[Session]:
        """A session that writes; raises `JobLostError` at its end when the job is another worker's by now."""
        with super().transaction(keep=keep) as writing:
            yield writing
            # What a dry run stores goes, the end of the job with it.
            if keep and self.taken is not None:
                confirm_job(writing, self.taken, now=datetime.now(UTC))


class Answering:
    """The pages as the worker has them."""

    def __init__(self, settings: Settings) -> None:
        """Make the application; its own forms were checked when they came, with the token they came with."""
        self.database = AnsweringDatabase(settings.database_url)
        self.pages: Flask = create_app(settings, self.database)
        self.pages.config.update(WTF_CSRF_ENABLED=False)

    def answer(self, taken: TakenJob, tell: Callable[[int, int], None]) -> Outcome:
        """Let the view answer, and say what came of it.

        Raises `BusyError` for what may go through later, `JobLostError`, and whatever the view does not expect.
        """
        person = None
        # A program is let in by its token, as it was when it asked.
        if TOKEN not in taken.parameters:
            with self.database.reading() as reading:
                person = load_person(reading, taken.asked_by_id or 0, int(taken.parameters["generation"]))
            if person is None:
                return Outcome(JobState.FAILED, {"reason": SIGNED_OUT})
        # What only reads may write nothing of its own, such as a choice of documents, as the job's end.
        self.database.taken = taken if taken.parameters["method"] == "POST" else None
        with self.database.reading() as reading:
            content = file_of_job(reading, taken.id)
        environ = _environ(taken, content, tell)
        try:
            return self._answered(environ, person)
        finally:
            self.database.taken = None
            environ["wsgi.input"].close()  # a file, when it is large

    def _answered(self, environ: dict[str, Any], person: Person | None) -> Outcome:
        with self.pages.request_context(environ):
            if person is not None:
                enter(person)
            # Of its own each time: what anybody knew could be written in a text, and the reader's token put there.
            mark = token_hex(16)
            setattr(g, TOKEN_FIELD, mark)
            response = self.pages.full_dispatch_request()
            response.direct_passthrough = False  # as of a file, whose bytes are to be kept
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
        content_type="multipart/form-data" if is_form else None,
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
