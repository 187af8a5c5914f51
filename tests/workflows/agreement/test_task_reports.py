"""Machine judges, and the effect of judges, in a task: as in a collection that has only its runs and topics."""

from collections.abc import Iterable

import pytest
from build import SLUG, labels
from sqlalchemy.orm import Session
from tasks import task
from two_tasks import ALONE, TOPICS, add_alone, add_two_tasks, machine_labels, runs_of, second_grades

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.workflows.agreement.judge_effect import EffectRequest, judge_effect
from annotator.workflows.agreement.judge_tables import EFFECT_TABLES, MACHINE_TABLES
from annotator.workflows.agreement.machine_judges import machine_reports

KEYS = list(TOPICS)
UNKNOWN = r"There is no task “none”\. There are: long, short\."


@pytest.fixture
def two_tasks(session: Session) -> Session:
    """Tasks `long` and `short`, which share a topic, graded by two people and a machine."""
    add_two_tasks(session)
    grade(session, SLUG, ("1", "2", "3", "4"))
    return session


def grade(session: Session, slug: str, topics: Iterable[str]) -> None:
    machine_labels(session, slug, tuple(topics))
    labels(session, "kim", second_grades(tuple(topics)), name="kim.txt", slug=slug)


def add_graded(session: Session, key: str) -> None:
    add_alone(session, key, prepare=lambda same, slug: grade(same, slug, TOPICS[key]))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("only_shared", [False, True])
def test_machines_in_a_task_are_as_in_a_collection_of_its_runs(
    two_tasks: Session, key: str, *, only_shared: bool
) -> None:
    add_graded(two_tasks, key)
    of_task = machine_reports(two_tasks, SLUG, "AP", only_shared=only_shared, task=key)
    alone = machine_reports(two_tasks, ALONE, "AP", only_shared=only_shared)
    assert of_task.machines
    for headings, rows in MACHINE_TABLES.values():
        assert list(rows(of_task)) == list(rows(alone)), headings
    assert set(of_task.tags) == set(runs_of(key))
    assert list(map(str, of_task.notices)) == [f"Only the runs of the task “{key}” are scored, on its topics."]
    assert (alone.notices, alone.task) == ((), None)
    assert machine_reports(two_tasks, SLUG, "AP").notices == (EVERY_TASK,)


@pytest.mark.parametrize("key", KEYS)
def test_judges_change_the_ranking_of_a_task_as_in_a_collection_of_its_runs(two_tasks: Session, key: str) -> None:
    add_graded(two_tasks, key)
    of_task = judge_effect(two_tasks, SLUG, EffectRequest("AP", draws=50, task=key))
    alone = judge_effect(two_tasks, ALONE, EffectRequest("AP", draws=50))
    assert of_task.mixture is not None
    for headings, rows in EFFECT_TABLES.values():
        assert list(rows(of_task)) == list(rows(alone)), headings
    assert (of_task.tags, of_task.topics) == (alone.tags, TOPICS[key])
    assert list(map(str, of_task.notices)) == [f"Only the runs of the task “{key}” are scored, on its topics."]
    assert alone.notices == ()
    assert judge_effect(two_tasks, SLUG, EffectRequest("AP", draws=2)).notices == (EVERY_TASK,)


def test_topics_of_a_task_are_chosen_among_its_own(two_tasks: Session) -> None:
    one = machine_reports(two_tasks, SLUG, "AP", ["3"], task="long")
    other = machine_reports(two_tasks, SLUG, "AP", ["3"], task="short")
    [of_long], [of_short] = one.machines, other.machines
    assert of_long.people.kappa.n == of_short.people.kappa.n == 20
    assert of_long.people.kappa.value == of_short.people.kappa.value
    assert (set(one.tags), set(other.tags)) == (set(runs_of("long")), set(runs_of("short")))
    outside = "The topic “4” is not one of the task “long”"
    with pytest.raises(NotFoundError, match=outside):
        machine_reports(two_tasks, SLUG, "AP", ["3", "4"], task="long")
    with pytest.raises(NotFoundError, match=outside):
        judge_effect(two_tasks, SLUG, EffectRequest("AP", ["4"], task="long"))


def test_what_cannot_be_compared_in_a_task_is_refused_or_stated(two_tasks: Session) -> None:
    with pytest.raises(NotFoundError, match=UNKNOWN):
        machine_reports(two_tasks, SLUG, task="none")
    with pytest.raises(NotFoundError, match=UNKNOWN):
        judge_effect(two_tasks, SLUG, EffectRequest(task="none"))
    task(two_tasks, "empty", ["1"])
    task(two_tasks, "nothing", [], runs=["stray"])
    [machine] = machine_reports(two_tasks, SLUG, task="empty").machines
    assert str(machine.ranking_reason) == "There is no run to rank yet."
    [machine] = machine_reports(two_tasks, SLUG, task="nothing").machines
    assert machine.labels == 0
    with pytest.raises(ConflictError, match="There is no run to score in the task “empty”"):
        judge_effect(two_tasks, SLUG, EffectRequest(task="empty"))
    with pytest.raises(ConflictError, match="No topic of the task “nothing” has a judgement yet"):
        judge_effect(two_tasks, SLUG, EffectRequest(task="nothing"))
