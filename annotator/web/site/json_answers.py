"""JSON requests and responses of scripts; errors are JSON, too, in the reader's language."""

import json
from collections.abc import Container

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.web.site import error_pages
from annotator.web.site.context import current_person
from annotator.web.site.language import gettext
from annotator.web.site.translate import say

SIGNED_OUT = 401
FIRST_ERROR = 400
# Of a JSON body: a hundred judgements with the longest notes and passages take half of it.
MOST_BYTES = 16 << 20
# Names in one object; an object with more is rejected.
MOST_NAMES = 10_000


def install(blueprint: Blueprint, pages: Container[str] = ()) -> None:
    """Answer errors of a blueprint to scripts in JSON: `{"status", "sentence"}`.

    `pages` are views that only browsers open, whatever the Accept header says.
    """

    def for_script() -> bool:
        return wants_json() and (request.endpoint or "").removeprefix(f"{blueprint.name}.") not in pages

    def refuse_guests() -> ResponseReturnValue | None:
        if current_person() is None and for_script():
            return refusal(SIGNED_OUT, gettext("You are signed out. Sign in again to go on."))
        return None

    def refused(error: AnnotatorError) -> ResponseReturnValue:
        return _refusal(error) if for_script() else error_pages.show_refusal(error)

    def stale_form(error: CSRFError) -> ResponseReturnValue:
        return _http_refusal(error) if for_script() else error_pages.show_stale_form(error)

    def http_error(error: HTTPException) -> ResponseReturnValue:
        is_error = (error.code or FIRST_ERROR) >= FIRST_ERROR
        return _http_refusal(error) if is_error and for_script() else error_pages.show_http_error(error)

    blueprint.before_request(refuse_guests)
    blueprint.register_error_handler(AnnotatorError, refused)
    blueprint.register_error_handler(CSRFError, stale_form)
    blueprint.register_error_handler(HTTPException, http_error)


def wants_json() -> bool:
    """Whether a script sent the request: it sends JSON, or does not accept HTML as browsers do."""
    return request.is_json if request.method == "POST" else "text/html" not in request.headers.get("Accept", "")


def refusal(status: int, sentence: str) -> ResponseReturnValue:
    """An error response in JSON."""
    return {"status": status, "sentence": sentence}, status


def sent_json() -> object:
    """The JSON body, None when it is malformed or too deeply nested."""
    request.max_content_length = MOST_BYTES
    if not request.is_json:
        return None
    try:
        return load_json(request.get_data(cache=True))
    except (RecursionError, ValueError):
        return None


def load_json(content: bytes) -> object:
    """Parse JSON; `ValueError` when it is malformed or an object has too many names."""
    return json.loads(content, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(pairs) > MOST_NAMES:
        raise ValueError(f"an object has {len(pairs)} names")
    return dict(pairs)


def json_body() -> dict[str, object]:
    """The JSON object sent by a script; `InvalidValueError` for any other body."""
    body = sent_json()
    if not isinstance(body, dict):
        raise InvalidValueError("This address takes a JSON object.")
    return body


def text_in(body: dict[str, object], name: str) -> str:
    """A text in the JSON object; `InvalidValueError` when it is missing or of another type."""
    value = body.get(name)
    if not isinstance(value, str):
        raise InvalidValueError("“%(name)s” must be a text.", name=name)
    return _storable(value)


def texts_in(body: dict[str, object], name: str) -> list[str]:
    """A list of texts in the JSON object; `InvalidValueError` when it is missing or of another type."""
    values = body.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidValueError("“%(name)s” must be a list of texts.", name=name)
    return [_storable(value) for value in values]


def _storable(text: str) -> str:
    """A text that every database can query; JSON can escape characters that no form can send."""
    if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
        raise InvalidValueError("A text has a character that cannot be stored: NUL, or half of a surrogate pair.")
    return text


def _refusal(error: AnnotatorError) -> ResponseReturnValue:
    return refusal(error_pages.status_of(error), say(error.sentence))


def _http_refusal(error: HTTPException) -> ResponseReturnValue:
    status = error.code or FIRST_ERROR
    words = error_pages.EXPLANATIONS.get(status) or error_pages.TITLES.get(status) or error.name
    return refusal(status, str(words))
