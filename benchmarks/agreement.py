"""Times agreement with many judges: the command, the first report, and a report after each new judgement.

    python benchmarks/agreement.py --judges 100 --judgements 200000

Uses a temporary SQLite file, or with --url an empty database of any kind. Every document is graded by two or three
judges; six grades of ten are the document's true grade, the others are random.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.scale import parse_scale
from annotator.storage import Assignment, Collection, Database, Document, Judgement, Pool, PoolItem, Topic
from annotator.storage.people.accounts import new_user
from annotator.storage.site.schema import prepare_schema
from annotator.workflows.agreement import agreement
from annotator.workflows.collections import collection

SLUG = "benchmark"
TOPICS = 50
NOW = datetime(2026, 3, 1, tzinfo=UTC)
GRADES = (0, 1, 2, 3)
LOOKS = 15


def main() -> None:
    """Build the collection and print the time of each report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=100)
    parser.add_argument("--judgements", type=int, default=200_000)
    parser.add_argument("--url")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or f"sqlite:///{Path(folder) / 'agreement.sqlite'}"
        database = Database(url)
        prepare_schema(database)
        with database.transaction() as session:
            build(session, given.judges, given.judgements)
        print(f"{given.judges} judges, {given.judgements} judgements")
        measure_command({**os.environ, "ANNOTATOR_DATABASE_URL": url})
        measure_looks(database)
        database.close()


def measure_command(environment: Mapping[str, str]) -> None:
    """Time the command line, Python's start included."""
    with timed("annotator agreement show"):
        command = [sys.executable, "-m", "annotator", "agreement", "show", SLUG, "--format", "json"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command


def measure_looks(database: Database) -> None:
    """Time reports in one process, as in a server."""
    random = Random(2)  # noqa: S311 - simulated judges
    with database.reading() as session, timed("first report"):
        agreement.agreement_report(session, SLUG)
    seconds, processor = [], []
    for number in range(LOOKS):
        with database.transaction() as session:
            change_a_grade(session, random, number)
        began, worked = time.perf_counter(), time.process_time()
        with database.reading() as session:
            agreement.agreement_report(session, SLUG)
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
    show("report after a new judgement", statistics.median(seconds), statistics.median(processor))
    print(f"{'  the slowest':<34}{max(seconds):8.2f} s")
    with database.reading() as session, timed("two judges in full"):
        agreement.pair_report(session, SLUG, judge_name(0), judge_name(1))


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print the block's time, child processes that have ended included."""
    began, worked = time.perf_counter(), os.times()
    yield
    done = os.times()
    show(name, time.perf_counter() - began, sum(done[:4]) - sum(worked[:4]))


def show(name: str, seconds: float, processor: float) -> None:
    """Print one line: wall time, and processor time, which other load does not affect."""
    print(f"{name:<34}{seconds:8.2f} s{processor:8.2f} s of the processor")


def change_a_grade(session: Session, random: Random, number: int) -> None:
    """Change one judge's grade of a document."""
    one = session.scalars(select(Judgement).where(Judgement.current).offset(random.randrange(1_000)).limit(1)).one()
    one.current = False
    session.flush()
    again = {"assignment_id": one.assignment_id, "pool_item_id": one.pool_item_id, "judge_id": one.judge_id}
    values = {**again, "client_id": f"again-{number}", "grade": random.choice(GRADES), "replaces_id": one.id}
    session.execute(insert(Judgement).values(judged_at=NOW, received_at=NOW, **values))


def build(session: Session, judges: int, judgements: int) -> None:
    """Fill an empty database directly, which is many times faster than through the workflows."""
    random = Random(1)  # noqa: S311 - the same collection each time
    scale = parse_scale(",".join(f"{grade}=Grade {grade}" for grade in GRADES))
    collection.add_collection(session, SLUG, title="Benchmark", scale=scale, relevant_from=2, added_at=NOW)
    collection_id = session.scalars(select(Collection.id)).one()
    people = [add_judge(session, number) for number in range(judges)]
    words = {"description": "", "narrative": ""}
    topics = added(
        session,
        Topic,
        TOPICS,
        lambda at: {"collection_id": collection_id, "number": str(at), "title": "topic", **words},
    )
    [pool] = added(session, Pool, 1, lambda _: {"collection_id": collection_id, "version": 1, **made_pool()})
    size = judgements * 2 // 5
    documents = added(session, Document, size, lambda at: {"collection_id": collection_id, "docno": f"d{at}"})
    items = added(
        session,
        PoolItem,
        size,
        lambda at: {
            "topic_id": topics[at % TOPICS],
            "document_id": documents[at],
            "first_pool_id": pool,
            "priority": at,
            "judgements_wanted": 3,
            "taken": 3,
        },
    )
    own = {item: random.choices(GRADES, (60, 20, 12, 8))[0] for item in items}
    whose = [(item, judge) for item in items for judge in random.sample(people, min(random.choice((2, 3)), judges))]
    random.shuffle(whose)
    held = [{"pool_item_id": item, "judge_id": judge} for item, judge in whose[:judgements]]
    state = {"state": "done", "drawn_at": NOW, "lease_until": NOW}
    assignments = added(session, Assignment, len(held), lambda at: {**held[at], **state})
    added(
        session,
        Judgement,
        len(held),
        lambda at: {
            **held[at],
            "assignment_id": assignments[at],
            "client_id": f"c{at}",
            "judged_at": NOW,
            "received_at": NOW,
            "grade": own[held[at]["pool_item_id"]] if random.random() < 0.6 else random.choice(GRADES),  # noqa: PLR2004
        },
    )


def judge_name(number: int) -> str:
    """The account of a judge, from 0."""
    return f"judge{number:03}"


def add_judge(session: Session, number: int) -> int:
    """One judge's account."""
    return new_user(session, judge_name(number), password_hash=None, administrator=False, added_at=NOW).id


def made_pool() -> dict[str, object]:
    """Return the columns of a pool besides its version."""
    return {"strategy": "depth", "parameters": {}, "seed": 1, "built_at": NOW}


def added(session: Session, table: type[object], count: int, row: Callable[[int], Mapping[str, object]]) -> list[int]:
    """Insert rows into an empty table and return their ids, in order."""
    session.execute(insert(table), [row(at) for at in range(count)])
    return list(session.scalars(select(table.id).order_by(table.id)))  # type: ignore[attr-defined]  # all tables have it


if __name__ == "__main__":
    main()
