"""`annotator serve`, refused and for real."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from build import PASSWORD, SECRET_KEY
from cli.command_line import CommandLine
from serving import SECONDS_TO_STOP, Server, free_port, running

from annotator.settings import Settings, refuse_site_without_name

SERVE = [sys.executable, "-m", "annotator", "serve"]


def test_without_a_secret_key_nothing_is_served(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANNOTATOR_SECRET_KEY", raising=False)
    assert annotator.refused("serve") == ["The setting ANNOTATOR_SECRET_KEY is missing: give it a long random text."]


def test_a_port_that_is_taken_is_refused(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    with socket.socket() as other:
        # A socket that would share its port with others that ask for it like this; ours does not ask.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        [sentence] = annotator.refused("serve", "--port", str(port))
    assert sentence.startswith(f"Nothing can be served at 127.0.0.1, port {port}: Address already in use.")


def test_an_address_of_another_machine_is_refused(annotator: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    monkeypatch.setenv("ANNOTATOR_SITE_HOSTS", "pool.example.org")
    [sentence] = annotator.refused("serve", "--host", "192.0.2.1")  # kept for documentation: RFC 5737
    assert sentence.startswith("Nothing can be served at 192.0.2.1, port 8000: ")


@pytest.mark.parametrize(
    "given", [["--host", "192.0.2.1"], ["--host", "::"], ["--host", "pool.example.org"], ["--proxy", "1"]]
)
def test_a_site_that_others_reach_is_not_served_without_its_name(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    [sentence] = annotator.refused("serve", *given)
    assert sentence.startswith("The setting ANNOTATOR_SITE_HOSTS is missing: other machines can reach the pages (")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_pages_that_only_this_machine_reaches_need_no_name(host: str) -> None:
    refuse_site_without_name(Settings(host=host))
    refuse_site_without_name(Settings(host="192.0.2.1", proxies=1, site_hosts=("pool.example.org",)))


def test_the_pages_begin_without_what_few_requests_need() -> None:
    program = "import sys, annotator.app; print(sorted(FEW & set(sys.modules)))"
    few = {"scipy", "zxcvbn", "rich", "alembic", "httpx", "authlib", "joserfc", "cryptography"}
    program = program.replace("FEW", repr(few))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout == "[]\n"


# One process answers where two would show no more: each takes a second to start.
ALONE = ("--workers", "1")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_pages_are_served_until_a_signal(annotator: CommandLine, tmp_path: Path, ending: signal.Signals) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET_KEY, database_url=annotator.url)
    with running([*SERVE, *ALONE], tmp_path / "server.log", settings.to_environment()) as server:
        status, page = server.get("/sign-in")
        assert (status, b"<form" in page) == (200, True)
        server.wait_for("Listening")
        server.process.send_signal(ending)
        assert server.process.wait(SECONDS_TO_STOP) == 0
    assert server.log.read_text() == f"Listening at {server.address}/\n"


def test_health_requests_and_figures_are_told_to_whoever_watches(annotator: CommandLine, tmp_path: Path) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET_KEY, database_url=annotator.url)
    figures = free_port()
    watched = [*SERVE, "--log-format", "json", "--metrics-port", str(figures), "--no-worker"]
    with running(watched, tmp_path / "server.log", settings.to_environment()) as server:
        assert [server.get(path)[0] for path in ("/health", "/ready", "/nowhere")] == [200, 200, 404]
        text = Server(figures, server.process, server.log).get("/metrics")[1].decode()
        server.wait_for("Listening")
    # Both processes that answered are counted together.
    assert 'annotator_requests_total{endpoint="health.ready",method="GET",status="200"} 1.0' in text
    assert 'annotator_request_seconds_count{endpoint="none"} 1.0' in text
    assert 'annotator_jobs{state="waiting"} 0.0' in text
    lines = server.log.read_text().splitlines()
    lines.remove(f"Listening at {server.address}/")  # the first request may have come before
    requests = {line["path"]: line["status"] for line in map(json.loads, lines)}
    assert requests["/nowhere"] == 404


def test_requests_that_have_arrived_are_answered_before_the_server_ends(annotator: CommandLine, tmp_path: Path) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET_KEY, database_url=annotator.url)
    with running([*SERVE, "--no-worker", *ALONE], tmp_path / "server.log", settings.to_environment()) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS_TO_STOP) as half:
            # A request is under way: its head is there, and its body comes when the server is already told to end.
            half.sendall(b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 6\r\n\r\n")
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            half.sendall(b"name=x")
            answer = half.makefile("rb").readline()
        assert server.process.wait(SECONDS_TO_STOP) == 0
    assert answer.startswith(b"HTTP/1.1 ")


def test_workers_of_a_server_that_was_killed_end_and_leave_the_port(annotator: CommandLine, tmp_path: Path) -> None:
    annotator.done("users", "add", "jo", given=PASSWORD)
    settings = Settings(secret_key=SECRET_KEY, database_url=annotator.url)
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
