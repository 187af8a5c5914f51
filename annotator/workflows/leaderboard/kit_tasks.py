"""The tasks of a collection as a published kit has them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.publishing.kit_facts import KitTask
from annotator.storage import Run
from annotator.storage.leaderboard.scored_task import facts_of_task
from annotator.storage.runs.tasks import tasks_of
from annotator.storage.tables.tasks import Task


def kit_tasks(
    session: Session, collection_id: int, topics: Mapping[int, str], tasks_of_runs: Collection[str]
) -> list[KitTask]:
    """The tasks; `topics` are the accepted ones, id → number, and `tasks_of_runs` has the key of each run's task."""
    found = []
    of_runs = list(tasks_of_runs)
    for task in tasks_of(session, collection_id):
        facts = facts_of_task(session, collection_id, task.key)
        chosen = None if facts is None else facts.topics
        numbers = tuple(number for id_, number in topics.items() if chosen is None or id_ in chosen)
        found.append(KitTask(task.key, task.title, task.description, numbers, of_runs.count(task.key)))
    return found


def tasks_of_runs(session: Session, collection_id: int, run_ids: Collection[int]) -> dict[int, str]:
    """Run id → key of its task, of these runs; runs without a task are left out."""
    rows = session.execute(
        select(Run.id, Task.key).join(Task, Task.id == Run.task_id).where(Run.collection_id == collection_id)
    )
    return {id_: key for id_, key in rows if id_ in run_ids}


def words_of_tasks(tasks: Iterable[KitTask]) -> Iterator[str]:
    """The keys and titles, which organisers choose: names of teams and runs in them are ordinary words."""
    for task in tasks:
        yield from (task.key, task.title)


def tasks_json(tasks: Sequence[KitTask]) -> dict[str, object]:
    """The tasks as a kit lists them."""
    return {
        "tasks": [
            {"key": task.key, "title": task.title, "description": task.description, "topics": list(task.topics)}
            for task in tasks
        ]
    }
