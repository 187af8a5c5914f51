"""Reports beside the leaderboard, limited to a task: as in a collection that has only its runs and topics."""

from dataclasses import replace

import pytest
from build import NOW, SLUG, build, labels, topic_file
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from tasks import task
from two_tasks import (
    ALONE,
    DOCNOS,
    MACHINE,
    NUMBERS,
    TEAMS,
    TOPICS,
    add_alone,
    add_two_tasks,
    fill,
    machine_labels,
    runs_of,
)

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.storage import DROPPED, Run, Topic
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.tables.tasks import Task, TaskTopic
from annotator.workflows.leaderboard.estimates import EstimatePart, EstimateRequest, estimate_report
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.leave_out_report import By, LeaveOutRequest, Part, leave_out_report
from annotator.workflows.leaderboard.measure_correlation import Side, correlate, correlation_csv
from annotator.workflows.leaderboard.overview_report import OverviewRequest, overview_report
from annotator.workflows.leaderboard.reusability_report import QualityReport
from annotator.workflows.leaderboard.significance_report import SignificanceReport
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.qrels_diff import diff_qrels
from annotator.workflows.runs.runs import withdraw_run

KEYS = list(TOPICS)
UNKNOWN = r"There is no task “none”\. There are: long, short\."


@pytest.fixture
def two_tasks(session: Session) -> Session:
    """Tasks `long` and `short`, which share a topic."""
    add_two_tasks(session)
    return session


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("by", By)
def test_leaving_out_in_a_task_is_as_in_a_collection_of_its_runs(two_tasks: Session, key: str, by: By) -> None:
    """Runs of other tasks that were pooled for its topics are sources, as withdrawn runs are."""
    add_alone(two_tasks, key, others=True)
    of_task = leave_out_report(two_tasks, SLUG, LeaveOutRequest(("AP", "P@5"), by, task=key))
    alone = leave_out_report(two_tasks, ALONE, LeaveOutRequest(("AP", "P@5"), by))
    for part in Part:
        assert of_task.table(part) == alone.table(part)
    assert {row[1] for row in of_task.table(Part.RUNS)[1]} == set(runs_of(key))
    assert of_task.state.source == f"live, task {key}"
    assert (of_task.state.grades, of_task.state.topics) == (alone.state.grades, alone.state.topics)
    assert str(of_task.notices[0]) == f"Only the runs of the task “{key}” are scored, on its topics."
    assert EVERY_TASK not in of_task.notices


def test_documents_that_runs_of_another_task_contributed_stay(two_tasks: Session) -> None:
    """Without `long-2`, what other runs found for topic 3 would still have been judged."""
    add_alone(two_tasks, "long")
    of_task = leave_out_report(two_tasks, SLUG, LeaveOutRequest(("AP",), By.RUN, task="long"))
    alone = leave_out_report(two_tasks, ALONE, LeaveOutRequest(("AP",), By.RUN))
    here, there = (
        {one.source: one.judged for one in report.results[0].sources if one.source in runs_of("long")}
        for report in (of_task, alone)
    )
    assert all(here[tag] <= there[tag] for tag in runs_of("long"))
    assert sum(here.values()) < sum(there.values())


@pytest.mark.parametrize("key", KEYS)
def test_a_hypothetical_pool_has_the_top_of_all_active_runs(two_tasks: Session, key: str) -> None:
    fill(two_tasks, ALONE, TOPICS[key], TEAMS)
    of_task = leave_out_report(two_tasks, SLUG, LeaveOutRequest(("AP",), By.TEAM, 3, key))
    every = leave_out_report(two_tasks, ALONE, LeaveOutRequest(("AP",), By.TEAM, 3))
    assert of_task.table(Part.SOURCES) == every.table(Part.SOURCES)
    # Ranks are among the runs of the task; the scores are not.
    scores = [{row[1]: row[2:8] for row in report.table(Part.RUNS)[1]} for report in (of_task, every)]
    assert scores[0].items() <= scores[1].items()
    assert set(scores[0]) == set(runs_of(key))


