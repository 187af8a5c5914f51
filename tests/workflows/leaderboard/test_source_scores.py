"""The history of the scores of a source: its runs in time, by the live qrels and by kept versions."""

from datetime import datetime, timedelta

import pytest
from build import NOW, SLUG, labels, news, pool, run, topic_file
from kept import Kept
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from tasks import task

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.evaluation.runs.search_engines import SearchEngine
from annotator.storage import Database, Run, RunSource
from annotator.storage.runs.run_sources import note_fetched
from annotator.workflows.leaderboard import source_scores
from annotator.workflows.leaderboard.source_scores import SourceHistory, source_history
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import run_sources, runs
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_sources import SourceSettings

TOPICS = "123456"
GOOD, BAD = ["a", "b"], ["b", "a"]


@pytest.fixture
def started(database: Database, kept: Kept) -> Database:
    """Six topics, and a run of a source that finds the relevant document first for each."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "".join(f"{number}\ttopic {number}\n" for number in TOPICS))
        engine = SearchEngine("https://search.example.org/_search", "q={query}")
        access = EngineAccess(("search.example.org",))
        run_sources.set_source(session, SLUG, "bm25", SourceSettings(engine, "n"), access, by_id=None, at=NOW)
        come(session, "n1", GOOD)
        pool(session)


def come(
    session: Session, tag: str, documents: list[str], *, at: datetime = NOW, others: dict[str, list[str]] | None = None
) -> None:
    """A run of the source."""
    run(session, tag, {**dict.fromkeys(TOPICS, documents), **(others or {})})
    source = session.scalars(select(RunSource)).one()
    id_ = session.scalars(select(Run.id).where(Run.tag == tag).order_by(Run.id.desc())).first() or 0
    session.execute(update(Run).where(Run.id == id_).values(uploaded_at=at))
    note_fetched(session, source.id, [id_], at=at)


def judge(session: Session) -> None:
    labels(session, "nist", "".join(f"{number} 0 a 1\n{number} 0 b 0\n" for number in TOPICS))


def history(database: Database, measure: str = "P@1") -> SourceHistory:
    return database.read(source_history, SLUG, "bm25", measure=measure)


def test_before_anything_is_judged_there_are_runs_and_no_scores(started: Database) -> None:
    found = history(started)
    assert ([one.tag for one in found.runs], found.qrels, found.alarms) == (["n1"], [], [])


def test_a_run_that_leaves_its_interval_alarms_and_one_that_does_not_is_quiet(started: Database) -> None:
    with started.transaction() as session:
        judge(session)
        come(session, "n2", GOOD, others={"1": BAD})
    found = history(started)
    assert (found.measure, found.qrels, found.alarms) == ("P@1", ["live"], [])
    newest = found.newest("live")
    assert newest is not None
    run_, score, before = newest
    # P@1 falls on one topic of six: the t test does not distinguish it from chance.
    assert (run_.named, before.named) == ("n2", "n1")
    assert score.mean == pytest.approx(5 / 6)
    with started.transaction() as session:
        come(session, "n3", BAD, others={"6": GOOD})
    found = history(started)
    assert found.alarms == ["live"]
    assert [one.scores["live"].mean for one in found.runs] == pytest.approx([1, 5 / 6, 1 / 6])


def test_kept_versions_score_too_and_their_scores_stay(started: Database) -> None:
    with started.transaction() as session:
        judge(session)
        made = qrels.export_qrels(session, SLUG, policy="highest", made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
        labels(session, "nist", "1 0 a 0\n1 0 b 1\n", name="second.txt")
    found = history(started)
    assert found.qrels == ["live", "1"]
    [first] = found.runs
    assert first.scores["live"].mean == pytest.approx(5 / 6)
    assert first.scores["1"].mean == pytest.approx(1)
    assert (found.newest("1"), found.newest("2")) == (None, None)


def test_withdrawn_runs_are_left_out_and_replaced_ones_stay(started: Database) -> None:
    with started.transaction() as session:
        judge(session)
        session.execute(update(Run).values(replaced_at=NOW))
        come(session, "n1", BAD, at=NOW + timedelta(days=1))
        come(session, "n2", GOOD)
        runs.withdraw_run(session, SLUG, "n2", at=NOW)
    found = history(started)
    assert [(one.named, one.is_replaced) for one in found.runs] == [("n1 (1)", True), ("n1 (2)", False)]
    assert [one.scores["live"].mean for one in found.runs] == [1.0, 0.0]
    assert found.withdrawn == 1


def test_only_the_newest_runs_are_scored(started: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_scores, "MOST_RUNS", 2)
    with started.transaction() as session:
        judge(session)
        come(session, "n2", GOOD)
        come(session, "n3", GOOD)
    found = history(started)
    assert ([one.tag for one in found.runs], found.left_out) == (["n2", "n3"], 1)


def test_an_unknown_source_and_an_unknown_measure_are_refused(started: Database) -> None:
    with pytest.raises(NotFoundError, match="There is no source of runs “other”"):
        started.read(source_history, SLUG, "other")
    with pytest.raises(InvalidValueError):
        history(started, "Q@x")


def test_runs_of_one_task_are_scored_on_its_topics(started: Database) -> None:
    with started.transaction() as session:
        judge(session)
        come(session, "n2", GOOD, others={"1": BAD})
        task(session, "first", ["1", "2"], runs=["n1", "n2"])
    found = history(started)
    newest = found.newest("live")
    assert newest is not None
    assert newest[1].mean == pytest.approx(1 / 2)
    assert list(map(str, found.notices)) == ["Only the runs of the task “first” are scored, on its topics."]
    with started.transaction() as session:
        task(session, "second", runs=["n2"])
    found = history(started)
    newest = found.newest("live")
    assert newest is not None
    assert newest[1].mean == pytest.approx(5 / 6)
    assert found.notices == (EVERY_TASK,)


def test_the_task_of_the_source_says_which_of_its_runs_are_scored(started: Database) -> None:
    with started.transaction() as session:
        judge(session)
        come(session, "n2", GOOD, others={"1": BAD})
        task(session, "first", ["1", "2"], runs=["n1", "n2"])
        task(session, "second", runs=["n1"])
        session.execute(update(RunSource).values(task="first"))
    found = history(started)
    [only] = found.runs
    assert only.tag == "n2"
    assert only.scores["live"].mean == pytest.approx(1 / 2)
    assert list(map(str, found.notices)) == [
        "Only the runs of the task “first” are scored, on its topics.",
        "Runs of the source that are not of its task, and are left out: 1.",
    ]
