"""What is scored of a task: its runs and its topics; and in which tasks and rounds a team has runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.runs.tasks import find_task
from annotator.storage.tables.collections import Round
from annotator.storage.tables.people import Team
from annotator.storage.tables.runs import IN_FORCE, Run
from annotator.storage.tables.tasks import Task, TaskTopic


class TaskFacts(NamedTuple):
    """Inputs of scoring one task; ids of runs, withdrawn runs included, and of topics, None for all."""

    key: str
    runs: frozenset[int]
    topics: frozenset[int] | None


def facts_of_task(session: Session, collection_id: int, key: str | None) -> TaskFacts | None:
    """Inputs of scoring this task, None without one; raises `NotFoundError` for an unknown one."""
    if key is None:
        return None
    task = find_task(session, collection_id, key)
    runs = frozenset(session.scalars(select(Run.id).where(Run.task_id == task.id)))
    topics = None
    if not task.every_topic:
        topics = frozenset(session.scalars(select(TaskTopic.topic_id).where(TaskTopic.task_id == task.id)))
    return TaskFacts(task.key, runs, topics)


class RunPlace(NamedTuple):
    """The round and the task, by key, to which a run belongs; None for none."""

    tag: str
    round: int | None
    task: str | None


def places_of_team(session: Session, collection_id: int, team: str, *, before: datetime) -> list[RunPlace]:
    """Round and task of each active run of a team that was uploaded before that time, by task and then by round."""
    rows = session.execute(
        select(Run.tag, Round.number, Task.key)
        .select_from(Run)
        .join(Team, Team.id == Run.team_id)
        .outerjoin(Round, Round.id == Run.round_id)
        .outerjoin(Task, Task.id == Run.task_id)
        .where(Run.collection_id == collection_id, Team.name == team, IN_FORCE, Run.uploaded_at < before)
        .order_by(Task.id, Round.number, Run.id)
    )
    return [RunPlace(*row) for row in rows]


def task_of_runs(session: Session, collection_id: int, run_ids: Sequence[int]) -> str | None:
    """The key of the task to which all of these runs belong; None if they belong to several or to none."""
    rows = session.execute(
        select(Run.id, Task.key).join(Task, Task.id == Run.task_id).where(Run.collection_id == collection_id)
    )
    key_of = {id_: key for id_, key in rows}
    keys = {key_of.get(id_) for id_ in run_ids}
    return keys.pop() if len(keys) == 1 else None
