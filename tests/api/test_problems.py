"""Refusals and faults are problem details, whatever is refused and wherever."""

import gzip

import pytest
from calling import API, NEWS, Caller
from flask import Flask

from annotator.errors import BusyError
from annotator.workflows import collection

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
    assert answer.json["type"] == "about:blank"
    assert answer.json["detail"]
    assert ("Allow" in answer.headers) == (status == 405)


def test_a_wrong_parameter_is_named(program: Caller) -> None:
    answer = program("ola").get(f"{NEWS}/runs", page="first")
    assert answer.json["errors"] == {"query": {"page": ["Not a valid integer."]}}


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
    def broken(*_: object) -> None:
        raise RuntimeError("secret of the inside")

    app.config.update(TESTING=False, PROPAGATE_EXCEPTIONS=False)
    ola = program("ola")
    monkeypatch.setattr(collection, "list_collections", broken)
    answer = ola.get(f"{API}/collections")
    assert (answer.status_code, answer.mimetype) == (500, "application/problem+json")
    assert "secret" not in answer.text


def test_a_busy_database_is_to_be_asked_again(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise BusyError("Somebody else holds it.")

    ola = program("ola")
    monkeypatch.setattr(collection, "list_collections", busy)
    answer = ola.get(f"{API}/collections")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


def test_pages_keep_their_own_refusals(program: Caller) -> None:
    assert program("ola").get("/nothing").mimetype == "text/html"
