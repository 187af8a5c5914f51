"""`annotator leaderboard source`."""

import pytest
from build import NOW, SLUG, labels, news, pool, run, topic_file
from cli.command_line import CommandLine
from kept import Kept
from sqlalchemy import select
from tasks import task

from annotator.evaluation.runs.search_engines import SearchEngine
from annotator.storage import Database, Run
from annotator.storage.runs.run_sources import note_fetched
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_sources import SourceSettings

WORDS = ("leaderboard", "source", "show", SLUG, "bm25", "--measure", "P@1")


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """One kind of database."""
    return sqlite_database


@pytest.fixture
def started(database: Database, kept: Kept) -> CommandLine:
    kept.fill(database, fill)
    return CommandLine(str(database.engine.url))


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "".join(f"{number}\ttopic\n" for number in "123456"))
        engine = SearchEngine("https://search.example.org/_search", "q={query}")
        access = EngineAccess(("search.example.org",))
        run_sources.set_source(session, SLUG, "bm25", SourceSettings(engine, "n"), access, by_id=None, at=NOW)
        run(session, "n1", {number: ["a", "b"] for number in "123456"})
        run(session, "n2", {number: ["b", "a"] if number < "6" else ["a", "b"] for number in "123456"})
        pool(session)
        labels(session, "nist", "".join(f"{number} 0 a 1\n{number} 0 b 0\n" for number in "123456"))
        for id_ in session.scalars(select(Run.id).order_by(Run.id)).all():
            note_fetched(session, 1, [id_], at=NOW)


def test_scores_are_listed_and_an_alarm_fails_where_it_is_asked(started: CommandLine) -> None:
    rows = started.table(*WORDS)
    assert [row[0] for row in rows] == ["n1", "n2"]
    assert rows[1][-1] == "worse"
    told = started(*WORDS)
    assert (told.exit_code, "By the qrels live, the newest run has left its interval." in told.stderr) == (0, True)
    assert started(*WORDS, "--check").exit_code == 1
    assert started.refused("leaderboard", "source", "show", SLUG, "other") == [
        "There is no source of runs “other” in this collection."
    ]


def test_the_task_of_the_runs_is_named(started: CommandLine, database: Database) -> None:
    with database.transaction() as session:
        task(session, "first", ["1", "6"], runs=["n1", "n2"])
    told = started(*WORDS)
    assert "Only the runs of the task “first” are scored, on its topics." in told.stderr
    assert started.table(*WORDS)[1][3] == "0.5000"
