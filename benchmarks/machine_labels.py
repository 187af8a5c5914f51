r"""What importing a machine's labels costs: seconds, peak memory and bytes a label, and what reading them costs.

    python -m benchmarks.machine_labels [--labels N] [--documents N] [--topics N] [--depth N]

Labels of random documents are made in six columns, with confidences, compressed by gzip. The import is of the whole
command, the start of the program included, into a database with one run and its judged pool, which is labelled,
too. A page must not become slower: the leaderboard is computed before and after, in a process of its own.
"""

import argparse
import gzip
import os
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.agreement.machines import machines_of
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.people.accounts import find_user
from annotator.workflows.judging.machine_labels import add_labels, machine_labels
from benchmarks.costs import cost_of_call, cost_of_process, peak_megabytes

SLUG, JUDGE = "labels", "bot"
ANNOTATOR = (sys.executable, "-m", "annotator")
MOST_SECONDS, MOST_MEGABYTES = 60, 300
GRADES = 4
SEED = 20_260_101
USUAL_LEVEL = 6  # of the command gzip


def main() -> None:
    """Make the files, import them, and print what it costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=10_000_000)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--depth", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(given, Path(folder))


def measure(given: argparse.Namespace, folder: Path) -> None:
    """Import the labels twice, for time and for memory, and read them."""
    path = folder / "site.sqlite"
    os.environ["ANNOTATOR_DATABASE_URL"] = sqlite_url(path)
    labels = make_files(given, folder)
    run("collections", "add", SLUG, "--title", "Labels", "--scale", "0=No,1=Hardly,2=Yes,3=Perfectly")
    run("topics", "import", SLUG, str(folder / "topics.tsv"))
    run("runs", "import", SLUG, str(folder / "run.txt"))
    run("pool", "build", SLUG, "--depth", str(given.depth))
    run("judgements", "import", SLUG, str(folder / "qrels.txt"), "--judge", "jo")
    before = cost_of_process([*ANNOTATOR, "leaderboard", "show", SLUG]).processor
    words = [*ANNOTATOR, "judgements", "import", SLUG, str(labels), "--judge", JUDGE, "--machine"]
    empty = path.read_bytes()
    megabytes = peak_megabytes(words)
    for leftover in path.parent.glob(f"{path.name}-*"):
        leftover.unlink()
    path.write_bytes(empty)
    cost = cost_of_process(words)
    after = cost_of_process([*ANNOTATOR, "leaderboard", "show", SLUG]).processor
    print(f"{given.labels:,} labels of {given.documents:,} documents, {given.topics * given.depth:,} of them pooled")
    print(
        f"import    {cost.wall:.1f} s ({verdict(reached=cost.wall < MOST_SECONDS)}), processor {cost.processor:.1f} s"
    )
    print(f"memory    {megabytes:.0f} MB ({verdict(reached=megabytes < MOST_MEGABYTES)})")
    print(f"database  {bytes_of_labels(path) / given.labels:.1f} bytes a label")
    print(f"leaderboard by command, processor before and after  {before:.2f} s, {after:.2f} s")
    read_and_add(path)


def make_files(given: argparse.Namespace, folder: Path) -> Path:
    """Write topics, a run and the labels; returns the path of the labels."""
    random = np.random.default_rng(SEED)
    each = given.labels // given.topics
    docnos = random.permutation(9_000_000)[: given.documents]
    (folder / "topics.tsv").write_text("".join(f"{topic}\ttopic {topic}\n" for topic in range(1, given.topics + 1)))
    path = folder / "labels.txt.gz"
    qrels = (folder / "qrels.txt").open("w")
    with (folder / "run.txt").open("w") as lists, qrels, gzip.open(path, "wt", compresslevel=USUAL_LEVEL) as file:
        for topic in range(1, given.topics + 1):
            chosen = random.choice(docnos, each, replace=False).tolist()
            grades = random.integers(0, GRADES, each).tolist()
            shares = random.integers(0, 1001, each).tolist()
            columns = zip(chosen, grades, shares, strict=True)
            file.write("".join(f"{topic} Q0 {docno} {grade} {share / 1000} bot\n" for docno, grade, share in columns))
            judged = zip(chosen[: given.depth], reversed(grades), strict=False)
            qrels.write("".join(f"{topic} 0 {docno} {grade}\n" for docno, grade in judged))
            ranked = enumerate(chosen[: given.depth], start=1)
            lists.write("".join(f"{topic} Q0 {docno} {rank} {-rank} run\n" for rank, docno in ranked))
    return path


def read_and_add(path: Path) -> None:
    """Print what reading all labels, and adding a few to a topic, costs."""
    database = Database(sqlite_url(path))
    with database.reading() as session:
        collection = find_collection(session, SLUG)
        judge, topics = find_user(session, JUDGE).id, list(topic_ids(session, collection.id).values())
        print(f"machines of the collection  {cost_of_call(lambda: machines_of(session, collection.id)).wall:.3f} s")
        one = cost_of_call(lambda: machine_labels(session, judge, topics[:1])).wall
        every = cost_of_call(lambda: [machine_labels(session, judge, [topic]) for topic in topics]).wall
        few = machine_labels(session, judge, topics[:1])[topics[0]].document_ids[:20]
    print(f"labels of one topic  {one:.3f} s, of all topic by topic  {every:.2f} s")

    def add(documents: Sequence[int]) -> None:
        with database.transaction() as writing:
            add_labels(writing, judge, topics[0], documents, [0] * len(documents), at=datetime.now(UTC))

    print(f"adding twenty labels to a topic  {cost_of_call(lambda: add(few.tolist())).wall:.3f} s")
    database.close()


def bytes_of_labels(path: Path) -> int:
    """The bytes of the pages of packed labels."""
    with closing(sqlite3.connect(path)) as connection:
        [[size]] = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'machine_labels'")
    return int(size)


def run(*words: str) -> None:
    """Run a command of the program."""
    cost_of_process([*ANNOTATOR, *words])


def verdict(*, reached: bool) -> str:
    """Whether the requirement was met, in words."""
    return "reached" if reached else "MISSED"


if __name__ == "__main__":
    main()
