"""Tasks of a collection, as rows."""

from collections.abc import Mapping, Sequence
from unittest.mock import patch

import build
from build import NOW, SLUG
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage import Run, Topic
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.runs.tasks import find_task
from annotator.storage.tables.tasks import Task, TaskTopic
from annotator.workflows.runs import run_upload


def task(
    session: Session, key: str, topics: Sequence[str] | None = None, *, title: str = "", runs: Sequence[str] = ()
) -> None:
    """A task with these topics, or with every one, to which these runs belong."""
    collection = find_collection(session, SLUG)
    one = Task(
        collection_id=collection.id, key=key, title=title or f"The task {key}", every_topic=topics is None, added_at=NOW
    )
    session.add(one)
    session.flush()
    add_topics(session, key, topics or ())
    move_runs(session, key, runs)


def add_topics(session: Session, key: str, topics: Sequence[str]) -> None:
    """Further topics of a task."""
    collection_id = find_collection(session, SLUG).id
    ids = topic_ids(session, collection_id)
    task_id = find_task(session, collection_id, key).id
    session.add_all(TaskTopic(task_id=task_id, topic_id=ids[number]) for number in topics)
    session.flush()


def move_runs(session: Session, key: str, tags: Sequence[str]) -> None:
    """Make runs those of a task."""
    collection_id = find_collection(session, SLUG).id
    task_id = find_task(session, collection_id, key).id
    of_collection = (Run.collection_id == collection_id) & Run.tag.in_(tags)
    session.execute(update(Run).where(of_collection).values(task_id=task_id))
    assert set(session.scalars(select(Run.tag).where(of_collection))) == set(tags)


def drop_topics(session: Session, key: str, topics: Sequence[str]) -> None:
    """Take topics out of a task."""
    collection_id = find_collection(session, SLUG).id
    task_id = find_task(session, collection_id, key).id
    ids = set(session.scalars(select(Topic.id).where(Topic.collection_id == collection_id, Topic.number.in_(topics))))
    for row in session.scalars(select(TaskTopic).where(TaskTopic.task_id == task_id, TaskTopic.topic_id.in_(ids))):
        session.delete(row)
    session.flush()


def run(session: Session, tag: str, lists: Mapping[str, Sequence[str]], *, team: str | None = None) -> None:
    """A stored run of no task, as from before the tasks were set."""
    with patch.object(run_upload, "task_rules", return_value={}):
        build.run(session, tag, lists, team=team)
