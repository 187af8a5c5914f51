"""Costs of each action on a collection that is grown, by copies of its topics, to many judgements.

Printed for every action: the time and number of its statements, and the plan of the slowest one. The collection is
grown directly in SQL; the actions go through the workflows.

    python -m benchmarks.growth --judgements 100000 1000000 --on sqlite postgresql
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from sqlalchemy import Table, event, func, select, text
from sqlalchemy.orm import Session

from annotator.settings import sqlite_url
from annotator.storage import Assignment, Database, Document, Judgement, PoolItem, Topic
from annotator.storage.collections.checking import examine
from annotator.storage.judging.leases import Decision
from annotator.storage.qrels.current_grades import opinions
from annotator.workflows.agreement.agreement import agreement_report
from annotator.workflows.agreement.disagreements import DisagreementFilter, page_of_disagreements
from annotator.workflows.agreement.judge_quality import report_quality
from annotator.workflows.collections.waiting import DisputeMemory, waiting
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import next_task, topics_to_judge
from annotator.workflows.judging.machine_labels import check_labels
from annotator.workflows.judging.recording import record_acts
from annotator.workflows.judging.topic_counting import count_changed_topics
from annotator.workflows.judging.topic_judgements import check_packed, pack_changed_topics, read_judgements
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.pools.pools import pool_progress
from annotator.workflows.qrels.judges_to_choose import JudgesMemory, judges_to_choose
from annotator.workflows.qrels.qrels import export_qrels
from benchmarks.judging_collection import SLUG, build, judge_name
from benchmarks.processes import postgresql

JUDGES = 100
TOPICS = 50
ITEMS = 20_000
SIZED = (Document, PoolItem, Assignment, Judgement)
PLAN_LINES = 12
# One of so many documents has a second judgement, by another judge.
EVERY = 20
# Where ids of second judgements begin, and those of what is added afterwards.
SECOND, BEHIND_ALL = 500_000_000, 1_000_000_000

# The numbers of the copies.
COPIES = """(WITH RECURSIVE copies (copy) AS (SELECT CAST(:first AS int) UNION ALL SELECT copy + 1 FROM copies
            WHERE copy < CAST(:last AS int)) SELECT copy FROM copies) AS copies"""
# Rows of the topics there were, once for each copy; what has to be of its own takes another number.
GROW = (
    """INSERT INTO topic (id, collection_id, number, title, description, narrative, language, state, reason)
       SELECT id + copy * :topics, collection_id, CAST(id + copy * :topics AS varchar), title, description, narrative,
       language, state, reason
       FROM topic, COPIES WHERE id <= :topics""",
    """INSERT INTO document (id, collection_id, docno, title, body)
       SELECT id + copy * :items, collection_id, 'd' || (id - 1 + copy * :items), '', 'x'
       FROM document, COPIES WHERE id <= :items""",
    """INSERT INTO pool_item (id, topic_id, document_id, first_pool_id, priority, lot, judgements_wanted, taken,
       is_overlap, for_everyone)
       SELECT id + copy * :items, topic_id + copy * :topics, document_id + copy * :items, first_pool_id, priority, lot,
       CASE WHEN (id + copy * :items) % :every = 0 THEN 2 ELSE 1 END,
       CASE WHEN (id + copy * :items) % :every = 0 THEN 2 ELSE 1 END, false, false
       FROM pool_item, COPIES WHERE id <= :items""",
    """INSERT INTO assignment (id, pool_item_id, judge_id, state, purpose, drawn_at, lease_until)
       SELECT id, id, 2 + (id / 200) % :judges, 'done', 'first', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP FROM pool_item
       WHERE id > :items * CAST(:first AS int) AND id <= :items * (CAST(:last AS int) + 1)""",
    """INSERT INTO assignment (id, pool_item_id, judge_id, state, purpose, drawn_at, lease_until)
       SELECT :second + id, id, 2 + (id / 200 + 1) % :judges, 'done', 'first', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP
       FROM pool_item
       WHERE id % :every = 0 AND id > :items * CAST(:first AS int) AND id <= :items * (CAST(:last AS int) + 1)""",
    """INSERT INTO judgement (id, client_id, assignment_id, pool_item_id, judge_id, grade, note, seconds, judged_at,
       received_at, tab, late, current)
       SELECT id, 'grown-' || id, id, pool_item_id, judge_id, (id / 7) % 3, '', 2 + id % 40, CURRENT_TIMESTAMP,
       CURRENT_TIMESTAMP, 'grown', false, true
       FROM assignment WHERE pool_item_id > :items * CAST(:first AS int)
       AND pool_item_id <= :items * (CAST(:last AS int) + 1)""",
)


@dataclass
class Asked:
    """The statements of one action, each with its parameters and its seconds."""

    statements: list[tuple[float, str, Any]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The database time of all statements."""
        return sum(seconds for seconds, _, _ in self.statements)

    @property
    def longest(self) -> tuple[float, str, Any]:
        """The statement that took longest."""
        return max(self.statements, key=lambda one: one[0])


