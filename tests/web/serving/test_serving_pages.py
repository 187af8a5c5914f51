"""What whoever runs the server relies on: health, the log of requests, figures, proxies, HTTPS only."""

import json
import logging
from collections.abc import Iterator

import pytest
from build import user
from flask import Flask
from sqlalchemy import text

from annotator import __version__
from annotator.app import create_app
from annotator.logs import REQUESTS, JsonLines, TextLines
from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.site import schema
from annotator.storage.site.schema import newest_version
from annotator.web.serving.monitoring import METHODS
from annotator.web.serving.monitoring import REQUESTS as COUNTED

SECRET = "the-43-letters-that-open-a-door-for-somebody"


def pages(database: Database, **settings: object) -> Flask:
    """The application with these settings."""
    return create_app(Settings(secret_key="of the tests", **settings), database)  # type: ignore[arg-type]  # by name


@pytest.fixture
def lines() -> Iterator[list[logging.LogRecord]]:
    """What the log of requests has been told."""
    told: list[logging.LogRecord] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record)

    log, listening = logging.getLogger(REQUESTS), Listening()
    log.addHandler(listening)
    log.setLevel(logging.INFO)
    log.disabled = False
    yield told
    log.removeHandler(listening)


def test_the_footer_of_a_page_names_the_version(database: Database) -> None:
    page = pages(database).test_client().get("/sign-in").text
    assert f"annotator {__version__}</p>" in page[page.index("<footer") :]


def test_health_tells_the_version_and_asks_nothing_of_the_database() -> None:
    client = pages(Database("sqlite:////no/such/folder/x.sqlite")).test_client()
    health = client.get("/health")
    assert (health.status_code, health.text) == (200, f"alive, annotator {__version__}\n")
    ready = client.get("/ready")
    assert (ready.status_code, ready.text) == (503, "the database does not open\n")
    assert "Set-Cookie" not in ready.headers


def test_ready_asks_whether_the_tables_are_of_this_version(database: Database) -> None:
    client = pages(database).test_client()
    assert (client.get("/ready").status_code, client.get("/ready").text) == (200, "ready\n")
    with database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    try:
        ready = client.get("/ready")
        assert (ready.status_code, "annotator database upgrade" in ready.text) == (503, True)
        with database.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        newer = client.get("/ready")
        assert (newer.status_code, "newer version" in newer.text, "upgrade" in newer.text) == (503, True, False)
    finally:
        with database.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest_version()})


def test_ready_tries_to_write(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SECONDS_TO_WRITE", 0.01)
    client = pages(sqlite_database).test_client()
    with sqlite_database.transaction() as other:
        other.connection()
        ready = client.get("/ready")
    assert (ready.status_code, "nothing can be written" in ready.text) == (503, True)
    assert client.get("/ready").status_code == 200


def test_methods_that_nobody_knows_are_counted_as_one(database: Database) -> None:
    client = pages(database, metrics_port=9100).test_client()
    for method in ("MAKE", "BREW", "get", "GET"):
        client.open("/health", method=method)
    counted = {sample.labels["method"] for metric in COUNTED.collect() for sample in metric.samples}
    assert {"GET", "other"} <= counted <= METHODS | {"other"}


def test_a_request_is_a_line_without_secrets(database: Database, lines: list[logging.LogRecord]) -> None:
    with database.transaction() as session:
        user(session, "jo")
    client = pages(database, log_format="json").test_client()
    client.get(f"/sign-in?next={SECRET}&next=2")
    client.get(f"/nothing/{SECRET}")
    client.get("/nothing/a%0Ab")
    client.post("/sign-in", data={"name": "jo", "password": SECRET})
    written = [JsonLines().format(line) for line in lines] + [TextLines().format(line) for line in lines]
    assert not [line for line in written if SECRET in line or "\n" in line]
    first, second, third, fourth = (json.loads(line) for line in written[:4])
    assert (first["method"], first["path"], first["status"], first["user"]) == ("GET", "/sign-in?next", 200, None)
    assert first["event"].startswith("GET /sign-in?next 200 in ")
    assert (second["path"], second["status"]) == ("/nothing/…", 404)
    assert third["path"] == "/nothing/a%0Ab"
    assert (fourth["method"], fourth["path"]) == ("POST", "/sign-in")


def test_static_files_are_told_of_when_they_are_missing(database: Database, lines: list[logging.LogRecord]) -> None:
    client = pages(database, log_format="text").test_client()
    client.get("/static/site/style.css").close()
    client.get("/static/none.css")
    assert [line.request["path"] for line in lines] == ["/static/none.css"]  # type: ignore[attr-defined]  # ours


def test_a_fault_is_written_with_its_traceback_as_one_line() -> None:
    record = logging.LogRecord("x", logging.ERROR, "f", 1, "It failed", (), (ValueError, ValueError("no\nway"), None))
    written = json.loads(JsonLines().format(record))
    assert (written["level"], written["event"]) == ("error", "It failed")
    assert written["traceback"].endswith("ValueError: no\nway")


FORWARDED = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "pool.example.org"}


@pytest.mark.parametrize(("proxies", "address"), [(0, "127.0.0.1"), (1, "192.0.2.7")])
def test_only_as_many_proxies_as_there_are_are_believed(
    database: Database, lines: list[logging.LogRecord], proxies: int, address: str
) -> None:
    client = pages(database, proxies=proxies, log_format="text").test_client()
    client.get("/sign-in", headers=FORWARDED)
    assert [line.request["address"] for line in lines] == [address]  # type: ignore[attr-defined]  # ours


def test_what_a_reader_forges_before_the_proxy_is_not_believed(
    database: Database, lines: list[logging.LogRecord]
) -> None:
    client = pages(database, proxies=1, log_format="text").test_client()
    client.get("/sign-in", headers={**FORWARDED, "X-Forwarded-For": "203.0.113.9, 192.0.2.7"})
    assert [line.request["address"] for line in lines] == ["192.0.2.7"]  # type: ignore[attr-defined]  # ours


@pytest.mark.parametrize(
    ("days", "scheme", "told"), [(0, "https", None), (365, "https", "max-age=31536000"), (365, "http", None)]
)
def test_browsers_are_told_to_come_by_https_alone_when_they_came_by_it(
    database: Database, days: int, scheme: str, told: str | None
) -> None:
    client = pages(database, hsts_days=days).test_client()
    answer = client.get("/sign-in", base_url=f"{scheme}://localhost")
    assert answer.headers.get("Strict-Transport-Security") == told
