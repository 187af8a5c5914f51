"""Answers to scripts: what the pages of a blueprint refuse, a script is told as JSON, in the reader's language."""

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
# Of JSON: a hundred judgements with the longest notes and passages are half of it.
MOST_BYTES = 16 << 20
# Of one object: what has more names than any address takes is not read further.
MOST_NAMES = 10_000


def install(blueprint: Blueprint, pages: Container[str] = ()) -> None:
    """Let scripts that call the blueprint's addresses be refused in JSON: `{"status", "sentence"}`.

    `pages` are the views that nothing but a browser opens, whatever it says that it accepts.
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
    """Whether a script asks: it sends JSON, or does not ask for a page, as every browser does that opens one."""
    return request.is_json if request.method == "POST" else "text/html" not in request.headers.get("Accept", "")


def refusal(status: int, sentence: str) -> ResponseReturnValue:
    """A refusal as scripts get it."""
    return {"status": status, "sentence": sentence}, status


def sent_json() -> object:
    """The JSON that was sent, None when it is none; what is nested as nobody nests it is none either."""
    request.max_content_length = MOST_BYTES
    if not request.is_json:
        return None
    try:
        return load_json(request.get_data(cache=True))
    except (RecursionError, ValueError):
        return None


def load_json(content: bytes) -> object:
    """Read JSON; `ValueError` when it is none, or has an object of more names than anybody sends."""
    return json.loads(content, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(pairs) > MOST_NAMES:
        raise ValueError(f"an object has {len(pairs)} names")
    return dict(pairs)


def json_body() -> dict[str, object]:
    """The JSON object that a script sent; `InvalidValueError` when it is something else."""
    body = sent_json()
    if not isinstance(body, dict):
        raise InvalidValueError("This address takes a JSON object.")
    return body


def text_in(body: dict[str, object], name: str) -> str:
    """A text of the JSON object; `InvalidValueError` when it is missing or none."""
    value = body.get(name)
    if not isinstance(value, str):
        raise InvalidValueError("“%(name)s” must be a text.", name=name)
    return _storable(value)


def texts_in(body: dict[str, object], name: str) -> list[str]:
    """A list of texts of the JSON object; `InvalidValueError` when it is missing or something else."""
    values = body.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidValueError("“%(name)s” must be a list of texts.", name=name)
    return [_storable(value) for value in values]


def _storable(text: str) -> str:
    """A text that any database can look for; JSON can escape signs that no form can send."""
    if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
        raise InvalidValueError("A text has a character that cannot be stored: NUL, or half of a surrogate pair.")
    return text


def _refusal(error: AnnotatorError) -> ResponseReturnValue:
    return refusal(error_pages.status_of(error), say(error.sentence))


def _http_refusal(error: HTTPException) -> ResponseReturnValue:
    status = error.code or FIRST_ERROR
    words = error_pages.EXPLANATIONS.get(status) or error_pages.TITLES.get(status) or error.name
    return refusal(status, str(words))
