"""The tasks of a collection: organisers add, change and remove them; participants take the numbers of their topics."""

from collections.abc import Mapping

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectChoice, SelectMultipleField, StringField, TextAreaField
from wtforms.validators import InputRequired, Optional
from wtforms.widgets import CheckboxInput, ListWidget

from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.formats.registry import FORMATS
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now
from annotator.web.site.downloads import PLAIN, download
from annotator.web.site.forms import Form, WholeNumberField, confirmation, done, is_confirmed, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.runs import run_sources, tasks
from annotator.workflows.runs.tasks import (
    KEY,
    LONGEST_DESCRIPTION,
    LONGEST_TITLE,
    TaskFields,
    TaskView,
    read_topic_numbers,
)

blueprint = Blueprint("tasks", __name__)

PLAIN_TEXT = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


def format_choices() -> list[SelectChoice]:
    """The formats of runs, by their titles."""
    return [SelectChoice(one.name, gettext(one.title)) for one in FORMATS[Holds.RUNS]]


class TaskForm(Form):
    """What organisers say of a task."""

    title = StringField(
        lazy_gettext("Title"), [InputRequired()], render_kw={"maxlength": LONGEST_TITLE, "autocomplete": "off"}
    )
    description = TextAreaField(
        lazy_gettext("Description"),
        filters=[unix_lines],
        description=lazy_gettext("What is asked, for participants and on public pages."),
        render_kw={"rows": 3, "maxlength": LONGEST_DESCRIPTION},
    )
    every_topic = BooleanField(
        lazy_gettext("Every topic of the collection"),
        default=True,
        description=lazy_gettext("Also those that come later. Otherwise the task has the topics below."),
    )
    topics = TextAreaField(
        lazy_gettext("Topics"),
        filters=[unix_lines],
        description=lazy_gettext("Their numbers, one a line or with blanks between them. Tasks may share topics."),
        render_kw={**PLAIN_TEXT, "rows": 4},
    )
    formats = SelectMultipleField(
        lazy_gettext("Formats of runs"),
        choices=format_choices,
        description=lazy_gettext("In which runs are taken; none ticked: any."),
        widget=ListWidget(prefix_label=False),
        option_widget=CheckboxInput(),
    )
    most_documents = WholeNumberField(
        lazy_gettext("Most documents for a topic"),
        [Optional()],
        description=lazy_gettext("Empty: as the collection. A run with more gets a warning."),
    )
    most_runs = WholeNumberField(
        lazy_gettext("Most active runs of a team"),
        [Optional()],
        description=lazy_gettext("For this task, in each round. Empty: as the collection; 0: no limit."),
    )

    def fields(self) -> TaskFields:
        """The values as entered."""
        return TaskFields(
            self.title.data or "",
            self.description.data or "",
            None if self.every_topic.data else read_topic_numbers(self.topics.data or ""),
            tuple(self.formats.data or ()),
            self.most_documents.data,
            self.most_runs.data,
        )


class NewTaskForm(TaskForm):
    """A task with its key."""

    key = StringField(
        lazy_gettext("Key"),
        [InputRequired()],
        description=lazy_gettext("The name in commands and files: small letters, digits, “-” and “_”. It stays."),
        render_kw={**PLAIN_TEXT, "pattern": KEY.pattern},
    )


@blueprint.get("/collections/<slug>/tasks")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every task with its topics and limits, and the form for a new one."""
    return _page(slug, NewTaskForm(formdata=None))


@blueprint.post("/collections/<slug>/tasks")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Add a task."""
    form = NewTaskForm()
    if form.validate():
        key = form.key.data.strip()
        with form.guard(), database().transaction() as session:
            tasks.add_task(session, slug, key, form.fields(), at=now())
            note(session, "tasks.add", slug, subject=key)
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("Task %(key)s added.", key=key), ".show", slug=slug)


@blueprint.get("/collections/<slug>/tasks/<key>")
@collection_page(Role.ORGANISER)
def edit(slug: str, key: str) -> ResponseReturnValue:
    """The form of one task."""
    task = database().read(tasks.show_task, slug, key)
    given = {**vars(task.fields), "every_topic": task.fields.topics is None}
    given["topics"] = "\n".join(task.fields.topics or ())
    return _task_page(task, TaskForm(formdata=None, data=given))


@blueprint.post("/collections/<slug>/tasks/<key>")
@collection_page(Role.ORGANISER)
def change(slug: str, key: str) -> ResponseReturnValue:
    """Change a task, after confirmation where that changes released scores."""
    form = TaskForm()
    task = database().read(tasks.show_task, slug, key)
    is_asked = False
    if form.validate():
        changes = _changes(task.fields, form.fields())
        is_asked = "topics" in changes and not is_confirmed() and database().read(tasks.are_scores_released, slug)
        with form.guard(), database().transaction(keep=not is_asked) as session:
            tasks.change_task(session, slug, key, changes)
            if changes:
                note(session, "tasks.set", slug, subject=key, details={"fields": sorted(changes)})
    if form.refused:
        return _task_page(task, form), form.status
    if is_asked:
        return confirmation(
            gettext("Change the topics of the task %(key)s?", key=key),
            notes=[gettext("Scores are released. They change at once: runs of the task are scored on other topics.")],
            button=gettext("Save the task"),
            back=url_for(".edit", slug=slug, key=key),
        )
    return done(gettext("Task %(key)s saved.", key=key), ".show", slug=slug)


@blueprint.post("/collections/<slug>/tasks/<key>/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str, key: str) -> ResponseReturnValue:
    """Remove a task without runs and questionnaires, after confirmation."""
    confirmed = is_confirmed()
    with database().transaction(keep=confirmed) as session:
        tasks.remove_task(session, slug, key)
        note(session, "tasks.remove", slug, subject=key)
    if not confirmed:
        sources = database().read(run_sources.sources_of_task, slug, key)
        notes = [gettext("It has no runs and no questionnaire of its own. Its topics stay in the collection.")]
        if sources:
            names = ", ".join(sources)
            notes.append(gettext("Sources that bring no run until you choose another task: %(names)s.", names=names))
        return confirmation(
            gettext("Remove the task %(key)s?", key=key),
            notes=notes,
            button=gettext("Remove"),
            back=url_for(".show", slug=slug),
            destroys=True,
        )
    return done(gettext("Task %(key)s removed.", key=key), ".show", slug=slug)


@blueprint.get("/collections/<slug>/tasks/<key>/topics.txt")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def topic_numbers(slug: str, key: str) -> ResponseReturnValue:
    """The numbers of the accepted topics of a task, one a line."""
    numbers = database().read(tasks.topics_in_task, slug, key)
    return download("".join(f"{number}\n" for number in numbers), f"{slug}-{key}-topics.txt", PLAIN)


def _changes(present: TaskFields, given: TaskFields) -> Mapping[str, object]:
    """The fields that differ, by name; a browser sends line ends and the order of topics in its own way."""
    changes = {name: value for name, value in vars(given).items() if value != getattr(present, name)}
    if given.topics is not None and present.topics is not None and set(given.topics) == set(present.topics):
        changes.pop("topics", None)
    return changes


def _page(slug: str, form: NewTaskForm) -> str:
    return render_template("runs/tasks/list.html", tasks=database().read(tasks.list_tasks, slug), form=form)


def _task_page(task: TaskView, form: TaskForm) -> str:
    return render_template("runs/tasks/one.html", task=task, form=form)
