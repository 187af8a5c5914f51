"""What the leaderboard takes while every topic is judged: 100 judgements between one look and the next.

    python -m benchmarks.live_board [--judgements N ...] [--looks N] [--kept FILE]

Some runs of 50,000 lines are added to the collection of the benchmark of judging. At each number of judgements the
workflow makes the leaderboard as a page does, again and again. Shown are the processor time, what is kept, as Python
and NumPy count it, what is taken at most while it is made the first time, and the resident memory of the process.
"""

import argparse
import gc
import itertools
import shutil
import tempfile
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median

from sqlalchemy import insert, select

from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.settings import sqlite_url
from annotator.storage import Assignment, AssignmentState, Database, Judgement, PoolItem, User
from annotator.storage.runs.runs import RunDetails
from annotator.storage.topics.revisions import raise_of_judges
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.runs import run_upload
from benchmarks.judging_collection import LIMIT, SLUG, TOPICS, build
from benchmarks.soak import run

ITEMS, JUDGES = 62_500, 100
RUNS = 9
EACH = 100  # judgements between two looks
PAGE = 4_096
MEGA = 1e6


def main() -> None:
    """Grow the collection step by step and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgements", nargs="+", type=int, default=[12_000, 59_000])
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--kept", type=Path, help="keep the collection in this file for the next time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = given.kept or Path(folder) / "built.sqlite"
        if not built.exists():
            prepare(built)
        copy = Path(folder) / "copy.sqlite"
        shutil.copy(built, copy)
        measure(Database(sqlite_url(copy)), sorted(given.judgements), given.looks)


def prepare(path: Path) -> None:
    """Build the collection, and add the runs."""
    build(sqlite_url(path), items=ITEMS, judges=JUDGES)
    database = Database(sqlite_url(path))
    for number in range(RUNS):
        sent = [InputFile(f"sent{number}.txt", run(f"sent{number}", ITEMS).encode())]
        with database.transaction() as session:
            checked = run_upload.check_runs(
                session, SLUG, sent, sender=Sender(None, organises=True), unpacked_limit=LIMIT
            )
            run_upload.store_runs(
                session, SLUG, checked, details=RunDetails(None), uploaded_by_id=None, uploaded_at=datetime.now(UTC)
            )
    database.close()


def measure(database: Database, sizes: list[int], looks: int) -> None:
    """Print the median of the looks at each size, and what is in memory then."""
    waiting = items(database)
    judged = 0
    for size in sizes:
        judge(database, list(itertools.islice(waiting, size - judged)))
        judged = size
        show(database, None)  # once before, so that nothing is measured that only the first of a process does
        cache = ScoreCache()
        gc.collect()
        tracemalloc.start()
        show(database, cache)
        gc.collect()
        traced, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        seconds = []
        for _ in range(looks):
            judge(database, list(itertools.islice(waiting, EACH)))
            judged += EACH
            begin = time.process_time()
            board = show(database, cache)
            seconds.append(time.process_time() - begin)
        if board != show(database, None):
            raise SystemExit("The leaderboard is another without the cache.")
        print(
            f"{judged:,} judgements: median {1000 * median(seconds):.1f} ms, worst {1000 * max(seconds):.1f} ms; "
            f"kept {traced / MEGA:.1f} MB, at most {peak / MEGA:.1f} MB meanwhile; resident {resident():.0f} MB",
            flush=True,
        )
    database.close()


def items(database: Database) -> "itertools.chain[tuple[int, int]]":
    """Items to judge and who judges each, topic after topic in turn; every judge has one topic."""
    with database.reading() as session:
        judges = list(session.scalars(select(User.id).where(User.name.like("judge%")).order_by(User.id)))
        topics: dict[int, list[int]] = {}
        for item, topic in session.execute(select(PoolItem.id, PoolItem.topic_id)):
            topics.setdefault(topic, []).append(item)
    random = Random(1)  # noqa: S311 - the same order each time
    for of_topic in topics.values():
        random.shuffle(of_topic)
    in_turn = zip(*topics.values(), strict=True)
    return itertools.chain.from_iterable(
        [(item, judges[place % TOPICS + TOPICS * (turn % 2)]) for place, item in enumerate(row)]
        for turn, row in enumerate(in_turn)
    )


def judge(database: Database, said: list[tuple[int, int]]) -> None:
    """Store a judgement of each item, as judges do."""
    now = datetime.now(UTC)
    with database.transaction() as session:
        held = {"state": AssignmentState.DONE, "drawn_at": now, "lease_until": now}
        assignments = [{"pool_item_id": item, "judge_id": judge, **held} for item, judge in said]
        new = insert(Assignment).returning(Assignment.id, sort_by_parameter_order=True)
        ids = session.scalars(new, assignments).all()
        session.execute(
            insert(Judgement),
            [
                {
                    "client_id": f"live-{item}",
                    "assignment_id": assignment,
                    "pool_item_id": item,
                    "judge_id": judge,
                    "grade": item % 7 % 3,
                    "judged_at": now,
                    "received_at": now,
                }
                for assignment, (item, judge) in zip(ids, said, strict=True)
            ],
        )
        raise_of_judges(session, set(said))


def show(database: Database, cache: ScoreCache | None) -> object:
    """As a page does, in a transaction of its own."""
    with database.reading() as session:
        return build_leaderboard(session, SLUG, cache=cache)


def resident() -> float:
    """Megabytes of this process in cache."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / MEGA


if __name__ == "__main__":
    main()
