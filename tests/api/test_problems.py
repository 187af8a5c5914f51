"""Refusals and faults are problem details, whatever is refused and wherever."""

import gzip
import logging
import re

import pytest
from build import SECRET_KEY, member
from calling import API, NEWS, Caller, Program, token_of
from flask import Flask

from annotator.api.site.door import OPERATIONS
from annotator.api.site.problems import OF_STATUS, TYPES
from annotator.app import create_app
from annotator.errors import BusyError
from annotator.logs import REQUESTS
from annotator.settings import Settings
from annotator.storage import Database, Role
from annotator.storage.people.accounts import find_user
from annotator.workflows.collections import collection_list
from annotator.workflows.people.tokens import Scope

pytestmark = pytest.mark.usefixtures("news")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{API}/nothing", 404),
        ("GET", "/api/v2/collections", 404),
        ("GET", f"{API}/collections/nows", 404),
        ("PUT", f"{API}/collections", 405),
        ("DELETE", f"{NEWS}/pool", 405),
        ("GET", f"{NEWS}/runs?page=first", 422),
        ("GET", f"{NEWS}/runs/%00", 400),
        ("GET", f"{NEWS}/runs?every=perhaps", 422),
    ],
)
def test_every_refusal_is_a_problem(program: Caller, method: str, path: str, status: int) -> None:
    answer = program("ola").call(method, path)
    assert answer.status_code == status == answer.json["status"]
    assert answer.mimetype == "application/problem+json"
    kind = answer.json["type"].removeprefix("/api/v1/#problem-")
    assert kind in TYPES
    assert kind == OF_STATUS[status] or "errors" in answer.json
    assert answer.json["detail"]
    assert ("Allow" in answer.headers) == (status == 405)


def test_a_wrong_parameter_is_named(program: Caller) -> None:
    answer = program("ola").get(f"{NEWS}/runs", page="first")
    assert answer.json["errors"] == {"query": {"page": ["Not a valid integer."]}}
    assert answer.json["detail"] == "What was sent does not fit: page: Not a valid integer."


def test_a_wrong_field_within_a_list_is_named_in_the_sentence(program: Caller) -> None:
    body = {"slug": "next", "title": "Next", "scale": [{"value": 0, "name": "Not relevant"}, {"value": "1"}]}
    answer = program("ada").post(f"{API}/collections", body)
    assert answer.json["detail"] == (
        "What was sent does not fit: scale.1.value: Not a valid integer. scale.1.name: Missing data for required field."
    )


@pytest.mark.parametrize("body", [[], "text"])
def test_a_body_that_is_no_object_is_refused_in_a_sentence(program: Caller, body: object) -> None:
    answer = program("ada").post(f"{API}/collections", body)
    assert answer.status_code == 422
    assert answer.json["detail"] == "What was sent does not fit: Invalid input type."


def test_what_is_too_large_is_refused_before_it_is_read(program: Caller) -> None:
    answer = program("ola").send(f"{NEWS}/runs", b"x" * ((1 << 20) + 1))
    assert answer.status_code == 413
    assert answer.json["detail"].startswith("More was sent than this server takes")


def test_a_gzip_that_swells_is_refused(program: Caller) -> None:
    bomb = gzip.compress(b"1 Q0 a 1 1 x\n" * 200_000)
    answer = program("ola").send(f"{NEWS}/runs", bomb)
    assert answer.status_code == 422
    assert answer.json["problems_total"] == 1


def test_a_fault_tells_nothing_of_the_inside(app: Flask, program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the inside")

    app.config.update(TESTING=False, PROPAGATE_EXCEPTIONS=False)
    ola = program("ola")
    monkeypatch.setattr(collection_list, "list_collections", broken)
    answer = ola.get(f"{API}/collections")
    assert (answer.status_code, answer.mimetype) == (500, "application/problem+json")
    assert "secret" not in answer.text


def test_a_busy_database_is_to_be_asked_again(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise BusyError("Somebody else holds it.")

    ola = program("ola")
    monkeypatch.setattr(collection_list, "list_collections", busy)
    answer = ola.get(f"{API}/collections")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


def test_pages_keep_their_own_refusals(program: Caller) -> None:
    assert program("ola").get("/nothing").mimetype == "text/html"


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain"])
def test_a_body_that_is_not_said_to_be_json_is_refused_and_does_nothing(program: Caller, kind: str | None) -> None:
    ola = program("ola")
    for path, body in (("qrels/versions", '{"policy": "lowest"}'), ("pool", '{"strategy": "depth"}')):
        answer = ola.call("POST", f"{NEWS}/{path}", data=body, content_type=kind)
        assert (answer.status_code, answer.mimetype) == (415, "application/problem+json")
        assert "Content-Type: application/json" in answer.json["detail"]
    assert ola.get(f"{NEWS}/qrels/versions").json == []


def test_a_body_where_none_is_taken_is_refused(program: Caller) -> None:
    ola = program("ola")
    for method, path in (("GET", f"{NEWS}/runs"), ("DELETE", f"{NEWS}/runs/alpha")):
        answer = ola.call(method, path, json={"every": True})
        assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert ola.get(f"{NEWS}/runs/alpha").json["state"] == "in force"


@pytest.mark.parametrize("endpoint", sorted(OPERATIONS))
def test_every_operation_names_query_parameters_that_it_does_not_know(
    program: Caller, database: Database, endpoint: str
) -> None:
    operation = OPERATIONS[endpoint]
    with database.transaction() as session:
        member(session, "kim", Role.ADJUDICATOR)
    path = re.sub("<[^>]+>", "1", operation.path.replace("<slug>", "news"))
    refused = [
        program(name).call(operation.method, path, query_string={"pagesize": 2})
        for name in ("ola", "jo", "kim", "pat", "ada")
    ]
    answers = [answer for answer in refused if answer.status_code != 403]
    assert answers
    for answer in answers:
        assert answer.status_code == 400
        assert "pagesize" in answer.json["detail"]
        assert answer.json["errors"] == {"query": {"pagesize": ["Unknown parameter."]}}


def test_the_request_log_names_the_owner_of_the_token(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    with database.reading() as session:
        id_ = find_user(session, "ola").id
    app = create_app(Settings(secret_key=SECRET_KEY, log_format="text"), database)
    log = logging.getLogger(REQUESTS)
    log.setLevel(logging.INFO)
    log.disabled = False
    for token in (token_of(database, "ola"), token_of(database, "ola", [Scope.JUDGE]), None):
        Program(app, token).get(f"{NEWS}/runs")
    lines = [vars(record)["request"] for record in caplog.records if record.name == REQUESTS]
    assert [(line["status"], line["user"]) for line in lines] == [(200, id_), (403, id_), (401, None)]