def test_what_cannot_be_left_out_of_a_task_is_refused(two_tasks: Session) -> None:
    with pytest.raises(NotFoundError, match=UNKNOWN):
        leave_out_report(two_tasks, SLUG, LeaveOutRequest(task="none"))
    task(two_tasks, "empty", ["1"])
    with pytest.raises(ConflictError, match="There is no run to score in the task “empty”"):
        leave_out_report(two_tasks, SLUG, LeaveOutRequest(task="empty"))
    topic_file(two_tasks, "5\ttopic\n")
    task(two_tasks, "new", ["5"])
    with pytest.raises(ConflictError, match="No topic of the task “new” has a judgement yet"):
        leave_out_report(two_tasks, SLUG, LeaveOutRequest(task="new"))
    assert leave_out_report(two_tasks, SLUG).notices == (EVERY_TASK,)


def keep_alone(session: Session, key: str) -> None:
    """Leave of the collection what belongs to this task."""
    others = [number for number in NUMBERS if number not in TOPICS[key]]
    session.execute(update(Topic).where(Topic.number.in_(others)).values(state=DROPPED))
    for tag in TEAMS:
        if tag not in runs_of(key):
            withdraw_run(session, SLUG, tag, at=NOW)
    for one in session.scalars(select(Task)):
        session.execute(update(Run).where(Run.task_id == one.id).values(task_id=None))
        session.execute(delete(TaskTopic).where(TaskTopic.task_id == one.id))
        session.delete(one)
    session.flush()
    session.expire_all()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("measure", ["P@5", "AP", "infNDCG@5"])
def test_estimates_of_a_task_are_as_in_a_collection_of_its_runs(two_tasks: Session, key: str, measure: str) -> None:
    machine_labels(two_tasks)
    draw_sample(two_tasks)
    request = EstimateRequest(measure, MACHINE)
    of_task = estimate_report(two_tasks, SLUG, replace(request, task=key))
    assert {row.tag for row in of_task.rows} == set(runs_of(key))
    assert of_task.topics == TOPICS[key]
    assert str(of_task.notices[-1]) == f"Only the runs of the task “{key}” are scored, on its topics."
    headings, rows = of_task.file(EstimatePart.PAIRS)
    assert {dict(zip(headings, row, strict=True))["task"] for row in rows} == {key}
    keep_alone(two_tasks, key)
    alone = estimate_report(two_tasks, SLUG, request)
    for part in EstimatePart:
        assert of_task.table(part) == alone.table(part)
    assert (of_task.documents, of_task.judged, of_task.differing) == (alone.documents, alone.judged, alone.differing)
    assert of_task.notices[:-1] == alone.notices
    assert alone.file(EstimatePart.RUNS) == alone.table(EstimatePart.RUNS)


def test_estimates_of_a_task_with_everything_judged_are_those_of_its_leaderboard(two_tasks: Session) -> None:
    draw_sample(two_tasks)
    every = "".join(f"{number} 0 {docno} {int(docno[1:]) % 3}\n" for number in NUMBERS for docno in DOCNOS)
    labels(two_tasks, "jo", every, add_to_pool=True, name="every.txt")
    for key in KEYS:
        board = build_leaderboard(two_tasks, SLUG, ["P@5"], grades=GradesFrom(task=key))
        report = estimate_report(two_tasks, SLUG, EstimateRequest("P@5", people_only=True, task=key))
        assert {row.tag: row.estimate.value for row in report.rows} == pytest.approx(
            {row.tag: row.values[0] for row in board.rows}
        )


def test_what_cannot_be_estimated_of_a_task_is_refused(two_tasks: Session) -> None:
    draw_sample(two_tasks)
    with pytest.raises(NotFoundError, match=UNKNOWN):
        estimate_report(two_tasks, SLUG, EstimateRequest(task="none"))
    with pytest.raises(NotFoundError, match="The baseline “short-0” is not among the runs compared"):
        estimate_report(two_tasks, SLUG, EstimateRequest(baseline="short-0", task="long"))
    task(two_tasks, "empty", [])
    with pytest.raises(ConflictError, match="There is no run to score in the task “empty”"):
        estimate_report(two_tasks, SLUG, EstimateRequest(task="empty"))
    topic_file(two_tasks, "5\ttopic\n")
    task(two_tasks, "new", ["5"], runs=["stray"])
    with pytest.raises(ConflictError, match="No topic of the task “new” has a judgement yet"):
        estimate_report(two_tasks, SLUG, EstimateRequest(task="new"))
    assert EVERY_TASK in estimate_report(two_tasks, SLUG, EstimateRequest("P@5")).notices


