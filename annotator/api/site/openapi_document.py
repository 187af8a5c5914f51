"""The OpenAPI document as served: flask-smorest's, with descriptions, examples, errors by status and media types."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from flask import request

from annotator.api.site.descriptions import OF_OBJECTS, OF_OPERATIONS, PARAMETERS, PROPERTIES
from annotator.api.site.problems import TYPES, kind_of
from annotator.web.site.context import settings

JSON = "application/json"
PROBLEM = "application/problem+json"
# The reason for each error status; those common to all operations come first.
ALWAYS = {
    "400": "A query parameter is unknown, or the operation takes no body.",
    "401": "The token is missing, unknown, expired or revoked.",
    "403": "The token lacks the scope, or its owner the role.",
    "429": "The token has sent too many requests in this minute.",
}
IN_COLLECTION = {"404": "The collection does not exist, or has nothing of that name."}
WITH_BODY = {
    "413": "More was sent than the server takes at once.",
    "415": "The body is not of the type that the operation reads.",
}
WITH_INPUT = {"422": "A parameter, the body or the file is invalid."}
# Of all that change something, also without a body: a key may come with another request.
CHANGING = {
    "409": "The state of the collection does not allow it, or the request with this key is being carried out.",
    "422": "A value is not valid, or the Idempotency-Key came with another request.",
}
HEADERS_SENT = {
    "If-Match": "The ETag that GET answers here: with another one the change is refused (412).",
    "Idempotency-Key": (
        "A value of your own for this request, which is then carried out once, however often it is sent in a day."
    ),
}
BUSY = {"503": "The database is busy, or there are too many large uploads: try again."}
ACCEPTED = "202"
# The example for every response with this status: a job, whatever the operation is.
LEFT_TO_WORKER = "left_to_worker"

Document = dict[str, Any]


def completed(document: Document) -> Document:
    """Add the server, the errors of each operation, descriptions and examples, and list JSON first."""
    document = deepcopy(document)
    document["servers"] = [{"url": _own_address(), "description": "This site."}]
    document["components"]["headers"]["PAGINATION"] = {
        "description": (
            "JSON: total, total_pages, first_page, last_page, page and, if they exist, previous_page and next_page."
        ),
        "schema": {"type": "string"},
        "example": '{"total": 2, "total_pages": 1, "first_page": 1, "last_page": 1, "page": 1}',
    }
    for name, schema in document["components"]["schemas"].items():
        for key, one in schema.get("properties", {}).items():
            _describe(one, OF_OBJECTS.get(name, {}).get(key) or PROPERTIES.get(key))
    for path, shared, one in _operations(document):
        for answer in one["responses"].values():
            if JSON in answer.get("content", {}):
                answer["content"] = {JSON: answer["content"].pop(JSON), **answer["content"]}
        one["responses"] |= {status: _refusal(status, why) for status, why in _refusals(path, one).items()}
        one.setdefault("description", one["summary"])
        for parameter in (*shared, *one.get("parameters", ())):
            name = parameter["name"]
            _describe(parameter, OF_OPERATIONS.get(one["operationId"], {}).get(name) or PARAMETERS.get(name))
        _add_examples(one)
    _add_transport(document)
    return document


@cache
def examples() -> dict[str, Any]:
    """By operation: an example of its body, and of its response in each media type; each feature has a file."""
    read: dict[str, Any] = {}
    for file in Path(__file__).parents[1].rglob("examples.json"):
        read |= json.loads(file.read_text(encoding="utf-8"))
    return read


def _own_address() -> str:
    """The address at which the document was requested, only if the allowed host names are configured."""
    return request.host_url.rstrip("/") if settings().site_hosts else "/"


def _operations(document: Document) -> Iterator[tuple[str, list[Document], Document]]:
    """Every operation, with its path and the path's parameters."""
    for path, methods in document["paths"].items():
        shared = methods.get("parameters", [])
        yield from ((path, shared, one) for method, one in methods.items() if method != "parameters")


def _describe(one: Document, description: str | None) -> None:
    if description is not None:
        one.setdefault("description", description)


def _add_examples(operation: Document) -> None:
    known = examples().get(operation["operationId"], {})
    if "body" in known:
        for content in operation["requestBody"]["content"].values():
            content["example"] = known["body"]
    for status, answer in operation["responses"].items():
        shown = examples()[LEFT_TO_WORKER] if status == ACCEPTED else known.get("answer", {})
        for media, content in answer.get("content", {}).items():
            if status.startswith("2") and media in shown:
                content["example"] = shown[media]


def _add_transport(document: Document) -> None:
    """Describe the headers that operations have in common: entity tags and the keys of requests."""
    for methods in document["paths"].values():
        for method, one in methods.items():
            if method in {"parameters", "get"}:
                continue  # If-None-Match would add an answer without a type to those of clients
            sent = ["Idempotency-Key"]
            sent += ["If-Match"] if method in {"put", "patch", "delete"} and "get" in methods else []
            for status, why in CHANGING.items():
                one["responses"].setdefault(status, _refusal(status, why))
            one["parameters"] = [*one.get("parameters", ()), *map(_header, sent)]
            if "If-Match" in sent:
                one["responses"]["412"] = _refusal("412", TYPES["precondition-failed"])


def _header(name: str) -> Document:
    return {"name": name, "in": "header", "schema": {"type": "string"}, "description": HEADERS_SENT[name]}


def _refusals(path: str, operation: Document) -> dict[str, str]:
    has_body = "requestBody" in operation
    has_input = has_body or "parameters" in operation
    return {
        **ALWAYS,
        **(IN_COLLECTION if "{" in path else {}),
        **(WITH_BODY if has_body else {}),
        **(WITH_INPUT if has_input else {}),
        **BUSY,
    }


def _refusal(status: str, why: str) -> Document:
    title = HTTPStatus(int(status)).phrase
    return {
        "description": why,
        "content": {
            PROBLEM: {
                "schema": {"$ref": "#/components/schemas/ProblemDetails"},
                "example": {"type": kind_of(int(status)), "title": title, "status": int(status), "detail": why},
            }
        },
    }
