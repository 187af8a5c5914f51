"""`annotator serve`, refused and for real."""

import signal
import socket
import sys
import time
from pathlib import Path

import pytest
from build import PASSWORD
from cli.command_line import CommandLine
from serving import SECONDS_TO_STOP, Server, running

from annotator.settings import Settings

SERVE = [sys.executable, "-m", "annotator", "serve"]
SECRET = "for tests only"


def test_without_a_secret_key_nothing_is_served(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANNOTATOR_SECRET_KEY", raising=False)
    assert annotator.refused("serve") == ["The setting ANNOTATOR_SECRET_KEY is missing: give it a long random text."]


def test_a_port_that_is_taken_is_refused(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET)
    with socket.socket() as other:
        # granian's workers share their port with anybody who asks for it like this.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        [sentence] = annotator.refused("serve", "--port", str(port))
    assert sentence.startswith(f"Nothing can be served at 127.0.0.1, port {port}: Address already in use.")


def test_an_address_of_another_machine_is_refused(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET)
    [sentence] = annotator.refused("serve", "--host", "192.0.2.1")  # kept for documentation: RFC 5737
    assert sentence.startswith("Nothing can be served at 192.0.2.1, port 8000: ")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_pages_are_served_until_a_signal(annotator: CommandLine, tmp_path: Path, ending: signal.Signals) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET, database_url=annotator.url)
    with running(SERVE, tmp_path / "server.log", settings.to_environment()) as server:
        status, page = server.get("/sign-in")
        assert (status, b"<form" in page) == (200, True)
        server.process.send_signal(ending)
        assert server.process.wait(SECONDS_TO_STOP) == 0
    said = server.log.read_text()
    assert said.startswith(f"Listening at {server.address}/\n")
    assert "Traceback" not in said


def test_workers_of_a_server_that_was_killed_end_and_leave_the_port(annotator: CommandLine, tmp_path: Path) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET, database_url=annotator.url)
    with running(SERVE, tmp_path / "server.log", settings.to_environment()) as server:
        server.process.kill()
        server.process.wait(SECONDS_TO_STOP)
        end = time.monotonic() + SECONDS_TO_STOP
        while answers(server) and time.monotonic() < end:
            time.sleep(0.1)
        assert not answers(server)


def answers(server: Server) -> bool:
    try:
        return bool(server.get("/sign-in"))
    except OSError:
        return False
