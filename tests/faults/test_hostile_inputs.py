"""Inputs made to keep a process busy: judges go on, and whoever sends them gets a job, or a refusal."""

import gzip
import json
from http.client import HTTPConnection

import pytest
from build import SLUG
from cli.command_line import CommandLine
from faults.judged_site import ORGANISER, is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work

from annotator.settings import MEBIBYTE

SENT_AT_ONCE = times(2, 8)
# What gzip states of its size is that of the last member: one byte.
SWELLING = gzip.compress(b"\n" * times(32, 300) * MEBIBYTE, mtime=0) + gzip.compress(b"x", mtime=0)
MANY_NAMES = json.dumps({f"name{number}": number for number in range(times(100_000, 900_000))}).encode()
OCTETS = "application/octet-stream"
JSON = "application/json"


@pytest.mark.parametrize(
    ("path", "content", "kind", "statuses"),
    [
        ("runs/check", SWELLING, OCTETS, {202, 409}),  # five of a sender wait, and no more
        ("topics", SWELLING, OCTETS, {202, 409}),
        ("judging/documents", MANY_NAMES, JSON, {413}),
        ("judgements", MANY_NAMES, JSON, {400}),
    ],
    ids=["runs/check", "topics", "documents", "judgements"],
)
def test_judges_go_on_while_somebody_sends_what_takes_long_to_read(
    mortal: MortalServer, path: str, content: bytes, kind: str, statuses: set[int]
) -> None:
    annotator = CommandLine(mortal.settings.database_url)
    annotator.done("members", "add", SLUG, ORGANISER, "--role", "judge")
    token = annotator.done("tokens", "add", ORGANISER, "--name=t", "--scopes=runs,organise,judge").strip()
    judges = judges_at_work(mortal.port)
    before = [len(judge.acknowledged) for judge in judges]
    answered = {send(mortal.port, path, content, kind, token) for _ in range(SENT_AT_ONCE)}
    wait_for_work(judges, before)
    acknowledged = all_acknowledged(judges)
    assert answered <= statuses
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)


def send(port: int, path: str, content: bytes, kind: str, token: str) -> int:
    """Send it as a program does; the status of the answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
    try:
        connection.request("POST", f"/api/v1/collections/{SLUG}/{path}", content, headers)
        return connection.getresponse().status
    finally:
        connection.close()
