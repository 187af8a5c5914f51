"""The tasks of a collection, their topics, and what belongs to them."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Select, case, delete, func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage.tables.runs import IN_FORCE, QuestionnaireVersion, RankedList, Run
from annotator.storage.tables.tasks import Task, TaskTopic

COPIED = ("key", "title", "description", "every_topic", "run_formats", "most_documents", "most_runs")


def tasks_of(session: Session, collection_id: int) -> list[Task]:
    """The tasks in the order in which they were added; empty for a collection that is a single one."""
    return list(session.scalars(select(Task).where(Task.collection_id == collection_id).order_by(Task.id)))


def find_task(session: Session, collection_id: int, key: str) -> Task:
    """The task with that key; raises `NotFoundError` otherwise, which names the tasks that there are."""
    tasks = {task.key: task for task in tasks_of(session, collection_id)}
    if key in tasks:
        return tasks[key]
    if not tasks:
        raise NotFoundError("There is no task “%(key)s”: this collection has no tasks.", key=key)
    raise NotFoundError("There is no task “%(key)s”. There are: %(keys)s.", key=key, keys=", ".join(tasks))


def topics_of_task(session: Session, task: Task, topics: Mapping[str, int]) -> dict[str, int]:
    """Number → row id of those of these topics that the task has."""
    if task.every_topic:
        return dict(topics)
    ids = set(session.scalars(select(TaskTopic.topic_id).where(TaskTopic.task_id == task.id)))
    return {number: id_ for number, id_ in topics.items() if id_ in ids}


def task_topics(session: Session, collection_id: int) -> dict[int, set[int]]:
    """Task id → topic ids of those tasks that do not have every topic."""
    found: dict[int, set[int]] = {
        id_: set()
        for id_ in session.scalars(
            select(Task.id).where(Task.collection_id == collection_id, Task.every_topic.is_(False))
        )
    }
    rows = select(TaskTopic.task_id, TaskTopic.topic_id).join(Task, Task.id == TaskTopic.task_id)
    for task_id, topic_id in session.execute(rows.where(Task.collection_id == collection_id)):
        found.setdefault(task_id, set()).add(topic_id)
    return found


def replace_task_topics(session: Session, task: Task, topic_ids: Collection[int] | None) -> None:
    """Give a task these topics; None for every topic of the collection."""
    session.execute(delete(TaskTopic).where(TaskTopic.task_id == task.id))
    task.every_topic = topic_ids is None
    if topic_ids:
        session.execute(insert(TaskTopic), [{"task_id": task.id, "topic_id": id_} for id_ in topic_ids])


def runs_by_task(session: Session, collection_id: int) -> dict[int, tuple[int, int]]:
    """Task id → its runs in force, and all its files, withdrawn and replaced ones included."""
    in_force = func.sum(case((IN_FORCE, 1), else_=0))
    rows = (
        select(Task.id, in_force, func.count())
        .join(Run, Run.task_id == Task.id)
        .where(Task.collection_id == collection_id)
    )
    return {task_id: (int(active), int(every)) for task_id, active, every in session.execute(rows.group_by(Task.id))}


def questionnaires_by_task(session: Session, collection_id: int) -> dict[int, int]:
    """Task id → how many versions of a questionnaire it has, for those that have one."""
    rows = (
        select(Task.id, func.count())
        .join(QuestionnaireVersion, QuestionnaireVersion.task_id == Task.id)
        .where(Task.collection_id == collection_id)
    )
    return {task_id: count for task_id, count in session.execute(rows.group_by(Task.id))}


def runs_outside(session: Session, run_ids: Select[int], topic_ids: Collection[int]) -> dict[int, int]:
    """Topic id → how many of these runs have a list for it, for topics other than these."""
    listed = select(RankedList.topic_id, func.count()).where(RankedList.run_id.in_(run_ids))
    found = {topic_id: count for topic_id, count in session.execute(listed.group_by(RankedList.topic_id))}
    return {topic_id: count for topic_id, count in found.items() if topic_id not in topic_ids}


def runs_outside_their_tasks(session: Session, collection_id: int, topic_ids: Collection[int]) -> list[tuple[str, str]]:
    """Tag and key of the task of runs with a list for one of these topics, which their task does not have."""
    has_topic = select(TaskTopic.task_id).where(
        TaskTopic.task_id == Run.task_id, TaskTopic.topic_id == RankedList.topic_id
    )
    rows = (
        select(Run.tag, Task.key)
        .join(Task, Task.id == Run.task_id)
        .join(RankedList, RankedList.run_id == Run.id)
        .where(Run.collection_id == collection_id, Task.every_topic.is_(False))
        .where(RankedList.topic_id.in_(topic_ids), ~has_topic.exists())
        .distinct()
    )
    return sorted((tag, key) for tag, key in session.execute(rows))


def copy_tasks(session: Session, old_id: int, new_id: int, *, at: datetime) -> dict[int, int]:
    """Copy the tasks to another collection, without their topics, which that one does not have: old id → new one."""
    ids = {}
    for task in tasks_of(session, old_id):
        copied = {name: getattr(task, name) for name in COPIED}
        new = Task(collection_id=new_id, added_at=at, **copied)
        session.add(new)
        session.flush()  # in their order
        ids[task.id] = new.id
    return ids
