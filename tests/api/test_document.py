"""The OpenAPI document explains itself: everything is described, and every example is valid and can be sent."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest
from api_matrix import FREE, MATRIX
from build import SLUG, member
from calling import API, Answer, Caller
from flask import Flask

from annotator import __version__
from annotator.api.site.descriptions import OF_OBJECTS, OF_OPERATIONS, PARAMETERS, PROPERTIES
from annotator.api.site.idempotency import FORM_WITH_FILES
from annotator.api.site.openapi_document import LEFT_TO_WORKER, examples
from annotator.storage import Database, Role
from annotator.web.site.context import SETTINGS
from annotator.workflows.collections import collection

DOCUMENT = f"{API}/openapi.json"
JSON = "application/json"
# Their examples are valid, and are not sent: they need a click log, which comes in a form, a judge's question, a
# document in dispute, or an archive.
NEED_MORE = {
    "Documents.check_source",  # asks another host
    "Scores.set_public_pages",  # needs released scores
    "Runs.fetch_run",  # asks another host
    "Runs.set_run_source",  # of another host
    "Agreement.estimate_machine_run",  # need a machine judge
    "Agreement.run_machine_judge",
    "Agreement.continue_machine_run",
    "Clicks.link_click_log",
    "Together.pool_together",
    "Judging.answer_question",
    "Agreement.decide",
    "Agreement.adjudicate",
    "Collections.import_archive",
    "Scores.check_kit",  # needs a kit
}
# Who calls an operation, of those for whom it is.
CALLERS = {
    "organiser": "ola",
    "judge": "jo",
    "participant": "pat",
    "adjudicator": "ann",
    "administrator": "ada",
}


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """One kind of database: the document is the same on each."""
    return sqlite_database


@pytest.fixture
def document(app: Flask) -> Any:  # noqa: ANN401 - JSON
    """The document as it is served."""
    return app.test_client().get(DOCUMENT).json


def test_the_document_names_the_version_of_the_program(document: Any) -> None:  # noqa: ANN401
    assert document["info"]["description"].endswith(f"This is annotator {__version__}.")


def operations(document: Any) -> Iterator[tuple[list[Any], Any]]:  # noqa: ANN401
    """Every operation, with the parameters of its path."""
    for methods in document["paths"].values():
        shared = methods.get("parameters", [])
        yield from ((shared, one) for method, one in methods.items() if method != "parameters")


def parameters(document: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Every parameter, with the operation that has it."""
    for shared, one in operations(document):
        yield from ((one["operationId"], parameter) for parameter in (*shared, *one.get("parameters", ())))


def properties(document: Any) -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401
    """Every property, with the object that has it."""
    for name, schema in document["components"]["schemas"].items():
        yield from ((name, key, one) for key, one in schema.get("properties", {}).items())


def contents(document: Any) -> Iterator[tuple[str, Any, bool]]:  # noqa: ANN401
    """Every body but forms with files, and every answer, by operation; whether it is a body."""
    for _, one in operations(document):
        name = one["operationId"]
        bodies = one.get("requestBody", {}).get("content", {})
        yield from ((name, content, True) for media, content in bodies.items() if media != FORM_WITH_FILES)
        for answer in one["responses"].values():
            yield from ((name, content, False) for content in answer.get("content", {}).values())


def test_every_operation_parameter_and_property_has_a_description(document: Any) -> None:  # noqa: ANN401
    assert [one["operationId"] for _, one in operations(document) if not one["description"]] == []
    assert {(name, one["name"]) for name, one in parameters(document) if not one.get("description")} == set()
    assert {(name, key) for name, key, one in properties(document) if not one.get("description")} == set()


def test_nothing_is_described_that_the_document_does_not_have(document: Any) -> None:  # noqa: ANN401
    used = {one["description"] for *_, one in properties(document)}
    used |= {one["description"] for _, one in parameters(document)}
    described = [PROPERTIES, PARAMETERS, *OF_OBJECTS.values(), *OF_OPERATIONS.values()]
    assert {text for texts in described for text in texts.values()} - used == set()
    assert set(OF_OBJECTS) <= set(document["components"]["schemas"])
    assert set(OF_OPERATIONS) <= {one["operationId"] for _, one in operations(document)}


