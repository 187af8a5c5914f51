"""How long a judgement waits for SQLite's lock while each large action works on a million judgements.

A collection is grown to so many judgements; a process of its own judges another part of it, a judgement every twentieth
of a second, and notes how long each of its transactions took. Meanwhile the actions run one after the other, each as a
command: archives, imports of runs and labels, pools, deletions. Printed for each: seconds, peak memory, and the judge's
waits.

    python -m benchmarks.waits --judgements 1000000
    nice python -m benchmarks.waits --judgements 200000 --only archive
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TextIO, TypeVar

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.judging.leases import Decision
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task
from annotator.workflows.judging.recording import record_acts
from benchmarks.growth import ITEMS, JUDGES, TOPICS, grow
from benchmarks.judging_collection import SLUG, build, judge_name
from benchmarks.served_site import processes

COMMAND = (sys.executable, "-m", "annotator")
COPY = "copy"
BETWEEN_JUDGEMENTS = 0.05
BETWEEN_LOOKS = 0.5
PER_TOPIC = ITEMS // TOPICS
FOUND_BEYOND = 600  # documents of a topic that only the new run has
DEPTH = 800
HEADINGS = ("action", "seconds", "peak MB", "judgements", "median ms", "99 %", "worst ms", "over 200 ms")
LONGEST_WAIT = 0.2

Done = TypeVar("Done")


def main() -> None:
    """Grow the collection, and run the actions while somebody judges."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgements", type=int, default=1_000_000)
    parser.add_argument("--only", metavar="WORD", default="", help="only archives and the actions with this word")
    parser.add_argument("--judge", type=Path, nargs=2, metavar=("DATABASE", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the grown database here")
    given = parser.parse_args()
    if given.judge is not None:
        judge_on(*given.judge)
        return
    with tempfile.TemporaryDirectory(prefix="annotator-waits-") as name:
        folder = Path(name)
        path = folder / "waits.sqlite"
        build_grown(path, given.judgements)
        if given.keep:
            shutil.copy(path, given.keep)
        print(f"{given.judgements:,} judgements, a database of {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        rows: list[tuple[str, ...]] = [HEADINGS]
        with judging(path, folder / "waits.txt") as waits:
            for title, words in actions(path, folder, given.judgements // ITEMS * TOPICS):
                if title.startswith("archive") or given.only in title:
                    rows.append(measured(title, words, waits))
                    print("  ".join(rows[-1]), flush=True)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def build_grown(path: Path, judgements: int) -> None:
    """A collection whose first topics are still to be judged, and all its copies are judged."""
    build(sqlite_url(path), items=ITEMS, judges=JUDGES)
    database = Database(sqlite_url(path))
    grow(database, 1, judgements // ITEMS)
    database.close()


def actions(path: Path, folder: Path, topics: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Each action with its command; the files that it reads are made when its turn comes."""
    command = (*COMMAND, "--database", sqlite_url(path))
    archive = str(folder / "archive.zip")
    yield "idle", ("sleep", "10")
    yield "archive: export", (*command, "collections", "export", SLUG, "-o", archive)
    yield "archive: import", (*command, "collections", "import", archive, "--slug", COPY)
    qrels, run = str(folder / "labels.qrels"), str(folder / "new.run")
    subprocess.run([*command, "qrels", "export", COPY, "-o", qrels], check=True, capture_output=True)  # noqa: S603
    yield "judgements: import", (*command, "judgements", "import", COPY, qrels, "--judge", "labels")
    yield "judgements: export", (*command, "judgements", "export", COPY, "-o", str(folder / "judgements.csv"))
    yield "judgements: remove the import", (*command, "judgements", "remove", COPY, "1", "--yes")
    yield "judgements: restore the import", (*command, "deletions", "restore", COPY, "1")
    write_run(Path(run), topics)
    yield "runs: import", (*command, "runs", "import", COPY, run)
    yield "pool: build", (*command, "pool", "build", COPY, "--depth", str(DEPTH))
    yield "pool: delete", (*command, "pool", "remove", COPY, "2", "--yes")
    yield "pool: restore", (*command, "deletions", "restore", COPY, "2")
    yield "overlap: change", (*command, "collections", "set", COPY, "--overlap", "20")
    yield "round: close", (*command, "rounds", "close", COPY, "--yes")
    yield "account: erase", (*command, "users", "remove", judge_name(JUDGES - 1), "--yes")
    yield "database: backup", (*command, "database", "backup", str(folder / "backup.sqlite"))
    end_leases(path)
    yield "collection: remove", (*command, "collections", "remove", COPY, "--confirm", COPY)
    yield "collection: restore", (*command, "collections", "restore", COPY)
    yield "collection: remove again", (*command, "collections", "remove", COPY, "--confirm", COPY)
    yield "collection: purge", (*command, "deletions", "purge", "--days", "0", "--yes")


def end_leases(path: Path) -> None:
    """Let nobody hold documents of the copy: it was made while somebody judged, and could not be removed."""
    held = "UPDATE assignment SET lease_until = '2000-01-01' WHERE pool_item_id IN (SELECT i.id FROM pool_item i "
    held += "JOIN topic t ON t.id = i.topic_id JOIN collection c ON c.id = t.collection_id WHERE c.slug = :slug)"
    database = Database(sqlite_url(path))
    with database.transaction() as session:
        session.execute(text(held), {"slug": COPY})
    database.close()


def write_run(path: Path, topics: int) -> None:
    """A run of all grown topics: what their pools have, and as many documents more."""
    with path.open("w") as lines:
        for topic in range(TOPICS + 1, TOPICS + topics + 1):
            known = (f"d{(topic - 1) * PER_TOPIC + one}" for one in range(PER_TOPIC))
            for rank, docno in enumerate([*known, *(f"new{topic}-{one}" for one in range(FOUND_BEYOND))], 1):
                lines.write(f"{topic} Q0 {docno} {rank} {2_000 - rank} new\n")


@contextmanager
def judging(path: Path, file: Path) -> Iterator[Path]:
    """Let a process judge within the block; yields the file to which it writes its waits."""
    words = [sys.executable, "-m", "benchmarks.waits", "--judge", str(path), str(file)]
    process = subprocess.Popen(words, env=os.environ)  # noqa: S603 - our own command
    try:
        while not file.exists():
            time.sleep(BETWEEN_LOOKS)
        yield file
    finally:
        process.terminate()
        process.wait()


def judge_on(path: Path, file: Path) -> None:
    """Draw and judge without an end, and write a line for each transaction: when it began and what it took."""
    database = Database(sqlite_url(path))
    with database.reading() as session:
        named = text('SELECT id FROM "user" WHERE name = :name')
        ids = [session.scalars(named, {"name": judge_name(number)}).one() for number in range(JUDGES - 1)]
    with file.open("w", buffering=1) as lines:
        for number in count():
            now = datetime.now(UTC)
            judge, topic = ids[number % len(ids)], str(number % TOPICS + 1)
            task = timed(database, lines, partial(next_task, slug=SLUG, topic_number=topic, judge_id=judge, now=now))
            if task is not None:
                act = Act(f"waits-{task.assignment_id}", task.assignment_id, Decision(1))
                record = partial(record_acts, slug=SLUG, judge_id=judge, acts=[act], received_at=now)
                timed(database, lines, record)


def timed(database: Database, lines: TextIO, work: Callable[[Session], Done]) -> Done | None:
    """Do the work in a transaction, and note how long it took; None when the lock was not to be had in time."""
    begin = time.monotonic()
    try:
        with database.transaction() as session:
            return work(session)
    except BusyError:
        return None
    finally:
        lines.write(f"{begin} {time.monotonic() - begin}\n")
        time.sleep(BETWEEN_JUDGEMENTS)


def measured(title: str, words: Sequence[str], waits: Path) -> tuple[str, ...]:
    """Run the action; return its row of the table."""
    time.sleep(1)
    begin = time.monotonic()
    megabytes = peak_megabytes(words)
    end = time.monotonic()
    time.sleep(1)
    took = sorted(
        float(seconds)
        for at, seconds in (line.split() for line in waits.read_text().splitlines())
        if begin <= float(at) <= end
    )
    if not took:
        return (title, f"{end - begin:.1f}", megabytes, "0", "", "", "", "")
    at = [took[int(share * (len(took) - 1))] for share in (0.5, 0.99, 1)]
    slow = sum(1 for one in took if one > LONGEST_WAIT)
    return (title, f"{end - begin:.1f}", megabytes, str(len(took)), *(f"{1000 * one:.1f}" for one in at), str(slow))


def peak_megabytes(words: Sequence[str]) -> str:
    """Run a command to its end: the peak memory of its processes, looked at seldom so that looking costs nothing."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for one in processes(process.pid):
            with suppress(OSError, IndexError):
                status = Path(f"/proc/{one}/status").read_text()
                peaks[one] = int(status.partition("VmHWM:")[2].split()[0])
        time.sleep(BETWEEN_LOOKS)
    return f"{sum(peaks.values()) / 1024:.0f}" if process.returncode == 0 else f"FAILED: {process.returncode}"


if __name__ == "__main__":
    main()