def draw_sample(session: Session) -> None:
    parameters: dict[str, str | int] = {"certainty_depth": 1, "bands": "4", "depth": 12, "budget": 40}
    build(session, PoolRequest("sample", parameters), seed=7)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("sides", [("AP", "live", "P@5", "live"), ("AP", "1", "AP", "live"), ("infAP", "1", "AP", "1")])
def test_rankings_of_a_task_are_correlated_as_in_a_collection_of_its_runs(
    two_tasks: Session, key: str, sides: tuple[str, str, str, str]
) -> None:
    draw_sample(two_tasks)
    exported = qrels.export_qrels(two_tasks, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(two_tasks, SLUG, exported, made_by_id=None, made_at=NOW)
    changed = "".join(f"{number} 0 {docno} {int(docno[1:]) % 3}\n" for number in NUMBERS for docno in DOCNOS[:12])
    labels(two_tasks, "jo", changed, add_to_pool=True, name="changed.txt")
    first, second = Side(*sides[:2]), Side(*sides[2:])
    of_task = correlate(two_tasks, SLUG, first, second, task=key)
    assert [run.tag for run in of_task.runs] != []
    assert {run.tag for run in of_task.runs} == set(runs_of(key))
    assert of_task.first.state.source == f"{sides[1]}, task {key}"
    file = correlation_csv(of_task)
    assert file.count(f"{sides[1]}, task {key}") >= len(of_task.runs)
    keep_alone(two_tasks, key)
    alone = correlate(two_tasks, SLUG, first, second)
    assert (of_task.runs, of_task.tau, of_task.similarity) == (alone.runs, alone.tau, alone.similarity)
    assert str(of_task.notices[0]) == f"Only the runs of the task “{key}” are scored, on its topics."
    assert replace(of_task.second.state, task=None) == alone.second.state


def test_rankings_of_a_task_without_runs_or_judgements_are_refused(two_tasks: Session) -> None:
    with pytest.raises(NotFoundError, match=UNKNOWN):
        correlate(two_tasks, SLUG, task="none")
    task(two_tasks, "empty", ["1"])
    with pytest.raises(ConflictError, match="There is no run to score in the task “empty”"):
        correlate(two_tasks, SLUG, task="empty")
    assert correlate(two_tasks, SLUG).notices == (EVERY_TASK,)


def test_the_difference_of_two_qrels_says_that_the_runs_of_every_task_are_scored(two_tasks: Session) -> None:
    add_alone(two_tasks, "long")
    for slug, notices in {SLUG: (EVERY_TASK,), ALONE: ()}.items():
        exported = qrels.export_qrels(two_tasks, slug, made_at=NOW)
        qrels_versions.keep_qrels(two_tasks, slug, exported, made_by_id=None, made_at=NOW)
        assert diff_qrels(two_tasks, slug, "1", "live").notices == notices


def test_the_overview_of_a_task_has_the_parts_of_its_pages(two_tasks: Session) -> None:
    request = OverviewRequest(("AP",), task="short")
    report = overview_report(two_tasks, SLUG, request, made_at=NOW, version="0.1.0")
    board = build_leaderboard(two_tasks, SLUG, ["AP"], grades=GradesFrom(task="short"))
    assert isinstance(report.board, Leaderboard)
    assert [(row.tag, row.values) for row in report.board.rows] == [(row.tag, row.values) for row in board.rows]
    assert (report.board.topics, report.board.source) == (TOPICS["short"], "live, task short")
    assert {run.tag for run in report.runs} == set(runs_of("short"))
    assert isinstance(report.significance, SignificanceReport)
    assert set(report.significance.tags) == set(runs_of("short"))
    assert isinstance(report.quality, QualityReport)
    assert (report.quality.runs, report.quality.state.task) == (3, "short")
    assert {one.topic for one in report.topics} == set(TOPICS["short"])
    assert (report.task and report.task.title) == "The task short"
    # The qrels are those of the whole collection, which its tasks share.
    whole = overview_report(two_tasks, SLUG, replace(request, task=None), made_at=NOW, version="0.1.0")
    assert (report.manifest, report.counts, report.agreement) == (whole.manifest, whole.counts, whole.agreement)
    assert whole.task is None
    with pytest.raises(NotFoundError, match=UNKNOWN):
        overview_report(two_tasks, SLUG, replace(request, task="none"), made_at=NOW, version="0.1.0")
