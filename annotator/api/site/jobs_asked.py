"""Background jobs for large uploads and long reports through the API: creating them, reporting status and result."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from io import BytesIO
from typing import Any

from flask import Response, request
from marshmallow import Schema, fields

from annotator.api.site.access import caller, token_in_use
from annotator.api.site.problems import WORDS, ProblemDetails, kind_of
from annotator.api.site.values import Moment
from annotator.packing import unpacked_size
from annotator.settings import MEBIBYTE
from annotator.storage import JobState
from annotator.web.site.background import (
    MOST_LISTS_AT_ONCE,
    STATE,
    ask_call,
    ask_read,
    is_under_way,
    request_key,
    work,
)
from annotator.web.site.context import database, now
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobView

# Smaller files are read while the caller waits.
MOST_AT_ONCE = 4 * MEBIBYTE
SECONDS_BETWEEN_LOOKS = 1
# A job whose result is missing for longer than this lost its worker between storing and reporting.
LONGEST_TO_TELL = timedelta(minutes=1)
JSON = "application/json"
FAULT = 500


class JobStatus(Schema):
    """What was left to the worker: how far it is and, when it has finished, what the call would have been answered."""

    number = fields.Integer(required=True, attribute="id")
    kind = fields.String(required=True, metadata={"description": "The operation that was called, or the page."})
    state = fields.String(required=True, metadata={"description": "waiting, running, done, failed or cancelled."})
    steps_done = fields.Integer(required=True)
    steps = fields.Integer(
        required=True, metadata={"description": "The number of steps in all; 0 while it is unknown."}
    )
    before = fields.Integer(
        required=True,
        metadata={"description": "The maximum number of jobs before this one."},
    )
    asked_at = Moment(required=True)
    finished_at = Moment(required=True, allow_none=True)
    status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The HTTP status of the result, when the job is done."}
    )
    result = fields.Raw(required=True, allow_none=True, metadata={"description": "The result of the operation."})
    problem = fields.Nested(ProblemDetails, required=True, allow_none=True)


def left_to_worker(slug: str | None, content: bytes, files: Sequence[bytes] = ()) -> Response | None:
    """Answer 202 with a new job when the upload is large; None when it is small, and in the worker itself.

    The upload is one file, or a form with `files`; without a `slug`, the job is one of the site.
    """
    files = files or [content]
    return None if work() is not None or not _are_large(files) else given_to_worker(slug, content, files)


def given_to_worker(slug: str | None, content: bytes, files: Sequence[bytes] = ()) -> Response:
    """Answer 202 with a new job of a collection or, without a `slug`, of the site: it calls the operation again."""
    return _accepted(slug, ask_call(slug, content, files, by=caller(), token_id=token_in_use().token_id))


def long_read(slug: str, most_lists: int | None = None, *, is_long: bool | None = None) -> Response | None:
    """Answer a report over more ranked lists than these: 202 with a job, or the job's answer once it has finished.

    A report whose time depends on something else says itself whether it is long.

    None for fewer lists, and in the worker itself. The answer is given to the same request until the collection
    changes.
    """
    most = min(most_lists or MOST_LISTS_AT_ONCE, MOST_LISTS_AT_ONCE)
    if work() is not None:
        return None
    if not (database().read(jobs.count_ranked_lists, slug) > most if is_long is None else is_long):
        return None
    by = caller()
    with database().reading() as session:
        last = jobs.last_answer(session, slug, by_id=by.id, **request_key())
        state = jobs.collection_state(session, slug)
        # A refusal is computed again: it may have been the token's.
        if last is not None and last.result.get("status") == HTTPStatus.OK and last.parameters[STATE] == state:
            content = jobs.job_answer(session, slug, last.id, by_id=by.id)
            return Response(content, content_type=last.result["type"])
    if last is None or not is_under_way(last):
        return _accepted(slug, ask_read(slug, by=by, token_id=token_in_use().token_id))
    return _accepted(slug, last.id)


def _accepted(slug: str | None, id_: int) -> Response:
    """202 with the state of a job."""
    job = database().read(jobs.show_job, slug, id_, by_id=caller().id)
    place = "" if slug is None else f"/collections/{slug}"
    headers = {"Location": f"{_root()}{place}/jobs/{id_}", "Retry-After": str(SECONDS_BETWEEN_LOOKS)}
    return Response(json.dumps(JobStatus().dump(status_of_job(job, None))), HTTPStatus.ACCEPTED, headers, mimetype=JSON)


def _are_large(files: Iterable[bytes]) -> bool:
    """Whether the files exceed the limit for immediate processing, counted together and unpacked."""
    left = MOST_AT_ONCE
    for content in files:
        left -= unpacked_size(BytesIO(content), left)
        if left < 0:
            return True
    return False


def status_of_job(job: JobView, content: bytes | None) -> dict[str, Any]:
    """The status of a job as JSON values, with its result if that is still stored."""
    shown = vars(job)
    if _is_about_to_tell(job):
        shown = {**shown, "state": JobState.RUNNING, "finished_at": None}
    return {**shown, "status": job.result.get("status"), "result": None, "problem": None, **_outcome(job, content)}


def _is_about_to_tell(job: JobView) -> bool:
    """Whether the data are stored but the worker has not written its result yet, which takes a moment."""
    is_untold = job.state is JobState.DONE and "status" not in job.result
    return is_untold and job.finished_at is not None and now() - job.finished_at < LONGEST_TO_TELL


def _outcome(job: JobView, content: bytes | None) -> Mapping[str, Any]:
    if job.state is JobState.FAILED and "status" not in job.result:
        title = HTTPStatus(FAULT).phrase
        fault = {"type": kind_of(FAULT), "title": title, "status": FAULT, "detail": WORDS[FAULT]}
        return {"status": FAULT, "problem": fault}
    # The result of a job started from a page is not JSON; it is shown on the page of the job.
    if content is None or "json" not in job.result.get("type", ""):
        return {}
    return {"result" if job.state is JobState.DONE else "problem": json.loads(content)}


def _root() -> str:
    """The address of this version of the API: /api/v1."""
    return "/".join(request.path.split("/", 3)[:3])
