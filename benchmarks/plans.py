"""What planning a pool takes with many runs: from the stored tops of the runs, and from their ranked lists.

    python -m benchmarks.plans [--runs N] [--topics N] [--documents N] [--depth N]

The runs of each topic share their best documents, as runs of one task do. Both ways are measured in turn on the same
database, each by the processor time of its fastest plan, and have to find the same. At the end the same database gives
a leaderboard, in a process that has none of it in memory.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.scale import parse_scale
from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import Database, Run
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import document_ids
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import add_ranked_lists
from annotator.storage.site.bulk_insert import insert_rows
from annotator.storage.site.schema import prepare_schema
from annotator.storage.tables.documents import DOCUMENTS
from annotator.storage.tables.runs import RunTops
from annotator.workflows.collections import collection
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.pools.pool_planning import plan_pool
from annotator.workflows.topics import topics
from benchmarks.judging_collection import LIMIT, SLUG

REPEATED = 3
SEED = 1
CANDIDATES = 6  # documents that the runs of a topic find, as a multiple of the length of their lists
NOISE = (0.3, 1.2)  # between how much the order of two runs differs
JUDGED = 500  # documents of each topic
LISTED = 10_000  # rows at once

Result = TypeVar("Result")


def main() -> None:
    """Build the collection, plan both ways, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--documents", type=int, default=1_000, help="in each ranked list [1000]")
    parser.add_argument("--depth", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Database(sqlite_url(Path(folder) / "plans.sqlite"))
        prepare_schema(database)
        with database.transaction() as session:
            build(session, given.runs, given.topics, given.documents)
        lines = given.runs * given.topics * given.documents
        print(f"{given.runs} runs x {given.topics} topics x {given.documents} documents = {lines:,} lines", flush=True)
        compare(database, given.depth)
        database.close()


def build(session: Session, runs: int, numbers: int, length: int) -> None:
    """Store topics, the documents that the runs find, and the runs with their ranked lists."""
    now = datetime.now(UTC)
    scale = parse_scale("0=Not relevant,1=Relevant")
    collection.add_collection(session, SLUG, title="Plans", scale=scale, relevant_from=1, added_at=now)
    lines = "".join(f"{number}\tTopic {number}\n" for number in range(1, numbers + 1))
    read = topics.read_topics([InputFile("topics.tsv", lines.encode())], unpacked_limit=LIMIT)
    topics.import_topics(session, SLUG, read)
    collection_id = find_collection(session, SLUG).id
    docnos = [docno_of(topic, place) for topic in range(1, numbers + 1) for place in range(CANDIDATES * length)]
    rows = ((collection_id, docno, "") for docno in docnos)
    insert_rows(session, DOCUMENTS, ("collection_id", "docno", "title"), rows, at_once=LISTED)
    ids = document_ids(session, collection_id, docnos)
    # Of each topic those that are found most easily come first.
    found = np.array([ids[docno] for docno in docnos], dtype="<i4").reshape(numbers, -1)
    tags = [
        Run(collection_id=collection_id, tag=f"run{number}", file_name="", checksum="", uploaded_at=now, retrieved=0)
        for number in range(runs)
    ]
    session.add_all(tags)
    session.flush()
    by_number = topic_ids(session, collection_id)
    of_topics = [by_number[str(number)] for number in range(1, numbers + 1)]
    add_ranked_lists(session, ranked(found, [run.id for run in tags], of_topics, length))


def docno_of(topic: int, place: int) -> str:
    """The docno of a document that runs find for a topic."""
    return f"t{topic}-d{place}"


def ranked(
    found: NDArray[np.int32], runs: list[int], of_topics: list[int], length: int
) -> Iterator[tuple[int, int, bytes, bytes]]:
    """The ranked lists of the runs: (run id, topic id, packed documents, packed scores)."""
    random = np.random.default_rng(SEED)
    easiest_first = -np.log(np.arange(1, found.shape[1] + 1))
    scores = np.arange(length, 0, -1, dtype="<f8").tobytes()
    for run in runs:
        for topic, documents in zip(of_topics, found, strict=True):
            seen = easiest_first + random.gumbel(size=len(documents)) * random.uniform(*NOISE)
            yield run, topic, documents[np.argsort(-seen)[:length]].tobytes(), scores


def compare(database: Database, depth: int) -> None:
    """Print the seconds of both plans, and of the leaderboard."""
    request = PoolRequest("depth", {"depth": depth})
    from_tops, planned = fastest(database, lambda session: plan_pool(session, SLUG, request))
    board, _ = fastest(database, lambda session: build_leaderboard(session, SLUG, grades=graded(session)), times=1)
    with database.transaction() as session:
        session.execute(delete(RunTops))
    from_lists, as_planned = fastest(database, lambda session: plan_pool(session, SLUG, request))
    if planned.total != as_planned.total or planned.runs != as_planned.runs:
        raise SystemExit("The two plans differ.")
    print(f"plan of depth {depth}, {planned.total.size[planned.asked]:,} documents: ", end="")
    print(f"from tops {from_tops:.2f} s, from lists {from_lists:.2f} s, {from_lists / from_tops:.1f} times as long")
    print(f"leaderboard of a process that has none in memory: {board:.2f} s")


def fastest(database: Database, work: Callable[[Session], Result], times: int = REPEATED) -> tuple[float, Result]:
    """The least processor time of some attempts, and the result of the last."""
    seconds = []
    for _ in range(times):
        with database.reading() as session:
            begin = time.process_time()
            result = work(session)
            seconds.append(time.process_time() - begin)
    return min(seconds), result


def graded(session: Session) -> GradesFrom:
    """Grades of the documents that are found most easily, as of a qrels file; every twentieth is relevant."""
    numbers = topic_ids(session, find_collection(session, SLUG).id)
    lines = (
        f"{number} 0 {docno_of(int(number), place)} {int(place % 20 == 0)}\n"
        for number in numbers
        for place in range(JUDGED)
    )
    return GradesFrom(qrels_file=InputFile("qrels.txt", "".join(lines).encode()), unpacked_limit=LIMIT)


if __name__ == "__main__":
    main()
