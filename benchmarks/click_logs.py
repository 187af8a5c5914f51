"""Cost of reading a click log of ten million lines: seconds, processor seconds and memory.

    python -m benchmarks.click_logs [--quick] [--shapes csv csv.gz jsonl] [--data FOLDER]

The logs are random with a fixed seed, and deleted afterwards unless --data names a folder to keep them in. The whole
command `annotator clicks check` is measured, program start included; memory is the peak resident size that the system
reports for the ended child.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

LINES, QUICK_LINES = 10_000_000, 1_000_000
MOST_SECONDS, MOST_MEGABYTES = 120, 1500
SHAPES = ("csv", "csv.gz", "jsonl")
HEADINGS = ("log", "lines", "on disk", "seconds", "processor", "lines a second", "memory", "")
RESULTS, CLICKED_SHARE = 10, 0.4
USERS, QUERIES, DOCUMENTS = 400_000, 300_000, 3_000_000
AT_ONCE = 1_000  # sessions of which each is looked at again after as many others
VIEWS_A_SESSION = 3
BEGIN = np.datetime64("2026-05-01T00:00:00", "ms")
BETWEEN, TO_CLICK, TO_LEAVE = (np.timedelta64(milliseconds, "ms") for milliseconds in (250, 4_321, 45_678))
COLUMNS = ("time", "user", "session", "query", "variant", "page", "position", "docno", "event", "value")


@dataclass(frozen=True)
class View:
    """One page of results, and the clicked rank, 0 for none."""

    times: tuple[str, str, str]  # shown, clicked, left
    user: str
    session: str
    query: str
    variant: str
    documents: list[str]
    clicked: int

    def lines(self) -> Iterator[tuple[str, ...]]:
        """Name the events in the order of `COLUMNS`."""
        shown, clicked, left = self.times
        who = (self.user, self.session, self.query, self.variant, "1")
        for position, document in enumerate(self.documents, start=1):
            yield (shown, *who, str(position), document, "impression", "")
        if self.clicked:
            what = (*who, str(self.clicked), self.documents[self.clicked - 1])
            yield (clicked, *what, "click", "")
            yield (left, *what, "dwell", "41.357")


@dataclass(frozen=True)
class Reading:
    """The cost of reading a log."""

    seconds: float
    processor: float
    megabytes: float

    @property
    def verdict(self) -> str:
        """Whether the requirement was met, in words."""
        return "reached" if self.seconds < MOST_SECONDS and self.megabytes < MOST_MEGABYTES else "MISSED"


def main() -> None:
    """Make the requested logs, and print a line for each."""
    given = arguments()
    load = os.getloadavg()[0]
    lines = QUICK_LINES if given.quick else LINES
    with tempfile.TemporaryDirectory() as temporary:
        rows = [HEADINGS, *(measured(given.data or Path(temporary), shape, lines) for shape in given.shapes)]
    print(f"{os.cpu_count()} processors; {load:.1f} of them were busy before this began.\n")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the lines")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    return parser.parse_args()


def measured(folder: Path, shape: str, lines: int) -> tuple[str, ...]:
    """Make a log unless it exists, read it, and return its row of the table."""
    path = folder / f"clicks-{lines}.{shape}"
    if not path.exists():
        write(path, shape, lines)
    size = path.stat().st_size / 1e6
    reading = reading_of(path)
    return (
        shape,
        f"{lines:,}",
        f"{size:,.0f} MB",
        f"{reading.seconds:.1f} s",
        f"{reading.processor:.1f} s",
        f"{lines / reading.seconds:,.0f}",
        f"{reading.megabytes:,.0f} MB",
        reading.verdict,
    )


def reading_of(path: Path) -> Reading:
    """Run the command to its end. Raises `CalledProcessError` when it fails."""
    words = [sys.executable, "-m", "annotator", "clicks", "check", str(path)]
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Reading(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def write(path: Path, shape: str, lines: int) -> None:
    """Write a log of so many lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    as_line: Callable[[tuple[str, ...]], str] = json_line if shape == "jsonl" else csv_line
    with opened(path) as file:
        if as_line is csv_line:
            file.write(csv_line(COLUMNS))
        left = lines
        for view in views():
            text = [as_line(fields) for fields in view.lines()][:left]
            file.write("".join(text))
            left -= len(text)
            if not left:
                return


def opened(path: Path) -> IO[Any]:
    """Open a file to write text to; packed where its name says so."""
    return gzip.open(path, "wt", compresslevel=1) if path.suffix == ".gz" else path.open("w")


def csv_line(fields: tuple[str, ...]) -> str:
    """Join fields, none of which needs quotes."""
    return ",".join(fields) + "\n"


def json_line(fields: tuple[str, ...]) -> str:
    """Format the fields as a JSON object, without empty ones."""
    said = {column: field for column, field in zip(COLUMNS, fields, strict=True) if field}
    return json.dumps({**said, "page": int(said["page"]), "position": int(said["position"])}) + "\n"


def views() -> Iterator[View]:
    """Pages of results, without end, in order of time; clicks on one come when others have been shown."""
    random = np.random.default_rng(9)
    for first in range(0, 1 << 40, AT_ONCE):
        numbers = np.arange(first, first + AT_ONCE)
        sessions = numbers // (VIEWS_A_SESSION * AT_ONCE) * AT_ONCE + numbers % AT_ONCE
        users = sessions * 7_919 % USERS
        queries = (random.zipf(1.3, AT_ONCE) % QUERIES).tolist()
        clicked = np.where(random.random(AT_ONCE) < CLICKED_SHARE, random.geometric(0.4, AT_ONCE) % RESULTS + 1, 0)
        shown = BEGIN + numbers * BETWEEN
        times = zip(
            *(np.datetime_as_string(moment, "ms") for moment in (shown, shown + TO_CLICK, shown + TO_LEAVE)),
            strict=True,
        )
        rows = zip(times, users.tolist(), sessions.tolist(), queries, clicked.tolist(), strict=True)
        for (one, two, three), user, session, query, click in rows:
            documents = [f"doc-{(query * 7_907 + place * 104_729) % DOCUMENTS:07d}" for place in range(RESULTS)]
            yield View(
                (f"{one}Z", f"{two}Z", f"{three}Z"),
                f"visitor-{user:06x}",
                f"{session:x}",
                f"words of query {query}",
                "AB"[user % 2],
                documents,
                click,
            )


if __name__ == "__main__":
    main()
