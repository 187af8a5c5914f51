"""Who sends a request by halves, or hardly at all, keeps nobody else waiting, and is told so in the end."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from build import SLUG
from cli.command_line import CommandLine
from faults.judged_site import ORGANISER, is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work

from annotator.settings import MEBIBYTE, Settings

SENDERS = times(8, 64)
PATIENCE = times(3, 20)
SECONDS_TO_ANSWER = 60
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def mortal(site: Settings, tmp_path: Path) -> Iterator[MortalServer]:
    """A server over the site that waits for senders for less long, and takes less."""
    hasty = replace(site, sender_seconds=PATIENCE, upload_limit=MEBIBYTE)
    server = MortalServer(hasty, tmp_path / "server.log")
    try:
        server.start()
        yield server
    finally:
        server.kill()


def begun(port: int, path: str, *headers: str, body: bytes = b"") -> socket.socket:
    """A request whose head is there, and so much of its body."""
    sender = socket.create_connection(("127.0.0.1", port), timeout=SECONDS_TO_ANSWER)
    head = "".join(f"{line}\r\n" for line in (f"POST {path} HTTP/1.1", "Host: localhost", *headers, ""))
    sender.sendall(head.encode() + body)
    return sender


def answered(sender: socket.socket) -> tuple[str, bytes]:
    """The head of the answer, in small letters, and its content; the server closes the connection behind it."""
    came = b"".join(iter(lambda: sender.recv(1 << 16), b""))
    head, _, content = came.partition(b"\r\n\r\n")
    return head.decode().lower(), content


def test_half_requests_keep_no_judge_waiting_and_are_refused_in_the_end(mortal: MortalServer) -> None:
    with ExitStack() as stack:
        half = [
            stack.enter_context(
                begun(mortal.port, "/sign-in", f"Content-Type: {FORM}", "Content-Length: 1000", body=b"name=x")
            )
            for _ in range(SENDERS)
        ]
        judges = judges_at_work(mortal.port)
        wait_for_work(judges, [len(judge.acknowledged) for judge in judges])
        for sender in half:
            head, page = answered(sender)
            assert head.startswith("http/1.1 408 ")
            assert b"Request timed out" in page
        acknowledged = all_acknowledged(judges)
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)


def test_a_program_that_sends_by_halves_gets_a_problem_document(mortal: MortalServer) -> None:
    token = CommandLine(mortal.settings.database_url).done("tokens", "add", ORGANISER, "--name=t", "--scopes=runs")
    bearer = f"Authorization: Bearer {token.strip()}"
    with begun(mortal.port, f"/api/v1/collections/{SLUG}/runs", bearer, "Content-Length: 9", body=b"1 Q0") as sender:
        head, content = answered(sender)
    assert head.startswith("http/1.1 408 ")
    assert (json.loads(content)["status"], "content-type: application/problem+json" in head) == (408, True)


@pytest.mark.parametrize("length", ["Content-Length: {size}", "Transfer-Encoding: chunked"])
def test_what_is_too_large_is_refused_before_all_of_it_is_there(mortal: MortalServer, length: str) -> None:
    size = MEBIBYTE + 2
    chunk = b"" if "{" in length else f"{size:x}\r\n".encode() + b"x" * size + b"\r\n"
    length = length.format(size=size)
    with begun(mortal.port, "/sign-in", f"Content-Type: {FORM}", length, body=chunk) as sender:
        assert answered(sender)[0].startswith("http/1.1 413 ")
