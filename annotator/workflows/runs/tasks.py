"""The tasks of a collection: organisers add, change and remove them; runs are sent to one of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text, natural_order
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.runs.run_tasks import TaskRules
from annotator.evaluation.runs.tag_rules import ANY_TAG, check_team_rules
from annotator.storage import ACCEPTED, Collection, RankedList, Run, Task
from annotator.storage.collections.collection import find_collection, lock_open_collection, topic_ids
from annotator.storage.runs.tasks import (
    find_task,
    questionnaires_by_task,
    replace_task_topics,
    runs_by_task,
    runs_outside,
    task_topics,
    tasks_of,
    topics_of_task,
)
from annotator.workflows.runs.submissions import GREATEST_MOST_DOCUMENTS
from annotator.workflows.site.input_sources import FORMAT_NAMES

KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 10_000
MOST_TASKS = 100
NAMED_TOPICS = 10


@dataclass(frozen=True)
class TaskFields:
    """What organisers say of a task.

    Without a list of topics it has every topic of the collection, those that come later included; without formats runs
    may have any. None as a limit is that of the collection, 0 as the most runs of a team no limit.
    """

    title: str = ""
    description: str = ""
    topics: tuple[str, ...] | None = None
    formats: tuple[str, ...] = ()
    most_documents: int | None = None
    most_runs: int | None = None


CHANGEABLE = frozenset(field.name for field in fields(TaskFields))


@dataclass(frozen=True)
class TaskView:
    """A task, the numbers of its accepted topics, its limits, and what belongs to it.

    `most_documents` and `most_runs` are those that count, of the task or the collection. `files` are those of all runs,
    withdrawn and replaced ones included.
    """

    key: str
    fields: TaskFields
    topics: tuple[str, ...]
    most_documents: int
    most_runs: int
    runs: int
    files: int
    has_questionnaire: bool

    @property
    def title(self) -> str:
        """The title."""
        return self.fields.title

    @property
    def accepted(self) -> int:
        """The number of its accepted topics."""
        return len(self.topics)


def list_tasks(session: Session, slug: str) -> list[TaskView]:
    """The tasks in the order in which they were added; none in a collection that is a single one."""
    collection = find_collection(session, slug)
    tasks = tasks_of(session, collection.id)
    if not tasks:
        return []
    ids, accepted = topic_ids(session, collection.id), topic_ids(session, collection.id, ACCEPTED)
    runs, asked = runs_by_task(session, collection.id), questionnaires_by_task(session, collection.id)
    chosen = task_topics(session, collection.id)
    own = {
        task.id: [number for number, id_ in ids.items() if task.every_topic or id_ in chosen[task.id]] for task in tasks
    }
    return [
        TaskView(
            key=task.key,
            fields=_fields(task, own[task.id]),
            topics=tuple(sorted(accepted.keys() & own[task.id], key=natural_order)),
            most_documents=_most_documents(task, collection),
            most_runs=_most_runs(task, collection),
            runs=runs.get(task.id, (0, 0))[0],
            files=runs.get(task.id, (0, 0))[1],
            has_questionnaire=task.id in asked,
        )
        for task in tasks
    ]


def task_titles(session: Session, slug: str) -> dict[str, str]:
    """Key → title of the tasks, in the order in which they were added."""
    return {task.key: task.title for task in tasks_of(session, find_collection(session, slug).id)}


def show_task(session: Session, slug: str, key: str) -> TaskView:
    """One task; raises `NotFoundError` for an unknown key."""
    find_task(session, find_collection(session, slug).id, key)
    return next(task for task in list_tasks(session, slug) if task.key == key)


def add_task(session: Session, slug: str, key: str, given: TaskFields, *, at: datetime) -> None:
    """Add a task to a collection.

    Raises `InvalidValueError` for values that a task cannot have, `NotFoundError` for unknown topics, and
    `ConflictError` for a key in use, and in a closed collection.
    """
    collection = lock_open_collection(session, slug)
    if not KEY.fullmatch(key):
        raise InvalidValueError(
            "“%(key)s” is no key of a task: up to 40 small letters, digits, “-” and “_”, beginning with a letter or a "
            "digit.",
            key=key,
        )
    present = [task.key for task in tasks_of(session, collection.id)]
    if key in present:
        raise ConflictError("There is a task “%(key)s” already.", key=key)
    if len(present) >= MOST_TASKS:
        raise ConflictError("A collection has at most %(most)d tasks.", most=MOST_TASKS)
    task = Task(collection_id=collection.id, key=key, added_at=at)
    _set(session, task, given)


def change_task(session: Session, slug: str, key: str, changes: Mapping[str, object]) -> None:
    """Change fields of a task, by the names of `TaskFields`; the others stay.

    Raises as `add_task`, `NotFoundError` for an unknown key, and `ConflictError` when the task would lose topics for
    which its runs have lists.
    """
    collection = lock_open_collection(session, slug)
    task = find_task(session, collection.id, key)
    present = _fields(task, topics_of_task(session, task, topic_ids(session, collection.id)))
    given = replace(present, **changes)  # type: ignore[arg-type]  # the names are those of its fields
    if given.topics is not None and given.topics != present.topics:
        _refuse_to_lose_topics(session, task, given.topics)
    _set(session, task, given, keeps_topics=given.topics == present.topics)


def are_scores_released(session: Session, slug: str) -> bool:
    """Whether scores are released, which change with the topics of a task and with the task of a run."""
    return find_collection(session, slug).scores_released_at is not None


def remove_task(session: Session, slug: str, key: str) -> None:
    """Remove a task without runs and questionnaires.

    Raises `NotFoundError` for an unknown key, and `ConflictError` for a task that has any, and in a closed collection.
    """
    collection = lock_open_collection(session, slug)
    task = find_task(session, collection.id, key)
    _, files = runs_by_task(session, collection.id).get(task.id, (0, 0))
    if files:
        raise ConflictError(
            "The task “%(key)s” has runs and cannot be removed. Files of its runs, withdrawn and replaced ones "
            "included: %(files)d.",
            key=key,
            files=files,
        )
    if versions := questionnaires_by_task(session, collection.id).get(task.id):
        raise ConflictError(
            "The task “%(key)s” has a questionnaire of its own and cannot be removed. Versions: %(versions)d.",
            key=key,
            versions=versions,
        )
    replace_task_topics(session, task, ())
    session.delete(task)


def read_topic_numbers(text: str) -> tuple[str, ...]:
    """The numbers of topics in a text, one a line or separated by blanks, each once; they may have commas."""
    return tuple(dict.fromkeys(text.split()))


def topics_in_task(session: Session, slug: str, key: str) -> list[str]:
    """The numbers of the accepted topics of a task; raises `NotFoundError` for an unknown key."""
    collection_id = find_collection(session, slug).id
    task = find_task(session, collection_id, key)
    return sorted(topics_of_task(session, task, topic_ids(session, collection_id, ACCEPTED)), key=natural_order)


def task_rules(
    session: Session,
    collection: Collection,
    topics: Iterable[str],
    wanted: Iterable[str],
) -> dict[str, TaskRules]:
    """Key → the rules for runs of each task, of topics that the sender's runs may have and of those that are wanted."""
    tasks = tasks_of(session, collection.id)
    if not tasks:
        return {}
    ids, chosen = topic_ids(session, collection.id), task_topics(session, collection.id)
    permitted, expected = frozenset(topics), frozenset(wanted)
    found = {}
    for task in tasks:
        own = frozenset(number for number, id_ in ids.items() if task.every_topic or id_ in chosen[task.id])
        found[task.key] = TaskRules(
            key=task.key,
            title=task.title,
            # A topic that is stored with the runs is of every task that has every topic.
            topics=permitted if task.every_topic else permitted & own,
            wanted_topics=expected if task.every_topic else expected & own,
            formats=tuple(task.run_formats),
            most_documents=_most_documents(task, collection),
            most_runs=_most_runs(task, collection),
        )
    return found


