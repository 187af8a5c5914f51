"""`annotator doctor`: each fault of an installation is named with its cure, and only faults set the exit code."""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from build import pooled_news, user
from cli.command_line import CommandLine
from identity_server import CLIENT, IdentityServer
from sqlalchemy import text

from annotator.cli.site import doctor
from annotator.installed import installed_version
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.workflows.site import jobs

KEY = "0123456789abcdef0123456789ABCDEF"


class Line(NamedTuple):
    """A line of the table."""

    state: str
    found: str
    advice: str


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A good key, no server at the port, and a disk with room, whatever the machine of the test has."""
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", KEY)
    monkeypatch.setenv("ANNOTATOR_PORT", "1")  # a port below 1024 that nothing of ours listens at
    monkeypatch.setattr(doctor, "disk_usage", lambda _: usage(free=50 << 30))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def in_order(annotator: CommandLine, sqlite_database: Database) -> CommandLine:
    """A site with an administrator."""
    with sqlite_database.transaction() as session:
        user(session, "ada", administrator=True)
    sqlite_database.close()
    Path(str(sqlite_database.engine.url.database)).chmod(0o600)
    return annotator


def usage(*, free: int) -> object:
    return type(shutil.disk_usage("/"))(100 << 30, (100 << 30) - free, free)


def examined(annotator: CommandLine, *, exit_code: int) -> dict[str, Line]:
    """The lines by what was examined."""
    result = annotator("doctor", "--format", "json")
    assert result.exit_code == exit_code, result.stdout
    return {one["examined"]: Line(one["state"], one["found"], one["what_to_do"]) for one in json.loads(result.stdout)}


@contextmanager
def answering(body: str) -> Iterator[int]:
    """A local server that answers every request with this text; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write((body if self.path == "/health" else "ready\n").encode())

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_installation_in_order_has_no_error(in_order: CommandLine) -> None:
    lines = examined(in_order, exit_code=0)
    assert {line.state for line in lines.values()} <= {"ok", "note"}
    assert lines["administrators"].found == "1"
    assert lines["server"] == Line("note", "None answers at 127.0.0.1:1.", "annotator serve")
    assert in_order.talk("doctor") == "Errors: 0, warnings: 0.\n"


def test_nothing_is_created_where_there_is_no_database(tmp_path: Path) -> None:
    lines = examined(CommandLine(sqlite_url(tmp_path / "none.sqlite")), exit_code=1)
    assert lines["database"].state == "error"
    assert lines["database"].advice == "annotator database upgrade"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("version", "said"), [("0001", "run “annotator database upgrade”"), ("9999", "it is from a newer one")]
)
def test_a_database_of_another_version_is_named(
    in_order: CommandLine, sqlite_database: Database, version: str, said: str
) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    sqlite_database.close()
    line = examined(in_order, exit_code=1)["database"]
    assert line.state == "error"
    assert said in line.found


def test_a_bad_address_of_the_database_is_named() -> None:
    assert examined(CommandLine("nonsense"), exit_code=1)["database"].state == "error"


@pytest.mark.parametrize(
    ("setting", "value", "subject", "state", "said"),
    [
        ("SECRET_KEY", "", "secret key", "error", "ANNOTATOR_SECRET_KEY is missing"),
        ("SECRET_KEY", "a" * 40, "secret key", "error", "can be guessed"),
        ("HOST", "192.0.2.1", "site's name", "error", "ANNOTATOR_SITE_HOSTS is missing"),
        ("METRICS_PORT", "1", "ports", "error", "the metrics need another port"),
        ("DEMONSTRATION", "1", "demonstration", "warning", "which everybody knows"),
        ("SITE_HOSTS", "pool.example.org", "HTTPS", "warning", "without HTTPS"),
        ("MODEL_KEYS", "api.example.org=/nowhere/key", "key for api.example.org", "error", "cannot be read"),
        (
            "SEARCH_KEYS",
            "search.example.org=/nowhere/key",
            "key for search.example.org",
            "error",
            "ANNOTATOR_SEARCH_KEYS",
        ),
        ("DOCUMENT_SOURCES", "/nowhere/corpus", "documents", "error", "/nowhere/corpus is missing"),
    ],
)
def test_each_bad_setting_is_named(
    in_order: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    value: str,
    subject: str,
    state: str,
    said: str,
) -> None:
    monkeypatch.setenv(f"ANNOTATOR_{setting}", value)
    line = examined(in_order, exit_code=int(state == "error"))[subject]
    assert line.state == state
    assert said in line.found


