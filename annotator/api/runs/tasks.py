"""The tasks of a collection: participants read them, organisers add, change and remove them."""

from collections.abc import Mapping

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.runs.runs import resource
from annotator.api.site.access import ORGANISE, SEE_RUNS
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, whole
from annotator.errors import InvalidValueError
from annotator.web.site.context import database, now, the_place
from annotator.workflows.runs import tasks
from annotator.workflows.runs.tasks import TaskFields, TaskView


class TaskChange(Schema):
    """Fields of a task; those that are left out stay as they are."""

    title = Text(metadata={"description": "The title, in a line."})
    description = Text(metadata={"description": "What is asked, for participants and on public pages."})
    topics = fields.List(
        Text,
        allow_none=True,
        metadata={"description": "The numbers of its topics; null: every topic, those that come later included."},
    )
    formats = fields.List(
        Text, metadata={"description": "The formats in which runs are taken, by name; an empty list: any."}
    )
    most_documents = whole(
        1, allow_none=True, metadata={"description": "The most documents for a topic; null: as the collection."}
    )
    most_runs = whole(
        allow_none=True,
        metadata={
            "description": "The most active runs of a team for the task, in each round; null: as the collection, 0: no "
            "limit."
        },
    )


class NewTask(TaskChange):
    """A task of a collection."""

    key = Text(required=True, metadata={"description": "The name by which runs refer to it; it stays."})
    title = Text(required=True, metadata={"description": "The title, in a line."})


class TaskShown(Schema):
    """A task, to which runs are sent."""

    key = fields.String(required=True, metadata={"description": "The name by which runs refer to it."})
    title = fields.String(required=True, metadata={"description": "The title, in a line."})
    description = fields.String(
        required=True, metadata={"description": "What is asked, for participants and on public pages."}
    )
    topics = fields.List(
        fields.String,
        required=True,
        metadata={"description": "The numbers of the accepted topics that it has."},
    )
    every_topic = fields.Boolean(
        required=True, metadata={"description": "Whether it has every topic, those that come later included."}
    )
    formats = fields.List(
        fields.String,
        required=True,
        metadata={"description": "The formats in which runs are taken; an empty list: any."},
    )
    most_documents = fields.Integer(
        required=True, metadata={"description": "The most documents for a topic: a run with more gets a warning."}
    )
    most_runs = fields.Integer(
        required=True,
        metadata={"description": "The most active runs of a team for the task, in each round; 0: no limit."},
    )
    runs = fields.Integer(metadata={"description": "The number of active runs; only for organisers."})


@operation(resource, "GET", "/collections/<slug>/tasks", SEE_RUNS, Gives(TaskShown, many=True), Takes(pages=True))
def list_tasks(call: Call) -> object:
    """List the tasks to which runs are sent; none in a collection that is a single one."""
    with database().reading() as session:
        return [_shown(one) for one in tasks.list_tasks(session, call.slug)]


@operation(resource, "POST", "/collections/<slug>/tasks", ORGANISE, Gives(TaskShown, 201), Takes(body=NewTask))
def add_task(call: Call) -> object:
    """Add a task; from the first on every new run belongs to one."""
    given = dict(call.body)
    key = given.pop("key")
    with database().transaction() as session:
        tasks.add_task(session, call.slug, key, TaskFields(**_fields(given)), at=now())  # type: ignore[arg-type]  # the schema has its fields
        note(session, "tasks.add", call.slug, subject=key)
    return _of_key(call.slug, key)


@operation(resource, "PATCH", "/collections/<slug>/tasks/<key>", ORGANISE, Gives(TaskShown), Takes(body=TaskChange))
def change_task(call: Call) -> object:
    """Change a task; a topic for which runs of the task have lists stays in it. Other topics change released scores."""
    key, changes = call.path["key"], _fields(call.body)
    if not changes:
        raise InvalidValueError("Name at least one detail to change.")
    with database().transaction() as session:
        tasks.change_task(session, call.slug, key, changes)
        note(session, "tasks.set", call.slug, subject=key, details={"fields": sorted(changes)})
    return _of_key(call.slug, key)


@operation(resource, "DELETE", "/collections/<slug>/tasks/<key>", ORGANISE, Gives(TaskShown))
def remove_task(call: Call) -> object:
    """Remove a task that has neither runs nor a questionnaire."""
    key = call.path["key"]
    removed = _of_key(call.slug, key)
    with database().transaction() as session:
        tasks.remove_task(session, call.slug, key)
        note(session, "tasks.remove", call.slug, subject=key)
    return removed


def _fields(given: Mapping[str, object]) -> dict[str, object]:
    """The values as a task has them: lists are tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def _of_key(slug: str, key: str) -> dict[str, object]:
    return _shown(database().read(tasks.show_task, slug, key))


def _shown(task: TaskView) -> dict[str, object]:
    shown = {
        "key": task.key,
        "title": task.title,
        "description": task.fields.description,
        "topics": list(task.topics),
        "every_topic": task.fields.topics is None,
        "formats": list(task.fields.formats),
        "most_documents": task.most_documents,
        "most_runs": task.most_runs,
    }
    return {**shown, "runs": task.runs} if the_place().organises else shown