def task_of_run(session: Session, run: Run) -> Task | None:
    """The task of a run, None without one."""
    return None if run.task_id is None else session.get_one(Task, run.task_id)


def most_runs_of(session: Session, run: Run) -> tuple[str, int] | None:
    """The key of a run's task and the most runs of a team for it; None without a task."""
    task = task_of_run(session, run)
    if task is None:
        return None
    return task.key, _most_runs(task, session.get_one(Collection, run.collection_id))


def refuse_topics_outside(session: Session, run: Run, key: str) -> set[str]:
    """The numbers of the topics for which a run has lists; `ConflictError` when the task with that key lacks any."""
    task = find_task(session, run.collection_id, key)
    ids = topic_ids(session, run.collection_id)
    own = topics_of_task(session, task, ids)
    of_run = set(session.scalars(select(RankedList.topic_id).where(RankedList.run_id == run.id)))
    listed = {number for number, id_ in ids.items() if id_ in of_run}
    outside = sorted(listed.difference(own), key=natural_order)
    if outside:
        raise ConflictError(
            "The run “%(tag)s” has lists for topics that the task “%(key)s” does not have: %(topics)s.",
            tag=run.tag,
            key=key,
            topics=_named(outside),
        )
    return listed


def _fields(task: Task, own: Iterable[str]) -> TaskFields:
    """The fields of a task that has the topics with these numbers."""
    topics = None if task.every_topic else tuple(sorted(own, key=natural_order))
    return TaskFields(
        task.title, task.description, topics, tuple(task.run_formats), task.most_documents, task.most_runs
    )


