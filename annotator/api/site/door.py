"""Declares API operations: each is a view with a gate, parameters and a response; OpenAPI is generated from them.

flask-smorest is used because it extends an ordinary Flask application: APIFlask and flask-openapi3 are application
classes of their own, to which the web pages would have to move.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue
from flask_smorest import Blueprint, Page
from marshmallow import Schema, missing
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import HTTPException, InternalServerError

from annotator.api.site.access import Gate, let_in, token_in_use
from annotator.api.site.idempotency import FORM_WITH_FILES, answered_before, claim, keep, keyed_request
from annotator.api.site.jobs_asked import JobStatus, left_to_worker
from annotator.api.site.pagination import linked
from annotator.api.site.preconditions import precondition, tagged
from annotator.api.site.problems import of_http, of_refusal, problem
from annotator.api.site.rate_limits import too_many_requests
from annotator.errors import AnnotatorError
from annotator.files import InputFile
from annotator.storage.site.write_guard import WriteGuard, write_guard
from annotator.web.site.json_answers import load_json
from annotator.web.site.uploads import whole_files

PREFIX = "/api/v1"
PAGE_SIZE = {"page": 1, "page_size": 100, "max_page_size": 1_000}
PAGE_PARAMETERS = ["page", "page_size"]
JSON = "application/json"
READING = frozenset({"GET", "HEAD"})
ACCEPTED = 202
BAD_REQUEST = 400
UNSUPPORTED = 415
UNPROCESSABLE = 422
JOB_TOLD = {
    "description": (
        "The file is large and processed by a background job: poll the job at its Location until it has finished."
    ),
    "headers": {"Location": {"description": "The job's own address.", "schema": {"type": "string"}}},
}
LONG_JOB_TOLD = {
    **JOB_TOLD,
    "description": "A background job does it: poll the job at its Location until it has finished.",
}
BINARY = {"type": "string", "format": "binary"}
FILE_AS_BODY = {
    "description": "The file itself, byte for byte, plain or gzipped.",
    "required": True,
    "content": {"application/octet-stream": {"schema": BINARY}},
}


@dataclass(frozen=True)
class Call:
    """The input of a call: path parameters, query, JSON body, the bytes of a file, the files of a form."""

    path: Mapping[str, str]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    content: bytes = b""
    files: Mapping[str, Sequence[InputFile]] = field(default_factory=dict)  # of a form, by part name

    @property
    def slug(self) -> str:
        """The slug of the collection in the path."""
        return self.path["slug"]


@dataclass(frozen=True)
class Operation:
    """An operation with its endpoint, method, path and gate."""

    endpoint: str
    method: str
    path: str
    gate: Gate


@dataclass(frozen=True)
class Takes:
    """What an operation accepts: query parameters, and JSON, one file or a form of files as its body.

    The first part of a form is one or more files; each further part is one optional file.
    """

    query: type[Schema] | None = None
    body: type[Schema] | None = None
    file: bool = False  # answered by the worker when it is large
    parts: Sequence[str] = ()  # the part names of a form, which may also be answered by the worker
    most_bytes: int = 1 << 18  # of a JSON body
    long: bool = False  # the view may leave it to the worker
    pages: bool = False


@dataclass(frozen=True)
class Gives:
    """The response of an operation: JSON of a schema, or text of these media types."""

    schema: type[Schema] | Schema | None = None
    status: int = 200
    many: bool = False
    media: Sequence[str] = ()
    has_secret: bool = False  # so that no copy of it is kept for repeated requests


# By endpoint, for the access tests.
OPERATIONS: dict[str, Operation] = {}
# The paths that have a GET operation.
READABLE: set[str] = set()
NOTHING = Takes()
View = Callable[[Call], object]
# The form in which flask-smorest calls and decorates a view.
Decorated = Callable[..., Any]


class _Parser(FlaskParser):
    """Parses JSON as webargs does, and rejects excessive nesting and very long numbers."""

    def load_json(self, req: Any, schema: Any) -> Any:  # noqa: ANN401 - the signature is webargs'
        try:
            return super().load_json(req, schema)
        except (RecursionError, ValueError) as error:
            return self._handle_invalid_json_error(json.JSONDecodeError(str(error), "", 0), req)

    def _raw_load_json(self, req: Any) -> Any:  # noqa: ANN401 - the signature is webargs'
        return load_json(req.get_data()) if req.is_json else missing


def resource_of(name: str, description: str) -> Blueprint:
    """The blueprint for the operations on one kind of resource."""
    # Capitalised, so that it differs from the blueprints of the web pages.
    blueprint = Blueprint(name.capitalize(), __name__, url_prefix=PREFIX, description=description)
    blueprint.ARGUMENTS_PARSER = blueprint.PAGINATION_ARGUMENTS_PARSER = _Parser()
    blueprint.DEFAULT_PAGINATION_PARAMETERS = PAGE_SIZE
    blueprint.register_error_handler(AnnotatorError, of_refusal)
    blueprint.register_error_handler(HTTPException, of_http)
    blueprint.register_error_handler(InternalServerError, of_http)  # the web pages have their own handler for it
    return blueprint


def operation(
    blueprint: Blueprint, method: str, path: str, gate: Gate, gives: Gives, takes: Takes = NOTHING
) -> Callable[[View], View]:
    """Register a view as an operation of a resource, for callers that pass the gate."""

    def register(view: View) -> View:
        endpoint = f"{blueprint.name}.{view.__name__}"
        OPERATIONS[endpoint] = Operation(endpoint, method, PREFIX + path, gate)
        if method == "GET":
            READABLE.add(PREFIX + path)
        described = _described(blueprint, takes, gives, _called(view, takes))
        described = blueprint.doc(operationId=view.__name__, **_gate_extensions(gate))(described)
        blueprint.route(path, methods=[method])(_guarded(described, gate, gives, takes))
        return view

    return register


def text(content: bytes | str, media: str) -> Response:
    """A text response with this media type."""
    return Response(content, mimetype=media)


def as_json(content: object) -> Response:
    """A JSON response of plain values."""
    return Response(json.dumps(content, ensure_ascii=False), mimetype="application/json")


def _called(view: View, takes: Takes) -> Decorated:
    """The view as flask-smorest calls it: parsed query and body, in the order of the decorators, become one `Call`."""
    names = [name for name in ("query", "body") if getattr(takes, name) is not None]

    @wraps(view)
    def called(*parsed: Any, **path: Any) -> object:  # noqa: ANN401 - deserialised by the schemas
        call = Call(path, **dict(zip(names, parsed, strict=True)))
        if takes.parts:
            return _of_form(view, call, takes.parts)
        if not takes.file:
            return view(call)
        content = request.get_data(cache=False)
        return left_to_worker(path.get("slug"), content) or view(replace(call, content=content))

    return called


def _of_form(view: View, call: Call, parts: Sequence[str]) -> object:
    """The response to a form, or a job for the worker, which parses the form again."""
    content = request.get_data()
    files = {part: whole_files(request.files.getlist(part)) for part in parts}
    if not files[parts[0]]:
        return problem(UNPROCESSABLE, f"Send one file or several as “{parts[0]}” of a form ({FORM_WITH_FILES}).")
    job = left_to_worker(call.slug, content, [file.content for of_part in files.values() for file in of_part])
    return job or view(replace(call, files=files))


def _described(blueprint: Blueprint, takes: Takes, gives: Gives, view: Decorated) -> Decorated:
    """The view decorated with its parameters and responses, which flask-smorest parses, serialises and documents."""
    described = blueprint.paginate(Page)(view) if takes.pages else view
    if gives.schema is not None:
        schema = gives.schema(many=gives.many) if isinstance(gives.schema, type) else gives.schema
        described = blueprint.response(gives.status, schema)(described)
    for media in gives.media:
        of_text = {"schema": {"type": "string"}, "content_type": media}
        described = blueprint.alt_response(gives.status, **of_text, success=True)(described)
    if takes.file or takes.parts or takes.long:
        told = LONG_JOB_TOLD if takes.long else JOB_TOLD
        described = blueprint.alt_response(ACCEPTED, schema=JobStatus, success=True, **told)(described)
    if takes.file or takes.parts:
        described = blueprint.doc(requestBody=FILE_AS_BODY if takes.file else _form_of(takes.parts))(described)
    if takes.body is not None:
        described = blueprint.arguments(takes.body, location="json")(described)
    if takes.query is not None:
        described = blueprint.arguments(takes.query, location="query")(described)
    return described


def _form_of(parts: Sequence[str]) -> dict[str, object]:
    """The OpenAPI description of a multipart form with these parts."""
    first, *further = parts
    properties = {first: {"type": "array", "items": BINARY, "minItems": 1}, **dict.fromkeys(further, BINARY)}
    schema = {"type": "object", "properties": properties, "required": [first]}
    return {
        "description": "Files, each under its own name, plain or gzipped.",
        "required": True,
        "content": {FORM_WITH_FILES: {"schema": schema}},
    }


def _guarded(view: Decorated, gate: Gate, gives: Gives, takes: Takes) -> Callable[..., ResponseReturnValue]:
    """The view behind its gate; input errors are reported only to callers that pass it."""

    @wraps(view)
    def guarded(**path: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
        refused = let_in(gate, path.get("slug")) or too_many_requests(token_in_use().token_id)
        if refused is not None:
            return refused
        if takes.body is not None:
            request.max_content_length = takes.most_bytes
        misfit = _unknown_parameters(takes) or _wrong_body(takes)
        if misfit is not None:
            return misfit
        if request.method in READING:
            return tagged(linked(view(**path)))
        return _changed(view, path, has_secret=gives.has_secret)

    return guarded


def _changed(view: Decorated, path: Mapping[str, Any], *, has_secret: bool) -> ResponseReturnValue:
    """The response of a view that changes something: once for each Idempotency-Key, and only while If-Match holds."""
    keyed = keyed_request()
    if isinstance(keyed, Response):
        return keyed
    if keyed is not None and (earlier := answered_before(keyed)) is not None:
        return earlier
    is_readable = request.url_rule is not None and request.url_rule.rule in READABLE
    checks = [check for check in (precondition(is_readable=is_readable), claim(keyed) if keyed else None) if check]
    guard = WriteGuard(checks)
    before = write_guard.set(guard)
    try:
        answer: ResponseReturnValue = view(**path)
    except AnnotatorError:
        # What refused it may be what the same request, sent at once with this one, has stored since.
        earlier = None if keyed is None or guard.is_committed else answered_before(keyed)
        if earlier is None:
            raise
        return earlier
    finally:
        write_guard.reset(before)
    return keep(keyed, answer, has_secret=has_secret) if keyed is not None and guard.is_committed else answer


def _unknown_parameters(takes: Takes) -> Response | None:
    """Reject unknown query parameters, so that a mistyped one is not silently ignored."""
    known = [] if takes.query is None else [field.data_key or name for name, field in takes.query().fields.items()]
    known += PAGE_PARAMETERS if takes.pages else []
    unknown = sorted(set(request.args) - set(known))
    if not unknown:
        return None
    return problem(
        BAD_REQUEST,
        f"Unknown query parameters: {', '.join(unknown)}. This operation has: {', '.join(known) or 'none'}.",
        errors={"query": {name: ["Unknown parameter."] for name in unknown}},
    )


def _wrong_body(takes: Takes) -> Response | None:
    """Reject a body of a type that the operation does not read, so that it is not silently ignored."""
    if takes.file:
        is_form = request.mimetype == FORM_WITH_FILES
        return problem(UNSUPPORTED, "Send the file itself as the body, not a form that has it.") if is_form else None
    if not request.content_length and "Transfer-Encoding" not in request.headers:
        return None
    if (takes.parts and request.mimetype == FORM_WITH_FILES) or (takes.body is not None and request.is_json):
        return None
    if takes.parts:
        return problem(UNSUPPORTED, f"Send a form ({FORM_WITH_FILES}) with the files.", {"Accept": FORM_WITH_FILES})
    if takes.body is None:
        return problem(BAD_REQUEST, "This operation takes no body: send what it takes as query parameters.")
    return problem(
        UNSUPPORTED, "Send the body as JSON, with the header “Content-Type: application/json”.", {"Accept": JSON}
    )


def _gate_extensions(gate: Gate) -> dict[str, object]:
    """The scopes and roles of a gate as OpenAPI extensions."""
    extensions: dict[str, object] = {"x-scopes": sorted(gate.scopes)}
    if gate.administrator:
        extensions["x-roles"] = ["administrator"]
    elif gate.roles is not None:
        extensions["x-roles"] = sorted(gate.roles) or ["any member"]
    return extensions
