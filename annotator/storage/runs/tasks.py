"""Look-up of the tasks of a collection."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage.tables.tasks import Task


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