def test_a_key_of_a_machine_judge_is_read_and_not_shown(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("hush-hush\n")
    monkeypatch.setenv("ANNOTATOR_MODEL_KEYS", f"api.example.org={tmp_path / 'key'}")
    assert examined(in_order, exit_code=0)["key for api.example.org"].state == "ok"
    assert "hush" not in in_order.done("doctor")


def test_a_site_without_administrator_cannot_be_managed(annotator: CommandLine) -> None:
    line = examined(annotator, exit_code=1)["administrators"]
    assert line == Line("error", "Nobody can manage the site.", "annotator users add NAME --administrator")


def test_jobs_that_nobody_runs_are_a_warning(in_order: CommandLine, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        pooled_news(session)
        jobs.ask_job(session, None, kind="archives.import", parameters={}, by_id=1, at=datetime(2026, 1, 2, tzinfo=UTC))
    sqlite_database.close()
    line = examined(in_order, exit_code=0)["jobs"]
    assert line.state == "warning"
    assert line.found.startswith("waiting: 1, running: 0")
    assert "since 2026-01-02 00:00 UTC" in line.found
    assert "annotator worker" in line.advice


def test_a_database_that_others_can_read_is_a_warning(in_order: CommandLine, sqlite_database: Database) -> None:
    Path(str(sqlite_database.engine.url.database)).chmod(0o644)
    line = examined(in_order, exit_code=0)["file of the database"]
    assert (line.state, line.found) == ("warning", "Every account of this machine can read it.")
    assert line.advice == f"chmod 600 {sqlite_database.engine.url.database}"


@pytest.mark.parametrize(("free", "state"), [(500 << 20, "warning"), (50 << 20, "error")])
def test_a_disk_that_is_nearly_full_is_named(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    monkeypatch.setattr(doctor, "disk_usage", lambda _: usage(free=free))
    assert examined(in_order, exit_code=int(state == "error"))["disk of the database"].state == state


@pytest.mark.parametrize(
    ("body", "state", "said"),
    [
        (f"alive, annotator {installed_version()}\n", "ok", "ready"),
        ("alive, annotator 0.0.9\n", "warning", "of version 0.0.9"),
        ("<html>Something else</html>", "error", "Another program answers"),
    ],
)
def test_the_server_at_the_port_is_asked_who_it_is(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, body: str, state: str, said: str
) -> None:
    with answering(body) as port:
        monkeypatch.setenv("ANNOTATOR_PORT", str(port))
        line = examined(in_order, exit_code=int(state == "error"))["server"]
    assert line.state == state
    assert said in line.found


def test_a_missing_extra_is_a_note_with_the_command_that_adds_it(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    line = examined(in_order, exit_code=0)["extra learning"]
    assert line.state == "note"
    assert line.advice.startswith("pip install ")


def test_a_folder_that_cannot_be_written_is_named(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANNOTATOR_INDEX_FOLDER", str(tmp_path / "indexes"))
    assert examined(in_order, exit_code=0)["indexes of folders"].state == "ok"
    monkeypatch.setattr(doctor, "access", lambda *_: False)  # an administrator may write everywhere
    line = examined(in_order, exit_code=1)["indexes of folders"]
    assert line.found == f"This account cannot write into {tmp_path}."


def test_a_file_in_place_of_a_folder_is_named(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "indexes").write_text("")
    monkeypatch.setenv("ANNOTATOR_INDEX_FOLDER", str(tmp_path / "indexes"))
    line = examined(in_order, exit_code=1)["indexes of folders"]
    assert line.found == f"{tmp_path / 'indexes'} is a file, not a folder."


def test_what_cannot_be_examined_does_not_hide_the_rest(in_order: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> object:
        raise PermissionError(13, "Permission denied", "/root/x")

    monkeypatch.setattr(doctor, "disk_usage", refused)
    lines = examined(in_order, exit_code=1)
    assert lines["folders"] == Line("error", "Cannot be examined: [Errno 13] Permission denied: '/root/x'.", "")
    assert lines["server"].state == "note"


def test_a_database_in_a_folder_that_cannot_be_entered_is_named(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refused)
    line = examined(in_order, exit_code=1)["database"]
    assert line.state == "error"
    assert line.found.startswith("The database cannot be opened: [Errno 13] Permission denied")


@pytest.mark.parametrize(("host", "at"), [("::1", "[::1]:1"), ("exa..mple", "exa..mple:1")])
def test_any_host_can_be_asked(in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, host: str, at: str) -> None:
    monkeypatch.setenv("ANNOTATOR_HOST", host)
    monkeypatch.setenv("ANNOTATOR_SITE_HOSTS", "pool.example.org")
    assert examined(in_order, exit_code=0)["server"].found == f"None answers at {at}."


def test_the_provider_of_sign_in_is_asked_whether_it_is_the_one_of_the_settings(
    in_order: CommandLine, identity_server: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = "provider of sign-in"
    assert subject not in examined(in_order, exit_code=0)
    monkeypatch.setenv("ANNOTATOR_OIDC_ISSUER", identity_server.site)
    assert "ANNOTATOR_OIDC_CLIENT_ID is missing" in examined(in_order, exit_code=1)[subject].found
    monkeypatch.setenv("ANNOTATOR_OIDC_CLIENT_ID", CLIENT)
    assert examined(in_order, exit_code=0)[subject].found == f"{identity_server.site} answers, and publishes its keys"
    identity_server.published["issuer"] = "https://id.example.org"
    line = examined(in_order, exit_code=1)[subject]
    assert line.state == "error"
    assert line.found.startswith("The provider calls itself “https://id.example.org”")
    assert "ANNOTATOR_OIDC" in line.advice
    identity_server.close()
    assert examined(in_order, exit_code=1)[subject].found.startswith("The provider cannot be reached: ")


@pytest.mark.parametrize(
    ("address", "names", "state"),
    [
        ("https://pool.example.org", "pool.example.org", "ok"),
        ("https://pool.example.org:8443/x", "a.example, .example.org", "ok"),
        ("https://example.org", ".example.org", "ok"),
        ("https://pool.example.org", "pool.example.net", "warning"),
        ("https://badexample.org", ".example.org", "warning"),
    ],
)
def test_an_address_at_which_the_site_does_not_answer_is_named(
    in_order: CommandLine, monkeypatch: pytest.MonkeyPatch, address: str, names: str, state: str
) -> None:
    monkeypatch.setenv("ANNOTATOR_SITE_ADDRESS", address)
    monkeypatch.setenv("ANNOTATOR_SITE_HOSTS", names)
    line = examined(in_order, exit_code=0)["site's address"]
    assert line.state == state
    assert ("who opens a link in an e-mail is refused" in line.found) == (state == "warning")
