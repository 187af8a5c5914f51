"""Costs of a corpus with texts: import, index, disk and queries, beside SQLite's FTS5 alone.

    python -m benchmarks.corpus [--documents N ...] [--repeat N] [--data FOLDER] [--in-folder]

The passages are synthetic: about 60 words each, as MS MARCO's, of a vocabulary with Zipf's distribution. Import and
index are of whole commands. A query is what a page of results asks: the number of matches, the best twenty with their
snippets, and the number of documents that are not indexed yet. Cold queries begin with an empty page cache of SQLite,
not of the operating system. The peer indexes the same texts and nothing else: FTS5 with its own tokens. With
`--in-folder` the index is in a folder, by Tantivy (extra `search`), and not in the database.
"""

import argparse
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import quantiles

from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.workflows.documents import search
from benchmarks import synthetic
from benchmarks.costs import Cost, cost_of_call, cost_of_process, peak_megabytes

SLUG = "corpus"
ANNOTATOR = (sys.executable, "-m", "annotator")
IMPORT = (*ANNOTATOR, "documents", "import", SLUG)
LEAST_RATE = 20_000  # documents a second, with index
MOST_MILLISECONDS = 300  # 95th percentile of a query
# Documents of one file: an import holds a file in memory.
FILE = 1_000_000
HITS = 20
# Of a vocabulary sorted by frequency: the ranks that common, middling and rare words are drawn from.
COMMON, MIDDLING, RARE = range(10), range(100, 2_000), range(2_000, 50_000)


def main() -> None:
    """Print a table of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", nargs="+", type=int, default=[100_000])
    parser.add_argument("--repeat", type=int, default=40, help="queries of each kind")
    parser.add_argument("--memory", action="store_true", help="import the first file once more for its peak memory")
    parser.add_argument("--in-folder", action="store_true", help="index in a folder")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="keeps the passages, and has the databases")
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors; {os.getloadavg()[0]:.1f} of them were busy before this began.")
    for documents in given.documents:
        with tempfile.TemporaryDirectory(dir=given.data) as folder:
            measure(documents, Path(folder), given)


def measure(documents: int, folder: Path, given: argparse.Namespace) -> None:
    """Import, index and search so many documents."""
    data = given.data or folder
    counts = [(first, min(FILE, documents - first)) for first in range(0, documents, FILE)]
    files = [synthetic.passages(data / f"passages-{first}-{count}.tsv", first, count) for first, count in counts]
    print(f"\n{documents:,} documents, {sum(file.stat().st_size for file in files) / 1e6:,.0f} MB\n")
    path, peer = folder / "corpus.sqlite", folder / "peer.sqlite"
    os.environ["ANNOTATOR_SEARCH_FOLDER"] = str(folder / "indexes") if given.in_folder else ""
    begin(path)
    if given.memory:
        print(f"{peak_megabytes([*IMPORT, str(files[0])]):,.0f} MB of memory at most for the first file")
        begin(path)
    cost = Cost.total([cost_of_process([*IMPORT, str(file)]) for file in files])
    reached = "reached" if documents / cost.wall >= LEAST_RATE else "MISSED"
    print_row("import with index", cost, documents, reached)
    for name, size in sizes(path):
        print(f"  {name:30} {size / documents:8,.0f} bytes a document")
    if given.in_folder:
        size = sum(file.stat().st_size for file in (folder / "indexes").rglob("*"))
        print(f"  {'folder':30} {size / documents:8,.0f} bytes a document")
    print_row("FTS5 alone", cost_of_call(lambda: index_alone(files, peer)), documents)
    print(f"  {'file':30} {peer.stat().st_size / documents:8,.0f} bytes a document")
    print_queries(path, peer, given.repeat)


def begin(path: Path) -> None:
    """Begin with a collection without documents."""
    os.environ["ANNOTATOR_DATABASE_URL"] = sqlite_url(path)
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    cost_of_process([*ANNOTATOR, "collections", "add", SLUG, "--title", "Corpus", "--scale", "0=No,1=Yes"])


def print_row(name: str, cost: Cost, documents: int, remark: str = "") -> None:
    """Print what a work cost."""
    rates = f"{documents / cost.wall:10,.0f} documents/s, {documents / cost.processor:8,.0f} a second of a processor"
    print(f"{name:20} {cost.wall:8.1f} s {cost.processor:8.1f} s of processors {rates}  {remark}")


def sizes(path: Path) -> Iterator[tuple[str, int]]:
    """The bytes of the large tables, and of the whole file."""
    with closing(sqlite3.connect(path)) as connection:
        yield from connection.execute(
            "SELECT name, sum(pgsize) FROM dbstat GROUP BY name HAVING sum(pgsize) > 1000000 ORDER BY 2 DESC"
        )
    yield "file", path.stat().st_size


def index_alone(files: Sequence[Path], path: Path) -> None:
    """Index the texts with FTS5 as it is."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE VIRTUAL TABLE text USING fts5(docno UNINDEXED, body)")
        for file in files:
            with file.open(encoding="utf-8") as lines:
                rows = (line.rstrip("\n").split("\t") for line in lines)
                connection.executemany("INSERT INTO text VALUES (?, ?)", rows)


