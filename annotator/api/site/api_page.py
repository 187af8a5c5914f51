"""The OpenAPI document as an HTML page, served from this host and without scripts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, current_app, render_template
from flask.typing import ResponseReturnValue

from annotator.api.site.door import PREFIX
from annotator.api.site.openapi_document import completed
from annotator.api.site.problems import TYPES

blueprint = Blueprint("api_page", __name__)

Document = Mapping[str, Any]
# Most operations have it, so it is explained once.
SLUG = "slug"


@dataclass(frozen=True)
class Part:
    """A parameter of an operation, or a property of an object."""

    name: str
    kind: str
    description: str
    is_needed: bool


@dataclass(frozen=True)
class Described:
    """An operation as shown on the page."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    scopes: tuple[str, ...]
    roles: tuple[str, ...]
    parameters: tuple[Part, ...]
    takes: str | None
    gives: tuple[str, ...]


@blueprint.get(f"{PREFIX}/")
def show() -> ResponseReturnValue:
    """Every operation, by what it is about, and every object."""
    document = _document()
    operations = list(_operations(document))
    groups = [
        (tag["name"], tag["description"], [one for name, one in operations if name == tag["name"]])
        for tag in document["tags"]
    ]
    return render_template(
        "site/api.html",
        about=document["info"]["description"],
        groups=groups,
        problem_types=TYPES,
        shapes=_shapes(document),
    )


def shape_of(schema: Document) -> str:
    """A short name of a schema: the name of its object, or its type."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema or "oneOf" in schema:
        return " or ".join(shape_of(one) for one in schema.get("anyOf") or schema["oneOf"])
    kinds = schema.get("type", "value")
    kind = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if "enum" in schema:
        return ", ".join(str(one) for one in schema["enum"] if one is not None)
    return f"list of {shape_of(schema['items'])}" if "items" in schema else kind


def _document() -> Document:
    return completed(current_app.extensions["flask-smorest"]["apis"][""]["ext_obj"].spec.to_dict())


def _operations(document: Document) -> Iterator[tuple[str, Described]]:
    """Every operation, with the name of its tag."""
    for path, methods in document["paths"].items():
        shared = tuple(methods.get("parameters", ()))
        for method, one in methods.items():
            if method != "parameters":
                yield one["tags"][0], _described(method, path, one, shared)


def _described(method: str, path: str, one: Document, shared: tuple[Document, ...]) -> Described:
    answers = [answer for status, answer in one["responses"].items() if status.startswith("2")]
    return Described(
        id=one["operationId"],
        method=method.upper(),
        path=path,
        summary=one.get("summary", ""),
        description=one.get("description", ""),
        scopes=tuple(one.get("x-scopes", ())),
        roles=tuple(one.get("x-roles", ())),
        # The headers that all have in common are explained once, at the top.
        parameters=tuple(
            _parameter(given)
            for given in (*shared, *one.get("parameters", ()))
            if given["in"] != "header" and given["name"] != SLUG
        ),
        takes=next(iter(_contents(one.get("requestBody", {}))), None),
        gives=tuple(kind for answer in answers for kind in _contents(answer)),
    )


def _contents(body: Document) -> Iterator[str]:
    for media, content in body.get("content", {}).items():
        yield shape_of(content["schema"]) if media == "application/json" else media


def _parameter(one: Document) -> Part:
    return Part(one["name"], shape_of(one["schema"]), one.get("description", ""), one.get("required", False))


def _shapes(document: Document) -> dict[str, tuple[str, tuple[Part, ...]]]:
    """Every object by name, with its description and properties."""
    return {name: (one.get("description", ""), tuple(_parts(one))) for name, one in _schemas(document)}


def _schemas(document: Document) -> list[tuple[str, Document]]:
    return sorted(document["components"].get("schemas", {}).items())


def _parts(schema: Document) -> Iterator[Part]:
    needed = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        yield Part(name, shape_of(one), one.get("description", ""), name in needed)