def _set(session: Session, task: Task, given: TaskFields, *, keeps_topics: bool = False) -> None:
    """Check the values and write them; those of the topics only where they change."""
    task.title = _checked_title(given.title)
    check_free_text(given.description, LONGEST_DESCRIPTION)
    task.description = given.description.strip()
    task.run_formats = _checked_formats(given.formats)
    _check_limits(given)
    task.most_documents, task.most_runs = given.most_documents, given.most_runs
    ids = None if keeps_topics else _checked_topics(session, task.collection_id, given.topics)
    session.add(task)
    session.flush()
    if not keeps_topics:
        replace_task_topics(session, task, ids)


def _checked_title(given: str) -> str:
    title = " ".join(given.split())
    if not title or not title.isprintable() or len(title) > LONGEST_TITLE:
        raise InvalidValueError("The title of a task has 1 to %(most)d printable characters.", most=LONGEST_TITLE)
    return title


def _checked_formats(given: Sequence[str]) -> list[str]:
    known = FORMAT_NAMES[Holds.RUNS]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidValueError(
            "There is no format %(name)s of %(holds)s; there are %(names)s.",
            name=unknown[0],
            holds=Holds.RUNS.value,
            names=", ".join(known),
        )
    return [name for name in known if name in given]


def _check_limits(given: TaskFields) -> None:
    if given.most_documents is not None and not 1 <= given.most_documents <= GREATEST_MOST_DOCUMENTS:
        raise InvalidValueError(
            "The most documents a topic is a number from 1 to %(most)d, not %(given)d.",
            most=GREATEST_MOST_DOCUMENTS,
            given=given.most_documents,
        )
    if given.most_runs is not None:
        check_team_rules(ANY_TAG, given.most_runs)


def _checked_topics(session: Session, collection_id: int, topics: Sequence[str] | None) -> list[int] | None:
    if topics is None:
        return None
    if not topics:
        raise InvalidValueError("A task has at least one topic. Name its topics, or let it have every topic.")
    ids = topic_ids(session, collection_id)
    unknown = [number for number in topics if number not in ids]
    if unknown:
        raise InvalidValueError("The collection has no such topics: %(topics)s.", topics=_named(unknown))
    return [ids[number] for number in dict.fromkeys(topics)]


def _refuse_to_lose_topics(session: Session, task: Task, topics: Sequence[str]) -> None:
    ids = topic_ids(session, task.collection_id)
    kept = {ids[number] for number in topics if number in ids}
    lost = runs_outside(session, select(Run.id).where(Run.task_id == task.id), kept)
    if lost:
        numbers = {id_: number for number, id_ in ids.items()}
        counted = sorted(((numbers[id_], count) for id_, count in lost.items()), key=lambda one: natural_order(one[0]))
        raise ConflictError(
            "Runs of the task “%(key)s” have lists for topics that it would lose, so that they stay in it. Topics, "
            "each with its number of runs, withdrawn and replaced ones included: %(topics)s.",
            key=task.key,
            topics=_named([f"{number} ({count})" for number, count in counted]),
        )


def _most_documents(task: Task, collection: Collection) -> int:
    return collection.most_documents if task.most_documents is None else task.most_documents


def _most_runs(task: Task, collection: Collection) -> int:
    return collection.most_runs if task.most_runs is None else task.most_runs


def _named(topics: Sequence[str]) -> str:
    return ", ".join(topics[:NAMED_TOPICS]) + (" …" if len(topics) > NAMED_TOPICS else "")
