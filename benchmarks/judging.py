"""How many judgements a second the server takes, and how long each waits: real HTTP, the production server, SQLite.

Simulated judges speak the judging screen's own protocol on connections that stay open, without think time or with 0.5
to 1.5 s; meanwhile a second server with one worker on the same database shows the leaderboard once a second. First come
the bytes of the page and of a batch.

    python -m benchmarks.judging --judges 1 8 32 100 --seconds 15
    python -m benchmarks.judging --judges 100 --think
"""

import argparse
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from annotator.settings import sqlite_url
from benchmarks.judging_client import Judge, Judging, ask, enter, open_page
from benchmarks.judging_collection import PASSWORD, SLUG, TOPICS, build, judge_name
from benchmarks.judging_sizes import sizes

COLUMNS = {
    "judges": 7,
    "judgements/s": 14,
    "p50 ms": 9,
    "p95": 8,
    "p99": 8,
    "worst": 8,
    "errors": 8,
    "twice": 7,
    "busiest/slowest": 17,
    "leaderboard": 14,
    "load": 7,
}
SECONDS_TO_STOP = 30


def main() -> None:
    """Build the collection once, and judge a fresh copy of it for each number of judges."""
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        built = given.kept or Path(folder) / "built.sqlite"
        if not built.exists():
            build(sqlite_url(built), items=given.items, judges=max(given.judges))
        print(measured_sizes(copied(built, folder)), flush=True)
        print("".join(f"{name:>{width}}" for name, width in COLUMNS.items()))
        for count in given.judges:
            cells = measured(copied(built, folder), count, given.seconds, think=given.think, workers=given.workers)
            print("".join(f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True)), flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", nargs="+", type=int, default=[1, 8, 32, 100])
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--think", action="store_true", help="judges pause for 0.5 to 1.5 s")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="keep the collection in this file for the next time")
    return parser.parse_args()


def copied(built: Path, folder: str) -> Path:
    """A fresh copy of the collection."""
    path = Path(folder) / f"{time.monotonic_ns()}.sqlite"
    shutil.copy(built, path)
    return path


def measured_sizes(path: Path) -> str:
    """Return the bytes transferred for a page and for a batch."""
    with server(path, 1) as port:
        return sizes(port, enter(port, judge_name(0), PASSWORD))


def measured(path: Path, count: int, seconds: float, *, think: bool, workers: int) -> list[str]:
    """A line of the table."""
    with ExitStack() as stack:
        port = stack.enter_context(server(path, workers))
        other = stack.enter_context(server(path, 1))
        organiser = enter(other, "organiser", PASSWORD)
        names = [judge_name(number) for number in range(count)]
        judges = [
            open_page(port, SLUG, name, enter(port, name, PASSWORD), number % TOPICS + 1)
            for number, name in enumerate(names)
        ]
        shown: list[float] = []
        reader = threading.Thread(target=read_leaderboard, args=(other, organiser, seconds, shown))
        load = os.getloadavg()[0]
        reader.start()
        took = Judging([port], judges, think=(0.5, 1.5) if think else (0, 0)).go_on_for(seconds)
        reader.join()
    return line(path, judges, took, shown, load)


def read_leaderboard(port: int, cookie: str, seconds: float, shown: list[float]) -> None:
    """Show the leaderboard once a second, and note how long each took."""
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        answer = ask(port, "GET", f"/collections/{SLUG}/leaderboard", cookie)
        if answer.status == 200:  # noqa: PLR2004 - a page
            shown.append(time.perf_counter() - begin)
        time.sleep(max(0.0, begin + 1 - time.perf_counter()))


def line(path: Path, judges: list[Judge], took: float, shown: list[float], load: float) -> list[str]:
    """Return the row of the table from the judges' and the database's counts."""
    latencies = sorted(1000 * one for judge in judges for one in judge.latencies)
    counts = [len(judge.acknowledged) for judge in judges]
    errors = [error for judge in judges for error in judge.errors]
    for error in errors[:3]:
        print(error, file=sys.stderr)
    at = [latencies[min(int(share * len(latencies)), len(latencies) - 1)] for share in (0.5, 0.95, 0.99, 1)]
    return [
        f"{len(judges)}",
        f"{sum(counts) / took:.0f}",
        *(f"{one:.1f}" for one in at),
        f"{len(errors)}",
        f"{given_twice(path, judges)}",
        f"{max(counts)}/{min(counts)}",
        f"{len(shown)} x {1000 * sorted(shown)[len(shown) // 2]:.0f} ms" if shown else "-",
        f"{load:.1f}",
    ]


def given_twice(path: Path, judges: list[Judge]) -> int:
    """How many items more judges have than they want; every acknowledged judgement is stored once, or it raises."""
    with sqlite3.connect(path) as database:
        stored = [id_ for (id_,) in database.execute("SELECT client_id FROM judgement")]
        count = database.execute(
            "SELECT count(*) FROM (SELECT 1 FROM assignment JOIN pool_item ON pool_item.id = pool_item_id "
            "WHERE state <> 'returned' GROUP BY pool_item_id HAVING count(*) > judgements_wanted)"
        ).fetchone()[0]
    acknowledged = [id_ for judge in judges for id_ in judge.acknowledged]
    if sorted(stored) != sorted(acknowledged) or len(set(stored)) != len(stored):
        raise RuntimeError(f"{len(acknowledged)} acknowledged, {len(stored)} stored")
    return int(count)


@contextmanager
def server(path: Path, workers: int) -> Iterator[int]:
    """`annotator serve`, as in production; its port."""
    port = free_port()
    environment = {
        **os.environ,
        "ANNOTATOR_DATABASE_URL": sqlite_url(path),
        "ANNOTATOR_SECRET_KEY": "of the benchmark, which guards nothing",
    }
    command = [sys.executable, "-m", "annotator", "serve", "--no-worker", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--workers", str(workers)], env=environment, cwd=path.parent, stderr=subprocess.PIPE, text=True
    )
    try:
        while process.stderr is not None and "Listening" not in process.stderr.readline():
            if process.poll() is not None:
                raise RuntimeError("the server does not start")
        yield port
    finally:
        process.terminate()
        process.wait(SECONDS_TO_STOP)


def free_port() -> int:
    """Return a currently free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