def test_every_body_but_forms_and_every_answer_has_an_example_that_is_valid(document: Any) -> None:  # noqa: ANN401
    components = deepcopy(document["components"])
    for schema in components["schemas"].values():
        schema.setdefault("additionalProperties", False)  # so that a misspelt name is found
    wrong = {}
    for name, content, _ in contents(document):
        schema = {**content["schema"], "components": components}
        if "example" not in content:
            wrong[name] = "has no example"
        elif errors := list(jsonschema_rs.iter_errors(schema, content["example"], validate_formats=True)):
            wrong[name] = errors[0].message
    assert wrong == {}


def test_no_example_is_of_something_else(document: Any) -> None:  # noqa: ANN401
    names = {one["operationId"] for _, one in operations(document)}
    with_body = {name for name, _, is_body in contents(document) if is_body}
    assert set(examples()) == {*names, LEFT_TO_WORKER}
    assert {name for name, known in examples().items() if "body" in known} == with_body


def test_every_example_of_a_body_is_taken_and_answered_by_what_the_example_of_the_answer_has(
    app: Flask, database: Database, news: None, program: Caller
) -> None:
    del app, news
    with database.transaction() as session:
        member(session, "ann", Role.ADJUDICATOR)
        collection.set_guidelines(
            session, SLUG, "Judge what the topic asks for.", made_by_id=None, made_at=datetime.now(UTC)
        )

    programs = {name: program(name) for name in CALLERS.values()}

    def called(name: str) -> Answer:
        row = MATRIX[name]
        caller = programs[next(CALLERS[role] for role in CALLERS if role in row.opens)]
        body = examples()[name.split(".")[1]].get("body")
        if isinstance(body, str):
            return caller.send(row.path, body)
        return caller.call(row.method, row.path, json=body)

    # In the order of the matrix: guidelines are accepted before documents are drawn, and those before they are judged.
    sent = {name: called(name) for name in with_bodies_to_send()}
    assert {name: answer.text for name, answer in sent.items() if answer.status_code not in {200, 201, 202}} == {}
    read = {name: called(name) for name in MATRIX if MATRIX[name].method == "GET"}
    for name, answer in {**sent, **read}.items():
        if answer.status_code in {200, 201} and answer.mimetype == JSON:
            example = examples()[name.split(".")[1]]["answer"][JSON]
            assert names_in(answer.json) <= names_in(example), name
            assert isinstance(example, list) is isinstance(answer.json, list), name


def with_bodies_to_send() -> list[str]:
    return [name for name in MATRIX if name not in NEED_MORE and "body" in examples()[name.split(".")[1]]]


def names_in(answer: Any) -> set[str]:  # noqa: ANN401
    """The properties of an object, or of the first one of a list."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    return set(first) if isinstance(first, dict) else set()


def test_the_server_is_the_address_that_was_called_where_the_names_of_the_site_are_set(
    app: Flask,
    document: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [one["url"] for one in document["servers"]] == ["/"]
    settings = replace(app.extensions[SETTINGS], site_hosts=("news.example.org",))
    monkeypatch.setitem(app.extensions, SETTINGS, settings)
    served = app.test_client().get(DOCUMENT, base_url="https://news.example.org:8443")
    assert served.json is not None
    assert [one["url"] for one in served.json["servers"]] == ["https://news.example.org:8443"]
    assert app.test_client().get(DOCUMENT, base_url="https://evil.example.org").status_code == 421


def test_a_token_needs_no_collection_to_be_shown(program: Caller, news: None) -> None:
    del news
    shown = program("jo").get(FREE["Collections.show_token"]).json
    assert names_in(shown) == names_in(examples()["show_token"]["answer"][JSON])


def test_every_change_describes_the_refusals_of_its_key(document: Any) -> None:  # noqa: ANN401
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if method in {"post", "put", "patch", "delete"}:
                assert {"400", "409", "422"} <= one["responses"].keys(), (method, path)


def test_every_list_of_json_has_pages(document: Any) -> None:  # noqa: ANN401
    """So that a program reads all lists alike; exports, which have further formats, are whole."""
    for path, methods in document["paths"].items():
        one = methods.get("get", {"responses": {}})
        content = one["responses"].get("200", {}).get("content", {})
        if content.keys() == {"application/json"} and content["application/json"]["schema"].get("type") == "array":
            assert {"page", "page_size"} <= {parameter["name"] for parameter in one["parameters"]}, path
