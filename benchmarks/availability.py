"""Judges' latency under attack: many open connections, decompression bombs, a process that hangs.

Judges think for 0.5 to 1.5 s all the while; `/health` is requested twenty times a second. Printed for each
phase: the latency of judgements and of `/health`. In the last one, one of the two servers is stopped (SIGSTOP).

    python -m benchmarks.availability --judges 40 --seconds 15 --connections 5000
"""

import argparse
import gzip
import json
import os
import resource
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from annotator.settings import sqlite_url
from benchmarks.judging_client import HOST, OK, Judge, Judging, enter, open_page
from benchmarks.judging_collection import PASSWORD, SLUG, TOPICS, build, judge_name
from benchmarks.served_site import check, memory, processes, site
from benchmarks.soak import spread

# Where a body is sent, what it is, and of which type.
Hostile = tuple[str, bytes, str]
THINK = (0.5, 1.5)
BETWEEN_HEALTH = 0.05
TIMEOUT = 60
SWELLING_MEGABYTES = 300
SENDERS = 4
HANGING = {
    "idle connections": b"",
    "half heads": b"GET /sign-in HTTP/1.1\r\nHost: local",
    "half bodies": b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nname=",
}


def main() -> None:
    """Build the collection, have it judged, and disturb the judges in each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=15, help="of each phase [15]")
    parser.add_argument("--connections", type=int, default=5_000)
    given = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    phases = len(HANGING) + 3
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "availability.sqlite"
        build(sqlite_url(path), items=int(TOPICS * (20 + phases * given.seconds * 3)), judges=given.judges)
        disturb(path, given.judges, given.seconds, given.connections)


def disturb(path: Path, count: int, seconds: float, connections: int) -> None:
    """Let the judges work through all phases, and print the latencies of each."""
    url = sqlite_url(path)
    bodies = hostile_bodies()
    with ExitStack() as stack:
        port, process = stack.enter_context(site(url, path.parent))
        organiser = enter(port, "organiser", PASSWORD)
        judges = [
            open_page(port, SLUG, name, enter(port, name, PASSWORD), number % TOPICS + 1)
            for number, name in enumerate(judge_name(one) for one in range(count))
        ]
        judging = Judging([port], judges, think=THINK)
        disturbances: dict[str, Callable[[], object]] = {"nothing": lambda: time.sleep(seconds)}
        for what, words in HANGING.items():
            disturbances[f"{connections} {what}"] = lambda words=words: hang(port, words, connections, seconds)  # type: ignore[misc]
        disturbances[f"{SENDERS} senders of swelling files"] = lambda: swell(port, organiser, bodies, seconds)
        disturbances["a process stopped"] = lambda: freeze(process, seconds)
        at_work = threading.Thread(target=judging.go_on_for, args=(seconds * (len(disturbances) + 2) * 2,))
        at_work.start()
        for name, disturbance in disturbances.items():
            measure(name, judges, port, disturbance)
        errors = [error for judge in judges for error in judge.errors]
        for judge in judges:
            judge.errors.append("stopped")  # ends the judge's work
        at_work.join()
        print(", ".join(f"{name} {megabytes} MB" for name, megabytes in memory(process).items()))
    print(f"errors: {len(errors)} {errors[:3]}")
    print(check(url, [id_ for judge in judges for id_ in judge.acknowledged]))


def measure(name: str, judges: list[Judge], port: int, disturbance: Callable[[], object]) -> None:
    """Print the latency of judgements and `/health` during a disturbance."""
    before = [len(judge.latencies) for judge in judges]
    health: list[float] = []
    with asking_for_health(port, health):
        disturbance()
    waited = [one for judge, start in zip(judges, before, strict=True) for one in judge.latencies[start:]]
    print(f"{name}: {len(waited)} judgements, {spread(waited)}; /health {spread(health)}", flush=True)


@contextmanager
def asking_for_health(port: int, took: list[float]) -> Iterator[None]:
    """Request `/health` repeatedly while the block runs."""
    ends = threading.Event()

    def ask_on() -> None:
        failed = 0
        while not ends.wait(BETWEEN_HEALTH):
            begin = time.perf_counter()
            connection = HTTPConnection(HOST, port, timeout=TIMEOUT)
            try:
                connection.request("GET", "/health")
                failed += connection.getresponse().status != OK
            except (OSError, HTTPException):
                failed += 1
            finally:
                connection.close()
                took.append(time.perf_counter() - begin)
        if failed:
            print(f"/health failed {failed} times", flush=True)

    asking = threading.Thread(target=ask_on)
    asking.start()
    try:
        yield
    finally:
        ends.set()
        asking.join()


def hang(port: int, words: bytes, connections: int, seconds: float) -> None:
    """Hold connections open with unfinished requests."""
    ends = time.perf_counter() + seconds
    with ExitStack() as stack:
        for _ in range(connections):
            sender = stack.enter_context(socket.create_connection((HOST, port), timeout=TIMEOUT))
            sender.sendall(words)
        time.sleep(max(ends - time.perf_counter(), 0))


def hostile_bodies() -> tuple[Hostile, ...]:
    """Return files of 300 kB that unpack to 300 MB, and JSON with a million names, with path and content type.

    Call this before measuring: it holds the GIL for more than a second, which would count as latency of `/health`.
    """
    swelling = gzip.compress(b"\n" * (SWELLING_MEGABYTES << 20)) + gzip.compress(b"x")
    names = json.dumps({f"name{number}": number for number in range(1_000_000)}).encode()
    return (("runs/check", swelling, "application/octet-stream"), ("judging/documents", names, "application/json"))


def swell(port: int, cookie: str, bodies: tuple[Hostile, ...], seconds: float) -> None:
    """Send the bodies repeatedly."""
    ends = time.perf_counter() + seconds

    def send_on() -> None:
        while time.perf_counter() < ends:
            for path, content, kind in bodies:
                connection = HTTPConnection(HOST, port, timeout=TIMEOUT)
                try:
                    headers = {"Cookie": cookie, "Content-Type": kind}
                    connection.request("POST", f"/api/v1/collections/{SLUG}/{path}", content, headers)
                    connection.getresponse().read()
                except OSError:
                    pass  # refused before it was read completely
                finally:
                    connection.close()

    senders = [threading.Thread(target=send_on) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()


def freeze(server: int, seconds: float) -> None:
    """Stop one of the server processes; the server should replace it."""
    answering = [one for one in processes(server) if one != server and not is_worker(one)]
    os.kill(min(answering), signal.SIGSTOP)
    time.sleep(seconds)


def is_worker(process: int) -> bool:
    """Whether a process of the server runs jobs rather than answering requests."""
    return b"worker" in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")


if __name__ == "__main__":
    main()
