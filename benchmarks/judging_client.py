"""Simulated judges' browsers: persistent connections in one event loop, with little overhead."""

import gzip
import heapq
import json
import re
import selectors
import socket
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from math import inf
from random import Random
from typing import Any
from urllib.parse import urlencode

HOST = "127.0.0.1"
OK, SEE_OTHER, UNAVAILABLE = 200, 303, 503
SECONDS_TO_ANSWER = 30
# Who waits for answers looks so often for those that are overdue, and pauses so long after a refusal.
LONGEST_LOOK = 0.1
SECONDS_BEFORE_AGAIN = 0.01
A_FORM = "application/x-www-form-urlencoded"
AT_ONCE = 1 << 16
ASSIGNMENT = re.compile(rb'"assignment":(\d+)')
ACKNOWLEDGED = re.compile(rb'"acknowledged":\["([^"]*)"\]')
LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")
BATCH = re.compile(rb'<script type="application/json" id="batch">(.*?)</script>', re.DOTALL)
TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]*)"')


@dataclass(frozen=True)
class Answer:
    """The response to one request; `size` is the body's bytes as transferred."""

    status: int
    headers: dict[str, str]
    content: bytes
    size: int

    def text(self) -> str:
        """The body as text."""
        return self.content.decode()


@dataclass
class Judge:
    """One signed-in judge with an open page: documents held, and the results of the judgements."""

    name: str
    cookie: str
    csrf: str
    acts: str
    documents: deque[int]
    number: int = 0
    sent_at: float = 0.0
    asked_at: float = 0.0  # when it was sent last
    unanswered: bytes = b""
    acknowledged: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to judge, and nothing went wrong."""
        return bool(self.documents) and not self.errors

    def next_request(self) -> bytes:
        """The judgement of the next document, as the screen's script sends it."""
        assignment = self.documents.popleft()
        self.number += 1
        act = {
            "id": f"{self.name}-{self.number}-{assignment}",
            "sequence": self.number,
            "assignment": assignment,
            "kind": "grade",
            "grade": assignment % 3,
            "cannot_judge": None,
            "note": "",
            "seconds": 1.5,
            "guidelines": 0,
            "evidence": [],
            "ago": 0.01,
        }
        body = json.dumps({"tab": self.name, "holds": list(self.documents), "draw": True, "acts": [act]}).encode()
        head = (
            f"POST {self.acts} HTTP/1.1\r\nHost: {HOST}\r\nCookie: {self.cookie}\r\nX-CSRFToken: {self.csrf}\r\n"
            f"Content-Type: application/json\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def take(self, head: bytes, body: bytes) -> None:
        """Process the response to the last judgement."""
        content = gzip.decompress(body) if b"gzip" in head else body
        acknowledged = ACKNOWLEDGED.search(content)
        if not head.startswith(b"HTTP/1.1 200") or acknowledged is None:
            self.errors.append((head[:15] + b" " + content[:200]).decode(errors="replace"))
            return
        self.acknowledged.append(acknowledged[1].decode())
        self.documents.extend(map(int, ASSIGNMENT.findall(content)))


class Judging:
    """Judges at work at once; each sends the next judgement when the last is answered and they have thought."""

    def __init__(
        self, ports: Sequence[int], judges: list[Judge], *, think: tuple[float, float], patience: float = inf
    ) -> None:
        """Connect them, by turns to the servers on these ports.

        A judge whose server does not answer for `patience` seconds goes to the next one, as behind a proxy; what is
        refused for now (503) is sent again.
        """
        self.ports = list(ports)
        self.patience = patience
        self.refused = 0
        self.judges = judges
        self.moved = 0
        self.think = think
        self.random = Random(2)  # noqa: S311 - pauses
        self.selector = selectors.DefaultSelector()
        self.received = [bytearray() for _ in judges]
        self.connections = [self.connected(index, self.ports[index % len(self.ports)]) for index in range(len(judges))]

    def connected(self, index: int, port: int) -> socket.socket:
        """A judge's connection."""
        connection = socket.create_connection((HOST, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.selector.register(connection, selectors.EVENT_READ, index)
        return connection

    def go_on_for(self, seconds: float) -> float:
        """Judge for some seconds and wait for the last answers; the seconds that it took."""
        begin = time.perf_counter()
        end = begin + seconds
        thinking = [(begin + self.random.uniform(0, self.think[1]), index) for index in range(len(self.judges))]
        heapq.heapify(thinking)
        unanswered = 0
        while (unanswered or thinking) and time.perf_counter() < end + SECONDS_TO_ANSWER:
            now = time.perf_counter()
            if now >= end:
                thinking.clear()
            while thinking and thinking[0][0] <= now:
                self.send(heapq.heappop(thinking)[1])
                unanswered += 1
            pause = min(thinking[0][0], end) - time.perf_counter() if thinking else 1
            self.move_overdue()
            for index in self.answered(min(max(pause, 0), LONGEST_LOOK)):
                unanswered -= 1
                if self.judges[index].goes_on:
                    heapq.heappush(thinking, (time.perf_counter() + self.random.uniform(*self.think), index))
        took = time.perf_counter() - begin
        for connection in self.connections:
            connection.close()
        return took

    def came(self, index: int) -> bytes:
        """Return the bytes received for a judge; empty when the server is gone."""
        try:
            return self.connections[index].recv(AT_ONCE)
        except OSError:
            return b""

    def send(self, index: int) -> None:
        """Send a judge's next judgement."""
        judge = self.judges[index]
        judge.unanswered = judge.next_request()
        judge.sent_at = judge.asked_at = time.perf_counter()
        try:
            self.connections[index].sendall(judge.unanswered)
        except OSError:
            self.move(index)

    def move_overdue(self) -> None:
        """Move the judges whose servers have not answered for too long."""
        now = time.perf_counter()
        for index, judge in enumerate(self.judges):
            if judge.unanswered and now - judge.asked_at > self.patience:
                self.move(index)

    def move(self, index: int) -> None:
        """Reconnect to another server when one is gone, and resend the unanswered request."""
        self.moved += 1
        gone = self.connections[index].getpeername()[1] if self.patience < inf else None
        self.received[index].clear()
        self.selector.unregister(self.connections[index])
        self.connections[index].close()
        for port in sorted(self.ports, key=lambda one: one == gone):
            try:
                self.connections[index] = self.connected(index, port)
            except OSError:
                continue
            self.judges[index].asked_at = time.perf_counter()
            if self.judges[index].unanswered:
                self.connections[index].sendall(self.judges[index].unanswered)
            return
        raise RuntimeError("no server is left")

    def answered(self, pause: float) -> list[int]:
        """The judges who have their answers after waiting for the first of what comes."""
        ready = [key.data for key, _ in self.selector.select(pause)]
        return [index for index in ready if self.has_answer(index)]

    def has_answer(self, index: int) -> bool:
        """Read the received bytes; return whether the response is complete."""
        judge, received = self.judges[index], self.received[index]
        came = self.came(index)
        if not came:
            self.move(index)
            return False
        received += came
        end = received.find(b"\r\n\r\n")
        length = LENGTH.search(received, 0, end + 2) if end >= 0 else None
        if length is None or len(received) < end + 4 + int(length[1]):
            return False
        if self.patience < inf and received.startswith(b"HTTP/1.1 503"):
            self.refused += 1
            received.clear()
            time.sleep(SECONDS_BEFORE_AGAIN)
            judge.asked_at = time.perf_counter()
            self.connections[index].sendall(judge.unanswered)
            return False
        judge.latencies.append(time.perf_counter() - judge.sent_at)
        judge.unanswered = b""
        judge.take(bytes(received[:end]), bytes(received[end + 4 :]))
        received.clear()
        return True


def enter(port: int, name: str, password: str) -> str:
    """Sign in by the form and return the session's cookie."""
    page = ask(port, "GET", "/sign-in")
    token = TOKEN.search(page.text())
    fields = urlencode({"csrf_token": token[1] if token else "", "name": name, "password": password})
    answer = ask(port, "POST", "/sign-in", _cookie(page), fields.encode())
    if answer.status != SEE_OTHER:
        raise RuntimeError(f"{name} cannot sign in: {answer.status}")
    return _cookie(answer)


def open_page(port: int, slug: str, name: str, cookie: str, topic: int) -> Judge:
    """A judge who has opened a topic."""
    page = ask(port, "GET", f"/collections/{slug}/judge/topics/{topic}", cookie)
    batch = batch_in(page.content)
    documents = deque(one["assignment"] for one in batch["documents"])
    return Judge(name, _cookie(page) or cookie, batch["csrf"], batch["urls"]["acts"], documents)


def batch_in(page: bytes) -> dict[str, Any]:
    """Return the data that the judging page embeds for its script."""
    text = BATCH.search(page)
    if text is None:
        raise RuntimeError("this is no judging screen")
    batch: dict[str, Any] = json.loads(text[1])
    return batch


def ask(
    port: int, method: str, path: str, cookie: str = "", body: bytes | None = None, *, kind: str = A_FORM
) -> Answer:
    """One request on a connection of its own."""
    connection = HTTPConnection(HOST, port, timeout=SECONDS_TO_ANSWER)
    headers = {"Cookie": cookie, "Accept-Encoding": "gzip"}
    if body is not None:
        headers["Content-Type"] = kind
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    size = len(content)
    if answer.getheader("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content, size)


def _cookie(answer: Answer) -> str:
    return answer.headers.get("set-cookie", "").partition(";")[0]
