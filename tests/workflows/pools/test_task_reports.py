"""Overlap of runs and holes limited to a task: as in a collection that has only its runs and topics."""

import pytest
from build import NOW, SLUG
from sqlalchemy import select
from sqlalchemy.orm import Session
from tasks import run, task
from two_tasks import ALONE, NUMBERS, TOPICS, add_alone, add_two_tasks, lists_of, runs_of

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Document, PoolItem, Topic
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools import pool_building, pool_holes, run_overlap
from annotator.workflows.pools.pool_building import choose_filling, filling_request, store_pool
from annotator.workflows.pools.pool_holes import HolesReport, holes_report
from annotator.workflows.pools.pool_planning import foresee_growth
from annotator.workflows.pools.pools import pool_versions
from annotator.workflows.pools.run_overlap import OverlapPart, overlap_report

KEYS = list(TOPICS)
UNKNOWN = r"There is no task “none”\. There are: long, short\."


@pytest.fixture
def two_tasks(session: Session) -> Session:
    """Tasks `long` and `short`, which share a topic."""
    add_two_tasks(session)
    return session


@pytest.mark.parametrize("key", KEYS)
def test_runs_of_a_task_overlap_as_in_a_collection_of_its_runs(two_tasks: Session, key: str) -> None:
    """What runs of other tasks contributed to its topics counts as what withdrawn runs did."""
    add_alone(two_tasks, key, others=True)
    of_task = overlap_report(two_tasks, SLUG, 5, with_all=True, task=key)
    alone = overlap_report(two_tasks, ALONE, 5, with_all=True)
    for part in OverlapPart:
        assert of_task.table(part) == alone.table(part)
    assert set(of_task.tags) == set(runs_of(key))
    assert (of_task.relevant, of_task.closest) == (alone.relevant, alone.closest)
    assert list(map(str, of_task.notices)) == [
        f"Only the runs of the task “{key}” are counted, on its topics.",
        str(run_overlap.OF_EVERY_TASK),
    ]
    assert alone.notices == ()
    headings, rows = of_task.file(OverlapPart.TEAMS)
    assert {dict(zip(headings, row, strict=True))["task"] for row in rows} == {key}


def test_runs_of_different_tasks_are_compared_on_the_topics_of_both(two_tasks: Session) -> None:
    found = overlap_report(two_tasks, SLUG, 12, with_all=True)
    shares = {frozenset((first, second)): share for first, second, share in found.table(OverlapPart.RUNS)[1]}
    common = set(lists_of("long-0")["3"]) & set(lists_of("short-0")["3"])
    assert shares[frozenset(("long-0", "short-0"))] == pytest.approx(len(common) / 12)
    every = [set(lists_of("long-0")[topic]) & set(lists_of("stray")[topic]) for topic in TOPICS["long"]]
    assert shares[frozenset(("long-0", "stray"))] == pytest.approx(sum(map(len, every)) / 36)
    assert found.notices == (run_overlap.EVERY_TASK,)
    # Two runs of tasks without a common topic have nothing to compare, which is not an overlap of 0.
    run(two_tasks, "only-first", {"1": lists_of("long-0")["1"]})
    task(two_tasks, "first", ["1"], runs=["only-first"])
    table = overlap_report(two_tasks, SLUG, 12, with_all=True).table(OverlapPart.RUNS)[1]
    apart = {frozenset(row[:2]): row[2] for row in table}
    assert apart[frozenset(("only-first", "short-0"))] is None
    assert apart[frozenset(("only-first", "long-0"))] == 1


def as_rows(report: HolesReport) -> object:
    return report.table(), report.fillings, report.topics


@pytest.mark.parametrize("key", KEYS)
def test_holes_of_a_task_are_as_in_a_collection_of_its_runs(two_tasks: Session, key: str) -> None:
    add_alone(two_tasks, key, others=True)
    of_task = holes_report(two_tasks, SLUG, (3, 12), task=key)
    alone = holes_report(two_tasks, ALONE, (3, 12))
    assert as_rows(of_task) == as_rows(alone)
    assert {of_run[0].tag for of_run in of_task.runs} == set(runs_of(key))
    assert of_task.state.source == f"live, task {key}"
    assert list(map(str, of_task.notices)) == [f"Only the runs of the task “{key}” are counted, on its topics."]
    # Without a choice, each run has its own topics.
    every = {of_run[0].tag: of_run for of_run in holes_report(two_tasks, SLUG, (3, 12)).runs}
    assert all(every[of_run[0].tag] == of_run for of_run in of_task.runs)


def test_filling_the_holes_of_a_task_adds_the_documents_of_its_runs_alone(two_tasks: Session) -> None:
    before = pooled(two_tasks)
    [hole] = holes_report(two_tasks, SLUG, (12,), task="short").fillings
    assert hole.new > 0
    assert foresee_growth(two_tasks, SLUG, filling_request(12, "short")).documents == hole.new
    summary = store_pool(two_tasks, SLUG, choose_filling(two_tasks, SLUG, 12, "short"), built_by_id=None, built_at=NOW)
    assert summary.added == hole.new
    added = pooled(two_tasks) - before
    lists = [one for tag in runs_of("short") for one in lists_of(tag).items()]
    assert added
    assert added <= {(topic, docno) for topic, docnos in lists for docno in docnos}
    assert holes_report(two_tasks, SLUG, (12,), task="short").fillings[0].new == 0
    newest = pool_versions(two_tasks, SLUG)[-1]
    assert (newest.parameters["task"], newest.parameters["runs"]) == ("short", sorted(runs_of("short")))
    whole = pool_building.choose_pool(two_tasks, SLUG, PoolRequest("depth", {"depth": 12}))
    assert "task" not in whole.parameters


def pooled(session: Session) -> set[tuple[str, str]]:
    rows = session.execute(
        select(Topic.number, Document.docno)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    return {(number, docno) for number, docno in rows}


def test_what_cannot_be_counted_of_a_task_is_refused(two_tasks: Session) -> None:
    with pytest.raises(NotFoundError, match=UNKNOWN):
        overlap_report(two_tasks, SLUG, task="none")
    with pytest.raises(NotFoundError, match=UNKNOWN):
        holes_report(two_tasks, SLUG, task="none")
    with pytest.raises(NotFoundError, match=UNKNOWN):
        choose_filling(two_tasks, SLUG, 3, "none")
    task(two_tasks, "empty", NUMBERS[:1])
    none = "There is no run to score in the task “empty”"
    with pytest.raises(ConflictError, match=none):
        overlap_report(two_tasks, SLUG, task="empty")
    with pytest.raises(ConflictError, match=none):
        holes_report(two_tasks, SLUG, task="empty")
    with pytest.raises(ConflictError, match="There is no run to pool yet"):
        choose_filling(two_tasks, SLUG, 3, "empty")
    assert holes_report(two_tasks, SLUG).notices == (pool_holes.EVERY_TASK,)
