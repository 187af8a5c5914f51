"""A client that openapi-python-client writes from the document has the types of what is answered."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import GenericAlias
from typing import Any, get_type_hints

import httpx
import pytest
from build import SLUG, labels
from calling import API, token_of
from flask import Flask

from annotator.storage import Database

PACKAGE = "generated_client"


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """One kind of database: the document is the same on each."""
    return sqlite_database


@pytest.fixture
def generated(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the package that is written from the document as it is served."""
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(app.test_client().get(f"{API}/openapi.json").json), encoding="utf-8")
    config = tmp_path / "config.yml"
    config.write_text("post_hooks: []\n", encoding="utf-8")
    options = ["--path", document, "--output-path", tmp_path / PACKAGE, "--meta", "none", "--config", config]
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", *map(str, options)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert made.returncode == 0, made.stdout + made.stderr
    monkeypatch.syspath_prepend(tmp_path)
    return PACKAGE


@pytest.mark.usefixtures("news")
def test_a_generated_client_has_the_types_of_the_answers(app: Flask, database: Database, generated: str) -> None:
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n1 0 d 0\n2 0 a 1\n")
    models, client_module = import_module(f"{generated}.models"), import_module(f"{generated}.client")
    board = import_module(f"{generated}.api.scores.show_leaderboard")
    listed = import_module(f"{generated}.api.runs.list_runs")
    assert get_type_hints(board.sync)["return"] == models.Board | models.ProblemDetails | None
    sent_run: Any = models.SentRun
    assert get_type_hints(listed.sync)["return"] == models.ProblemDetails | GenericAlias(list, sent_run) | None

    def client_of(token: str) -> Any:  # noqa: ANN401 - it is written while the test runs
        headers = {"Authorization": f"Bearer {token}"}
        served = httpx.Client(transport=httpx.WSGITransport(app=app), base_url="http://localhost", headers=headers)
        return client_module.AuthenticatedClient("http://localhost", token=token).set_httpx_client(served)

    ola = client_of(token_of(database, "ola"))
    scored = board.sync(SLUG, client=ola, m=["AP"])
    assert isinstance(scored, models.Board)
    assert scored.measures == ["AP"]
    answer = listed.sync_detailed(SLUG, client=ola, page_size=1)
    assert [type(run) for run in answer.parsed] == [models.SentRun]
    assert json.loads(answer.headers["X-Pagination"])["total"] == 2
    refused = board.sync(SLUG, client=client_of("ann_unknown"))
    assert isinstance(refused, models.ProblemDetails)
    assert refused.status == 401