def main() -> None:
    """Grow the collection step by step and print a table and the plans for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgements", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--on", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--plans", action="store_true", help="print the plan of each action's slowest statement")
    given = parser.parse_args()
    for kind in given.on:
        with tempfile.TemporaryDirectory(prefix="annotator-growth-") as folder, built(kind, Path(folder)) as database:
            print(f"\n{kind}")
            copies = 0
            for wanted in sorted(given.judgements):
                copies, first = wanted // ITEMS, copies + 1
                grow(database, first, copies)
                report(database, shows_plans=given.plans)


@contextmanager
def built(kind: str, folder: Path) -> Iterator[Database]:
    """A database of this kind with the topics that are copied."""
    if kind == "sqlite":
        url = sqlite_url(folder / "grown.sqlite")
        build(url, items=ITEMS, judges=JUDGES)
        yield from _opened(url)
        return
    with postgresql(folder) as servers:
        servers.build(ITEMS, JUDGES)
        yield from _opened(servers.database("built"))


def _opened(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


def grow(database: Database, first: int, last: int) -> None:
    """Add the copies of these numbers, all judged; the topics they are made from stay unjudged."""
    values = {"topics": TOPICS, "items": ITEMS, "judges": JUDGES, "first": first, "last": last}
    values |= {"every": EVERY, "second": SECOND}
    with database.transaction() as session:
        for statement in (one.replace("COPIES", COPIES) for one in GROW):
            session.execute(text(statement), {name: one for name, one in values.items() if f":{name}" in statement})
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not database.is_sqlite:
            for table in (Topic, *SIZED) if first == 1 else ():
                sequence = func.pg_get_serial_sequence(table.__tablename__, "id")
                connection.execute(select(func.setval(sequence, BEHIND_ALL)))
        connection.execute(text("ANALYZE" if database.is_sqlite else "VACUUM ANALYZE"))


def report(database: Database, *, shows_plans: bool) -> None:
    """Print what the tables take and what each action costs."""
    with database.reading() as session:
        print(f"\n{session.scalars(select(func.count()).select_from(Judgement)).one():,} judgements")
        for table in () if database.is_sqlite else SIZED:
            each = bytes_of_a_row(session, cast("Table", table.__table__))
            print(f"    {table.__tablename__:12} {each:6.0f} bytes a row")
    print(f"{'action':38}{'statements':>11}{'database ms':>13}{'whole ms':>10}{'longest ms':>12}")
    plans = []
    for name, action, before in actions(database):
        before()
        action()  # warm-up, to exclude what only the first call in a process does
        before()
        with noting(database) as asked:
            begun = perf_counter()
            action()
            took = perf_counter() - begun
        longest = asked.longest
        cells = (1000 * asked.seconds, 1000 * took, 1000 * longest[0])
        print(f"{name:38}{len(asked.statements):>11}{cells[0]:>13.1f}{cells[1]:>10.1f}{cells[2]:>12.2f}", flush=True)
        if shows_plans:
            plans.append((name, plan_of(database, longest)))
    for name, plan in plans:
        print(f"-- {name}", *plan[:PLAN_LINES], sep="\n   ")


def bytes_of_a_row(session: Session, table: Table) -> float:
    """What the table and its indexes take on disk, by row."""
    size = session.scalars(select(func.pg_total_relation_size(table.name))).one()
    return float(size / session.scalars(select(func.count()).select_from(table)).one())


Action = tuple[str, Callable[[], object], Callable[[], object]]


def actions(database: Database) -> Iterator[Action]:
    """What judges do all the time, what organisers look at, and what looks at everything; and what comes before it."""
    numbers = iter(range(1, TOPICS))

    def judge_one() -> None:
        number = next(numbers)
        now = datetime.now(UTC)
        with database.transaction() as session:
            judge = session.scalars(
                text('SELECT id FROM "user" WHERE name = :name'), {"name": judge_name(number)}
            ).one()
            task = next_task(session, SLUG, "1", judge, now=now)
        if task is None:
            raise LookupError("Nothing was drawn.")
        act = Act(f"growth-{task.assignment_id}", task.assignment_id, Decision(1))
        with database.transaction() as session:
            record_acts(session, SLUG, judge, [act], received_at=now)

    def read(work: Callable[..., object]) -> None:
        with database.reading() as session:
            work(session)

    def read_list() -> None:
        with database.transaction() as session:
            topics_to_judge(session, SLUG, 3, now=datetime.now(UTC))

    def reading(name: str, work: Callable[[Session], object], before: Callable[[], object] = nothing) -> Action:
        return name, partial(read, work), before

    cache, disputes, judges = ScoreCache(), DisputeMemory(), JudgesMemory()
    now = datetime.now(UTC)
    yield "draw 8, show, record one", judge_one, nothing
    yield "a judge's list of topics", read_list, nothing
    yield "changed topics, by the worker", partial(_count_all, database), nothing
    yield "changed topics packed, by the worker", partial(_pack_all, database), nothing
    yield reading("the pool's progress", lambda session: pool_progress(session, SLUG))
    yield reading("the opinions of all topics", lambda session: opinions(session, 1, machines=False))
    yield reading("the judgements of all topics", lambda session: read_judgements(session, 1))
    yield reading("the leaderboard, nothing known", lambda session: build_leaderboard(session, SLUG))
    yield reading("after one more", lambda session: build_leaderboard(session, SLUG, cache=cache), judge_one)
    yield reading("what waits, after one more", lambda session: waiting(session, SLUG, disputes), judge_one)
    yield reading(
        "judges to choose, after one more", lambda session: judges_to_choose(session, SLUG, judges), judge_one
    )
    yield reading("agreement, nothing known", lambda session: agreement_report(session, SLUG))
    yield reading("disagreements", lambda session: page_of_disagreements(session, SLUG, DisagreementFilter()))
    yield reading("judge quality", lambda session: report_quality(session, SLUG))
    yield reading("qrels export", lambda session: export_qrels(session, SLUG, made_at=now))
    yield "database check", partial(examine, database, further=[check_packed, check_labels]), nothing


def nothing() -> None:
    """What comes before most actions."""


def _count_all(database: Database) -> None:
    while count_changed_topics(database):
        pass


def _pack_all(database: Database) -> None:
    while pack_changed_topics(database):
        pass


@contextmanager
def noting(database: Database) -> Iterator[Asked]:
    """Record every statement of this block."""
    asked = Asked()

    begun: list[float] = []

    def before(*_: object) -> None:
        begun.append(perf_counter())

    def after(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        asked.statements.append((perf_counter() - begun.pop(), statement, values))

    event.listen(database.engine, "before_cursor_execute", before)
    event.listen(database.engine, "after_cursor_execute", after)
    try:
        yield asked
    finally:
        event.remove(database.engine, "before_cursor_execute", before)
        event.remove(database.engine, "after_cursor_execute", after)


def plan_of(database: Database, asked: tuple[float, str, Any]) -> list[str]:
    """Return the plan; a statement that changes something is rolled back."""
    _, statement, values = asked
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)"
    with database.engine.connect() as connection:
        lines = connection.exec_driver_sql(f"{explain} {statement}", values)
        plan = [str(line[-1]) for line in lines]
        connection.rollback()
    return plan


if __name__ == "__main__":
    main()
