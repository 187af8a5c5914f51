"""Entity tags: responses to GET have one, and a change with If-Match is made only while it is the current one."""

from io import BytesIO

from flask import Response, current_app, make_response, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import PreconditionFailed

from annotator.storage.site.write_guard import Check, in_turn, write_guard

CHANGING = frozenset({"PUT", "PATCH", "DELETE"})
OK = 200
# Of the environ of a request: what is not repeated with a GET request for the same address.
OF_THE_CHANGE = ("HTTP_IF_MATCH", "HTTP_IDEMPOTENCY_KEY", "CONTENT_TYPE", "HTTP_TRANSFER_ENCODING")
# In the environ of the repeated request, which is not counted as one of the token's.
READING_AGAIN = "annotator.reading_again"
CHANGED = (
    "This has changed since you read it, or is not there: its ETag is not one of If-Match. Nothing was stored: GET it "
    "again."
)
WITHOUT_TAG = "If-Match is for PUT, PATCH and DELETE at an address that can be read by GET. Nothing was stored."


def tagged(answer: ResponseReturnValue) -> Response:
    """A response to GET with its entity tag; 304 when the client has it already (If-None-Match)."""
    response = make_response(answer)
    if response.status_code == OK and not response.is_streamed:
        response.add_etag()
        response.make_conditional(request)
        response.headers.pop("Date", None)  # the server adds it, and a response has one
    return response


def precondition(*, is_readable: bool) -> Check | None:
    """The check of a write guard for the header If-Match; None without it.

    Raises `PreconditionFailed` where there is nothing to compare with.
    """
    if "If-Match" not in request.headers:
        return None
    if request.method not in CHANGING or not is_readable:
        raise PreconditionFailed(WITHOUT_TAG)
    return in_turn(request.path, _refuse_unless_current)


def _refuse_unless_current() -> None:
    response = _read_again()
    tag, _ = response.get_etag()
    if response.status_code != OK or tag is None or not request.if_match.contains(tag):
        raise PreconditionFailed(CHANGED)


def _read_again() -> Response:
    """The response to a GET request of the same caller for the same address."""
    environ = {name: value for name, value in request.environ.items() if name not in OF_THE_CHANGE}
    environ = {name: value for name, value in environ.items() if not name.startswith(("werkzeug.", "flask."))}
    environ |= {
        READING_AGAIN: True,
        "REQUEST_METHOD": "GET",
        "QUERY_STRING": "",
        "CONTENT_LENGTH": "0",
        "wsgi.input": BytesIO(),
    }
    guard = write_guard.set(None)
    try:
        with current_app.app_context(), current_app.request_context(environ):
            return current_app.full_dispatch_request()
    finally:
        write_guard.reset(guard)