def made_queries(repeat: int) -> dict[str, list[str]]:
    """Queries of each kind; the words of all but the common ones are in a few of a hundred to a few of a million."""
    chance, word = random.Random(1), synthetic.word_of_rank  # noqa: S311 - the same queries each time

    def some(ranks: range, count: int) -> list[str]:
        return [word(rank) for rank in chance.sample(ranks, count)]

    kinds: dict[str, Callable[[], str]] = {
        "one rare word": lambda: some(RARE, 1)[0],
        "one word": lambda: some(MIDDLING, 1)[0],
        "two words": lambda: " ".join(some(MIDDLING, 2)),
        "three words": lambda: " ".join(some(MIDDLING, 3)),
        "one of three words": lambda: " OR ".join(some(MIDDLING, 3)),
        "phrase of two words": lambda: '"' + " ".join(some(COMMON, 1) + some(MIDDLING, 1)) + '"',
        "prefix": lambda: some(MIDDLING, 1)[0][:4] + "*",
        "a common and a word": lambda: " ".join(some(COMMON, 1) + some(MIDDLING, 1)),
        "a common or two words": lambda: " OR ".join(some(COMMON, 1) + some(MIDDLING, 2)),
        "one common word": lambda: some(COMMON, 1)[0],
        "two common words": lambda: " ".join(some(COMMON, 2)),
    }
    return {name: [make() for _ in range(repeat)] for name, make in kinds.items()}


def print_queries(path: Path, peer: Path, repeat: int) -> None:
    """Print the times of queries of each kind."""
    headings = ("found", "median", "p95", "cold p95", "FTS5 alone p95")
    widths = (9, 8, 8, 9, 15)
    line = " ".join(heading.rjust(width) for heading, width in zip(headings, widths, strict=True))
    print(f"\n{'query, milliseconds':24} {line}")
    database = opened(path)
    every = []
    for name, queries in made_queries(repeat).items():
        cold = [milliseconds(partial(cold_page, path, query)) for query in queries]
        found = sum(page(database, query) for query in queries) / repeat
        times = [milliseconds(partial(page, database, query)) for query in queries]
        with closing(sqlite3.connect(peer)) as connection:
            alone = [milliseconds(partial(peers_page, connection, query)) for query in queries]
        every += times
        print(
            f"{name:24} {found:9,.0f} {of_hundred(times, 50):8.1f} {of_hundred(times, 95):8.1f} "
            f"{of_hundred(cold, 95):9.1f} {of_hundred(alone, 95):15.1f}"
        )
    p95 = of_hundred(every, 95)
    reached = "reached" if p95 <= MOST_MILLISECONDS else "MISSED"
    print(f"{'all':24} {'':9} {of_hundred(every, 50):8.1f} {p95:8.1f} {reached}")
    database.close()


def opened(path: Path) -> Database:
    """The database, with the index where this process has it."""
    return Database(sqlite_url(path), search_folder=os.environ["ANNOTATOR_SEARCH_FOLDER"])


def page(database: Database, query: str) -> int:
    """What the page of results asks; return the number of matches that it tells."""
    with database.reading() as session:
        found = search.find_documents(session, SLUG, query, most=HITS)
        search.count_not_indexed(session, SLUG)
    return found.total


def cold_page(path: Path, query: str) -> None:
    """The same with a new connection."""
    database = opened(path)
    page(database, query)
    database.close()


def peers_page(connection: sqlite3.Connection, query: str) -> None:
    """The number of matches and the best twenty."""
    connection.execute("SELECT count(*) FROM text WHERE text MATCH ?", (query,)).fetchone()
    best = "SELECT docno, body FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?"
    connection.execute(best, (query, HITS)).fetchall()


def milliseconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    return cost_of_call(work).wall * 1_000


def of_hundred(times: Sequence[float], percent: int) -> float:
    """A percentile."""
    return quantiles(times, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
