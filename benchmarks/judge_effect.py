"""What it costs to compute whether differing judges matter: `annotator agreement effect show`, from the database on.

    python -m benchmarks.judge_effect [--rounds N]

40 runs of 1,000 documents for each of 50 topics, made at random, the later ones the better; judges who agree on three
documents of four. In the first row two judges have graded everything, which may take 5 seconds; in the second each
document has the grades of two of 100 judges, 200,000 in all. Times are medians, of reading, joining, pairs of judges,
policies and 1,000 mixtures.
"""

import argparse
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import Assignment, AssignmentState, Database, Judgement, PoolItem
from annotator.storage.people.accounts import find_or_add_user
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.schema import prepare_schema
from annotator.workflows.agreement.judge_effect import judge_effect
from annotator.workflows.collections import collection
from annotator.workflows.pools import pool_building
from annotator.workflows.runs import run_upload
from annotator.workflows.topics import topics
from benchmarks.costs import Cost, cost_of_call

SLUG = "effect"
RUNS, TOPICS, DEPTH = 40, 50, 1_000
DOCUMENTS = 5_000  # of each topic, that any run may find
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = 1 << 30
AGREEING = 0.75
MOST_SECONDS = 5


def main() -> None:
    """Measure both, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{os.cpu_count()} processors; {os.getloadavg()[0]:.1f} of them were busy before this began.\n")
    print(f"{'judges':>6}  {'judgements':>10}  {'pairs':>5}  {'wall':>7}  {'processor':>9}")
    for judges, depth, items in ((2, 20, None), (100, 200, 100_000)):
        with tempfile.TemporaryDirectory() as folder:
            database = Database(sqlite_url(Path(folder) / "effect.sqlite"))
            build(database, judges, depth, items)
            measure(database, judges, rounds)
            database.close()


def measure(database: Database, judges: int, rounds: int) -> None:
    """Ask so many times, and print the medians."""
    with database.reading() as session:
        pairs = len(judge_effect(session, SLUG).pairs)
        cost = Cost.middle([cost_of_call(lambda: judge_effect(session, SLUG)) for _ in range(rounds)])
        judgements = len(session.scalars(select(Judgement.id)).all())
    verdict = "reached" if cost.wall < MOST_SECONDS else "MISSED"
    print(f"{judges:6}  {judgements:10,}  {pairs:5}  {cost.wall:5.2f} s  {cost.processor:7.2f} s  {verdict}")


def build(database: Database, judges: int, depth: int, items: int | None) -> None:
    """Fill an empty database: the runs, their pool of this depth, and two grades of each item, or of so many."""
    prepare_schema(database)
    chance = np.random.default_rng(1)
    with database.transaction() as session:
        scale = parse_scale("0=Not relevant,1=Relevant,2=Highly relevant,3=Perfectly relevant")
        collection.add_collection(session, SLUG, title="Effect", scale=scale, relevant_from=1, added_at=NOW)
        numbers = "".join(f"{topic}\ttopic {topic}\n" for topic in range(1, TOPICS + 1))
        read = topics.read_topics([InputFile("topics.tsv", numbers.encode())], unpacked_limit=LIMIT)
        topics.import_topics(session, SLUG, read)
        files = [InputFile(f"run{number:02}.run", run_text(chance, number)) for number in range(RUNS)]
        checked = run_upload.check_runs(session, SLUG, files, sender=Sender(None, organises=True), unpacked_limit=LIMIT)
        run_upload.store_runs(session, SLUG, checked, details=RunDetails(None), uploaded_by_id=None, uploaded_at=NOW)
        request = PoolRequest("depth", {"depth": depth})
        pool_building.build_pool(session, SLUG, request, seed=1, built_by_id=None, built_at=NOW)
        grade(session, chance, judges, items)


def run_text(chance: np.random.Generator, number: int) -> bytes:
    """A run that finds a topic's documents in their own order, with less noise the later it is made."""
    lines = []
    for topic in range(1, TOPICS + 1):
        noise = chance.normal(0, DOCUMENTS / (1 + number / 8), DOCUMENTS)
        found = np.argsort(np.arange(DOCUMENTS) + noise)[:DEPTH].tolist()
        lines += [f"{topic} Q0 t{topic}d{one} {rank} {DEPTH - rank} run{number:02}\n" for rank, one in enumerate(found)]
    return "".join(lines).encode()


def grade(session: Session, chance: np.random.Generator, judges: int, items: int | None) -> None:
    """Two judges of each item; the second says the same three times of four."""
    ids = [find_or_add_user(session, f"judge{number:03}", NOW).id for number in range(judges)]
    pooled = session.scalars(select(PoolItem.id).order_by(PoolItem.id).limit(items)).all()
    first = chance.integers(0, judges, len(pooled))
    second = (first + chance.integers(1, judges, len(pooled))) % judges
    said = chance.choice(4, len(pooled), p=(0.7, 0.15, 0.1, 0.05))
    other = np.where(chance.random(len(pooled)) < AGREEING, said, chance.integers(0, 4, len(pooled)))
    for judge, grades in ((first, said), (second, other)):
        rows = zip(pooled, judge.tolist(), grades.tolist(), strict=True)
        store(session, [(item, ids[one], value) for item, one, value in rows])


def store(session: Session, rows: list[tuple[int, int, int]]) -> None:
    """Store (item, judge, grade) as judgements."""
    done = {"state": AssignmentState.DONE, "drawn_at": NOW, "lease_until": NOW}
    start = (session.scalars(select(Assignment.id).order_by(Assignment.id.desc()).limit(1)).first() or 0) + 1
    session.execute(
        insert(Assignment),
        [
            {"id": start + at, "pool_item_id": item, "judge_id": judge, **done}
            for at, (item, judge, _) in enumerate(rows)
        ],
    )
    moment = {"judged_at": NOW, "received_at": NOW, "late": False, "current": True, "note": ""}
    session.execute(
        insert(Judgement),
        [
            {"client_id": f"{item}-{judge}", "assignment_id": start + at, "pool_item_id": item, "judge_id": judge}
            | {"grade": value, **moment}
            for at, (item, judge, value) in enumerate(rows)
        ],
    )


if __name__ == "__main__":
    main()
