"""A job opens to the tokens that may call its operation, as the answer is the operation's."""

import pytest
from calling import API, NEWS, Caller, Program, token_of
from flask import Flask

from annotator.api.site import jobs_asked
from annotator.storage import Database
from annotator.workflows.people.tokens import Scope

pytestmark = pytest.mark.usefixtures("news")


@pytest.mark.parametrize("scope", [Scope.READ, Scope.RUNS])
@pytest.mark.parametrize(("method", "part"), [("GET", ""), ("GET", "/file"), ("DELETE", "")])
def test_the_job_of_an_archive_opens_to_no_token_that_may_not_ask_for_it(
    program: Caller, scope: Scope, method: str, part: str
) -> None:
    asked = program("ola").post(f"{NEWS}/archive", {})
    path = f"{NEWS}/jobs/{asked.json['number']}"
    refused = program("ola", scope).call(method, path + part)
    assert refused.status_code == 403
    assert refused.json["type"] == "/api/v1/#problem-missing-scope"
    assert "needs one of the scopes organise" in refused.json["detail"]
    assert program("ola", Scope.ORGANISE).get(path).json["state"] == "waiting"


def test_the_job_of_a_run_opens_to_a_token_that_sends_runs(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 1)
    pat = program("pat", Scope.RUNS)
    accepted = pat.send(f"{NEWS}/runs", b"1 Q0 a 1 2 gamma\n")
    path = f"{NEWS}/jobs/{accepted.json['number']}"
    assert pat.get(path).json["state"] == "waiting"
    assert program("pat", Scope.READ).call("DELETE", path).status_code == 403
    assert pat.call("DELETE", path).json["state"] == "cancelled"


def test_a_job_of_the_site_opens_to_no_token_of_one_collection(program: Caller, app: Flask, database: Database) -> None:
    job = program("ada").send(f"{API}/archives", b"zip").json["number"]
    of_one = Program(app, token_of(database, "ada", slug="news"))
    assert of_one.get(f"{API}/jobs/{job}").status_code == 404
    assert program("ada").get(f"{API}/jobs/{job}").status_code == 200
