"""Errors in API responses: problem details (RFC 9457)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from flask import Response
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException

from annotator.errors import AnnotatorError, BusyError, FileRefusedError, Problem
from annotator.web.site.error_pages import status_of

MEDIA_TYPE = "application/problem+json"
FAULT = 500
SECONDS_TO_WAIT = "1"

# The kinds of problems by the last part of their `type`, which stays the same for good; the first ones by status.
TYPE = "/api/v1/#problem-"
OF_STATUS = {
    400: "bad-request",
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "wrong-method",
    408: "timeout",
    409: "conflict",
    412: "precondition-failed",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid-value",
    429: "too-many-requests",
    500: "internal-error",
    503: "busy",
}
FIELDS, FILE, SCOPE = "invalid-fields", "invalid-file", "missing-scope"
TYPES = {
    "bad-request": "The request does not follow the rules of the API, or of HTTP.",
    "unauthorized": "The token is missing, unknown, expired or revoked.",
    "forbidden": "The owner of the token lacks the role.",
    SCOPE: "The token lacks the scope.",
    "not-found": "The address, the collection or what is named in it does not exist.",
    "wrong-method": "The address has no such method; the header Allow names those that it has.",
    "timeout": "The request did not arrive in time. Nothing was stored.",
    "conflict": "The state of the collection does not allow it, or a request with the same key was carried out.",
    "precondition-failed": "What was to be changed has another ETag than If-Match names.",
    "too-large": "The request is larger than the server takes at once.",
    "unsupported-media-type": "The body is not of the type that the operation reads.",
    "invalid-value": "A value is not valid; the detail names it.",
    FIELDS: "Parameters or fields of the body are not valid; the list errors names each of them.",
    FILE: "The file is not valid; the list problems names the lines.",
    "too-many-requests": "The token has sent too many requests in this minute; Retry-After has the seconds to wait.",
    "internal-error": "The server failed. Nothing was stored.",
    "busy": "The database is busy, or there are too many large uploads: send it again after Retry-After.",
}

# More specific than the default messages of the framework.
WORDS = {
    404: "There is nothing at this address.",
    405: "This address does not have the method of the request; the header Allow names those that it has.",
    408: "The connection was lost or slow before everything had arrived. Nothing was stored: send it again.",
    413: "More was sent than this server takes at once. Gzip the file, or send it in parts.",
    500: "This is our fault, not yours. Nothing was stored; the server's log has the details.",
    503: "Too many large uploads at once. Nothing was stored: try again in half a minute.",
}


class FileProblem(Schema):
    """One thing that is wrong with a file."""

    file = fields.String(required=True)
    line = fields.Integer(required=True, allow_none=True, metadata={"description": "From 1; null for the whole file."})
    lines = fields.List(
        fields.Integer(required=True),
        required=True,
        metadata={"description": "The first lines with the problem, at most five; none for the whole file."},
    )
    count = fields.Integer(
        required=True, metadata={"description": "The number of occurrences in the file, including these lines."}
    )
    detail = fields.String(required=True)


class Refused(Schema):
    """A judgement that was not stored, by its id."""

    id = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)


class ProblemDetails(Schema):
    """Why something was refused (RFC 9457), with what helps to mend it."""

    type = fields.String(
        required=True, metadata={"description": "The kind of the problem: an address that stays the same for good."}
    )
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True, metadata={"description": "A sentence about the problem."})
    errors = fields.Dict(metadata={"description": "Problems of parameters and bodies, by field."})
    problems = fields.List(fields.Nested(FileProblem), metadata={"description": "Problems of a file, by line."})
    problems_total = fields.Integer(metadata={"description": "The number of problems of a file, listed or not."})
    refused = fields.List(fields.Nested(Refused), metadata={"description": "The judgements that were not stored."})


def problem(
    status: int, detail: str, headers: Mapping[str, str] | None = None, *, kind: str | None = None, **more: object
) -> Response:
    """A problem details response; its type follows from the status and from what it has, unless a `kind` is given."""
    content = {"type": kind_of(status, kind, more), "title": _title(status), "status": status, "detail": detail, **more}
    return Response(json.dumps(content), status, headers, mimetype=MEDIA_TYPE)


def kind_of(status: int, kind: str | None = None, more: Mapping[str, object] | None = None) -> str:
    """The type of a problem: an address that is the same on every site."""
    found = more or {}
    name = kind or (FILE if "problems" in found else FIELDS if "errors" in found else None)
    return f"{TYPE}{name or OF_STATUS.get(status, 'bad-request')}"


def of_refusal(error: AnnotatorError) -> Response:
    """The response to an application error; for a file it lists every problem."""
    more: dict[str, Any] = {}
    if isinstance(error, FileRefusedError):
        more["problems"] = [file_problem(one) for one in error.problems]
        more["problems_total"] = error.total
    later = {"Retry-After": SECONDS_TO_WAIT} if isinstance(error, BusyError) else None
    return problem(status_of(error), str(error), later, **more)


def of_http(error: HTTPException) -> Response:
    """The response to an HTTP error of the framework, including invalid parameters and bodies."""
    status = error.code or FAULT
    data: dict[str, Any] = getattr(error, "data", None) or {}
    headers = {name: value for name, value in error.get_headers() if name in {"Allow", "Location", "Retry-After"}}
    if "messages" in data:
        wrong = " ".join(_wrong_fields(data["messages"].values()))
        return problem(status, f"What was sent does not fit: {wrong}", headers, errors=data["messages"])
    return problem(status, WORDS.get(status) or error.description or _title(status), headers)


def file_problem(one: Problem) -> dict[str, object]:
    """A problem of a file as JSON values."""
    lines = [] if one.line is None else [one.line, *one.further_lines]
    return {"file": one.file, "line": one.line, "lines": lines, "count": one.count, "detail": str(one.sentence)}


def _wrong_fields(found: Iterable[Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Each field with what is wrong with it; the fields within fields and lists are written with dots."""
    for inner in found:
        if isinstance(inner, Mapping):
            for name, within in inner.items():
                # marshmallow's name for what is wrong with the whole
                yield from _wrong_fields([within], path if name == "_schema" else (*path, str(name)))
        else:
            said = " ".join(map(str, inner)) if isinstance(inner, list) else str(inner)
            yield f"{'.'.join(path)}: {said}" if path else said


def _title(status: int) -> str:
    return HTTPStatus(status).phrase
