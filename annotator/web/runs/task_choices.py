"""The task of runs as a field of a form, where the collection has tasks."""

from collections.abc import Mapping

from flask import g
from wtforms import SelectChoice, SelectField

from annotator.web.site.context import database, the_place
from annotator.web.site.language import lazy_gettext
from annotator.workflows.runs import tasks


def tasks_here() -> Mapping[str, str]:
    """Key → title of the tasks of the collection of this request; a form of many rows reads them once."""
    if "tasks_here" not in g:
        g.tasks_here = database().read(tasks.task_titles, the_place().collection.slug)
    found: Mapping[str, str] = g.tasks_here
    return found


def task_field(without: str) -> SelectField:
    """A field for the task; `without` is what is shown for none. The workflow refuses other keys than those there."""

    def choices() -> list[SelectChoice]:
        found = tasks_here()
        return [SelectChoice("", without), *(SelectChoice(key, f"{key}: {title}") for key, title in found.items())]

    return SelectField(lazy_gettext("Task"), choices=choices, default="", validate_choice=False)
