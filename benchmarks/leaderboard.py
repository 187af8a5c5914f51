"""What a leaderboard of ten measures takes, cold and live, and two reports that score or test again and again.

    python -m benchmarks.leaderboard [--data FOLDER] [--runs N] [--changes N]

A synthetic TREC-8 (129 runs of 50 topics with 1,000 documents each, 86,830 judgements) is imported into SQLite. Then
the workflow makes the leaderboard as a page does: cold, after a judgement, and when nothing has changed. Of 40 teams
one after the other is left out, the pool being the runs' top 100; and all pairs of runs are tested by the randomised
Tukey test. Beside each stands what pytrec_eval takes for the same values of all runs and topics, its dictionaries being
there already; leaving out each team takes that 40 times, of which one is timed. The files are kept in the folder, if
one is named.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytrec_eval
from sqlalchemy import select

from annotator.settings import sqlite_url
from annotator.storage import Collection as CollectionRow
from annotator.storage import Database, Judgement, Run, Team
from annotator.storage.topics.revisions import raise_revisions
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.leave_out_report import By, LeaveOutRequest, leave_out_report
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.leaderboard.significance_report import SignificanceRequest, significance_report
from benchmarks.costs import Cost, cost_of_call
from benchmarks.synthetic import TREC8_RUNS, TREC8_TOPICS, Collection, trec8
from benchmarks.table import Row, table

SLUG = "benchmark"
MEASURES = ("nDCG@10", "nDCG", "AP", "P@5", "P@10", "R@100", "R@1000", "RR", "Rprec", "Bpref")
TEAMS, POOL_DEPTH = 40, 100
PERMUTATIONS = 20_000
PEERS = ("ndcg_cut.10", "ndcg", "map", "P.5,10", "recall.100,1000", "recip_rank", "Rprec", "bpref")
MOST_COLD, GOAL_COLD = 1.0, 0.7  # seconds
MOST_WARM, GOAL_WARM = 0.020, 0.015
MOST_SAME, GOAL_SAME = 0.010, 0.005
MOST_LEFT_OUT, GOAL_LEFT_OUT = 5.0, 2.5
MOST_TESTED, GOAL_TESTED = 10.0, 5.0


def main() -> None:
    """Import, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=TREC8_RUNS)
    parser.add_argument("--changes", type=int, default=60)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        made = trec8(given.data or Path(folder) / "trec8", given.runs)
        with imported(made, Path(folder)) as database:
            rows = [*measured(database, made, given.changes), *reported(database, made)]
    print(f"{os.cpu_count()} processors; {load:.1f} of them were busy before this began.\n\n{table(rows)}")


@contextmanager
def imported(made: Collection, folder: Path) -> Iterator[Database]:
    """A database with these files, imported by the commands."""
    url = sqlite_url(folder / "leaderboard.sqlite")
    topics = folder / "topics.tsv"
    topics.write_text("".join(f"{number}\ttopic {number}\n" for number in TREC8_TOPICS))
    for words in (
        ["collections", "add", SLUG, "--title", "Benchmark", "--scale", "0=No,1=Yes,2=Highly"],
        ["topics", "import", SLUG, str(topics)],
        ["runs", "import", SLUG, *map(str, made.runs)],
        ["judgements", "import", SLUG, str(made.qrels), "--judge", "nist", "--add-to-pool"],
    ):
        print(" ".join(words[:2]), "...", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "annotator", "--database", url, *words]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
    database = Database(url)
    yield database
    database.close()


def measured(database: Database, made: Collection, changes: int) -> list[Row]:
    """A row for each state of the cache, and one for the peer."""
    cache = ScoreCache()
    cold = cost_of_call(lambda: show(database, cache))
    same = [cost_of_call(lambda: show(database, cache)) for _ in range(changes)]
    chance = np.random.default_rng(changes)
    with database.reading() as session:
        judgements = list(session.scalars(select(Judgement.id)))
    warm = []
    for chosen in chance.choice(judgements, changes).tolist():
        judge(database, chosen)
        warm.append(cost_of_call(lambda: show(database, cache)))
    if show(database, cache) != show(database, ScoreCache()):
        raise SystemExit("The leaderboard is another without the cache.")
    ninety_fifth = sorted(warm, key=lambda cost: cost.wall)[int(len(warm) * 0.95)]
    return [
        Row.of_latency("cold, with reading all lists", cold, MOST_COLD, GOAL_COLD),
        Row.of_latency("after a judgement, median", Cost.middle(warm), MOST_WARM, GOAL_WARM),
        Row.of_latency("after a judgement, 95th percentile", ninety_fifth, MOST_WARM, GOAL_WARM),
        Row.of_latency("nothing changed, median", Cost.middle(same), MOST_SAME, GOAL_SAME),
        Row.of_speed("cold, beside the peer", cold, "pytrec_eval, evaluate only", peer(made)),
    ]


def show(database: Database, cache: ScoreCache) -> object:
    """As a page does, in a transaction of its own."""
    with database.reading() as session:
        return build_leaderboard(session, SLUG, MEASURES, cache=cache)


def judge(database: Database, judgement: int) -> None:
    """Change a grade."""
    with database.transaction() as session:
        row = session.get_one(Judgement, judgement)
        row.grade = ((row.grade or 0) + 1) % 3
        raise_revisions(session, [row.pool_item_id])


def reported(database: Database, made: Collection) -> list[Row]:
    """A row for each report, and one beside the peer."""
    in_teams(database)
    left_out = cost_of_call(lambda: leave_out(database))
    tested = cost_of_call(lambda: test(database))
    scored = peer(made, ("map",))
    each_team = Cost(scored.wall * TEAMS, scored.processor * TEAMS)
    return [
        Row.of_latency(f"leaving out each of {TEAMS} teams, AP", left_out, MOST_LEFT_OUT, GOAL_LEFT_OUT),
        Row.of_speed(f"leaving out each of {TEAMS} teams, AP", left_out, f"pytrec_eval, {TEAMS} x once", each_team),
        Row.of_latency(f"randomised Tukey, {PERMUTATIONS:,} permutations, AP", tested, MOST_TESTED, GOAL_TESTED),
        Row.of_speed("the same beside scoring alone", tested, "pytrec_eval, evaluate only", scored),
    ]


def in_teams(database: Database) -> None:
    """Give every run a team."""
    with database.transaction() as session:
        collection = session.scalars(select(CollectionRow.id)).one()
        teams = [Team(collection_id=collection, name=f"team{number}") for number in range(TEAMS)]
        session.add_all(teams)
        session.flush()
        for place, run in enumerate(session.scalars(select(Run).order_by(Run.id))):
            run.team_id = teams[place % TEAMS].id


def leave_out(database: Database) -> object:
    """As the command does."""
    with database.reading() as session:
        return leave_out_report(session, SLUG, LeaveOutRequest(["AP"], By.TEAM, POOL_DEPTH))


def test(database: Database) -> object:
    """As the command does."""
    with database.reading() as session:
        return significance_report(session, SLUG, SignificanceRequest("AP", permutations=PERMUTATIONS))


def peer(made: Collection, measures: Sequence[str] = PEERS) -> Cost:
    """Every run by pytrec_eval, one after the other; reading is not counted."""
    with made.qrels.open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(measures))
    costs = []
    for path in made.runs:
        with path.open() as file:
            run = pytrec_eval.parse_run(file)
        costs.append(cost_of_call(lambda run=run: evaluator.evaluate(run)))  # type: ignore[misc]  # a lambda's default has no type
    return Cost.total(costs)


if __name__ == "__main__":
    main()
