r"""What importing runs costs: lines a second of processor time, peak memory, and bytes on disk a retrieved document.

    python benchmarks/imports.py [--quick] [--rounds N] [--data FOLDER] [--topics FILE --runs FOLDER]

Without --runs only a generated run of 7 million lines is imported, deleted afterwards unless --data names a
folder to keep it in. With --runs the runs of that folder come first, in one command, their tags from their files. Each
import is of the whole command: reading, checking, warning and storing, the start of the program included. Times are
medians; each round begins with a database that has the topics alone.
"""

import argparse
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks import synthetic
from benchmarks.costs import Cost, cost_of_process, peak_megabytes
from benchmarks.synthetic import MARCO_TOPICS

SLUG = "imports"
ANNOTATOR = (sys.executable, "-m", "annotator")
LEAST_LINES_A_SECOND = 1_000_000
MOST_BYTES_A_DOCUMENT = 14
QUICK_TOPICS = 700
HEADINGS = ("work", "lines", "seconds", "processor", "of it start", "lines a second", "memory", "bytes a document")


@dataclass(frozen=True)
class Work:
    """Runs to import together, and what they may take."""

    name: str
    topics: Path
    runs: Sequence[Path]
    most_megabytes: int
    least_rate: int | None = None  # lines a second of processor time


@dataclass(frozen=True)
class Stored:
    """What an import left in the database."""

    documents: int  # retrieved, over all lists; as many lines
    list_bytes: int  # of the pages of the ranked lists and their index


def main() -> None:
    """Import the requested runs, and print a line for each import."""
    given = arguments()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        # As where pip has installed it: compiled.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        rows = [HEADINGS, *(measured(work, given.rounds, Path(folder)) for work in works(given, Path(folder)))]
    print(f"{os.cpu_count()} processors; {load:.1f} of them were busy before this began.\n")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def arguments() -> argparse.Namespace:
    """What to import, and how often."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the large run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--topics", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if (given.topics is None) != (given.runs is None):
        parser.error("--topics and --runs belong together")
    return given


def works(given: argparse.Namespace, folder: Path) -> Iterator[Work]:
    """The runs of the folder that was named, and the large one."""
    if given.runs is not None:
        runs = sorted(path for path in given.runs.iterdir() if path.is_file())
        yield Work(f"{len(runs)} files of {given.runs.parent.name}", given.topics, runs, 1000, LEAST_LINES_A_SECOND)
    topics = QUICK_TOPICS if given.quick else MARCO_TOPICS
    made = synthetic.marco((given.data or folder) / f"marco-{topics}", topics)
    numbers = folder / "topics.tsv"
    found = sorted({line.split()[0] for line in made.qrels.read_text().splitlines()})
    numbers.write_text("".join(f"{number}\ttopic {number}\n" for number in found))
    yield Work(f"one of {topics:,} topics", numbers, made.runs, most_megabytes=2000)


def measured(work: Work, rounds: int, folder: Path) -> tuple[str, ...]:
    """Import `rounds` times and once more for the memory; return the row of the table."""
    empty, database = folder / "empty.sqlite", folder / "imported.sqlite"
    os.environ["ANNOTATOR_DATABASE_URL"] = f"sqlite:///{empty}"
    empty.unlink(missing_ok=True)
    cost_of_process([*ANNOTATOR, "collections", "add", SLUG, "--title", "Imports", "--scale", "0=No,1=Yes"])
    cost_of_process([*ANNOTATOR, "topics", "import", SLUG, str(work.topics)])
    start = Cost.middle([cost_of_process([*ANNOTATOR, "runs", "list", SLUG]) for _ in range(rounds)])
    os.environ["ANNOTATOR_DATABASE_URL"] = f"sqlite:///{database}"
    words = [*ANNOTATOR, "runs", "import", SLUG, "--tag-from-file", *map(str, work.runs)]
    costs = []
    for _ in range(rounds):
        begin_anew(empty, database)
        costs.append(cost_of_process(words))
    begin_anew(empty, database)
    megabytes = peak_megabytes(words)
    cost, stored = Cost.middle(costs), stored_in(database)
    rate, size = stored.documents / cost.processor, stored.list_bytes / stored.documents
    return (
        work.name,
        f"{stored.documents:,}",
        f"{cost.wall:.2f} s",
        f"{cost.processor:.2f} s",
        f"{start.processor:.2f} s",
        f"{rate:,.0f}" + (f" ({verdict(reached=rate >= work.least_rate)})" if work.least_rate else ""),
        f"{megabytes:.0f} MB ({verdict(reached=megabytes < work.most_megabytes)})",
        f"{size:.2f} ({verdict(reached=size <= MOST_BYTES_A_DOCUMENT)})",
    )


def begin_anew(empty: Path, database: Path) -> None:
    """Replace the database by the one that has topics only."""
    for leftover in database.parent.glob(f"{database.name}*"):
        leftover.unlink()
    shutil.copy(empty, database)


def stored_in(path: Path) -> Stored:
    """Count documents, and the bytes of all pages of the ranked lists: SQLite's own count, room to spare included."""
    with closing(sqlite3.connect(path)) as connection:
        [[documents]] = connection.execute("SELECT sum(retrieved) FROM run")
        [[size]] = connection.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name IN ('ranked_list', 'sqlite_autoindex_ranked_list_1')"
        )
    return Stored(documents, size)


def verdict(*, reached: bool) -> str:
    """Whether the requirement was met, in words."""
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    main()
