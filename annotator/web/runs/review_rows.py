"""The rows of checked run files: as they are kept, and as a form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import render_template
from wtforms import BooleanField, Form, IntegerField, SelectField, StringField
from wtforms.validators import InputRequired, Optional

from annotator.errors import Problem, Sentence
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.web.runs.cost_forms import CostsForm
from annotator.web.runs.questionnaire_forms import AnswersForm
from annotator.web.runs.task_choices import task_field
from annotator.web.site.forms import Form as PageForm
from annotator.web.site.labels import RUN_TYPES
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say
from annotator.workflows.runs.run_files import RunEntry
from annotator.workflows.runs.upload_review import Review, ReviewRow


class RowForm(Form):  # type: ignore[misc]  # wtforms ships no types
    """What an organiser or participant can change of one file."""

    use = BooleanField(lazy_gettext("Store"))
    tag = StringField(lazy_gettext("Tag"), [InputRequired(lazy_gettext("A run needs a tag."))])
    team = StringField(lazy_gettext("Team"))
    task = task_field(lazy_gettext("none"))
    run_type = SelectField(lazy_gettext("Type"), choices=lambda: list(RUN_TYPES.items()))
    priority = IntegerField(lazy_gettext("Priority"), [Optional()])
    description = StringField(lazy_gettext("Description"))


@dataclass(frozen=True)
class CheckedRow:
    """One file as it was checked, and its fields."""

    kept: Mapping[str, Any]
    form: RowForm

    @property
    def entry(self) -> RunEntry | None:
        """What is given for the file; None when it is left out. The tag in the file need not be given."""
        if not self.form.use.data:
            return None
        tag = (self.form.tag.data or "").strip()
        details = RunDetails(
            (self.form.team.data or "").strip() or None,
            self.form.description.data or None,
            RunType(self.form.run_type.data) or None,
            self.form.priority.data,
            task=self.form.task.data or None,
        )
        return RunEntry(None if tag == self.kept["own_tag"] else tag, details)


def as_kept(review: Review, summary: Sentence | None) -> dict[str, Any]:
    """The rows and problems in JSON, with their sentences in the language of this request."""
    return {
        "summary": say(summary) if summary else "",
        "groups": [_group(problems) for problems in review.groups],
        "rows": [_row(row) for row in review.rows],
    }


def checked_rows(kept: Sequence[Mapping[str, Any]], formdata: Any = None) -> list[CheckedRow]:  # noqa: ANN401 - wtforms
    """The rows with what was entered, or with what was found in the files and their metadata."""
    return [
        CheckedRow(row, RowForm(formdata, prefix=f"{number}-", data={**row["details"], "tag": row["tag"], "use": True}))
        for number, row in enumerate(kept)
    ]


def _row(row: ReviewRow) -> dict[str, object]:
    details = row.details
    return {
        "file": row.file,
        "own_tag": row.own_tag,
        "tag": row.tag,
        "details": {
            "team": details.team or "",
            "task": row.task or details.task or "",
            "run_type": details.run_type or "",
            "priority": details.priority,
            "description": details.description or "",
        },
        "read_as": say(row.read_as),
        "topics": row.topics,
        "retrieved": row.retrieved,
        "corrects": row.corrects,
        "warnings": [say(warning) for warning in row.warnings],
        "problems": _sentences(row.problems),
        "same_as": list(row.same_as),
    }


def _group(problems: Sequence[Problem]) -> dict[str, object]:
    """Problems of several files that read alike: where the first is, its sentence, and the other files."""
    first = problems[0]
    return {
        "where": first.file if first.line is None else f"{first.file}:{first.line}",
        "sentence": _with_repeats(first),
        "files": len(problems),
        "others": [problem.file for problem in problems[1:]],
    }


def _sentences(problems: Sequence[Problem]) -> list[str]:
    """Each problem with its line and the other lines that have it."""
    return [
        _with_repeats(problem)
        if problem.line is None
        else gettext("Line %(line)d: %(problem)s", line=problem.line, problem=_with_repeats(problem))
        for problem in problems
    ]


def _with_repeats(problem: Problem) -> str:
    sentence = say(problem.sentence)
    return f"{sentence} {say(problem.repeats)}" if problem.repeats else sentence


def review_page(
    kept_id: int,
    answer: Mapping[str, Any],
    form: PageForm,
    stated: CostsForm,
    answered: AnswersForm,
    rows: Sequence[CheckedRow],
) -> str:
    """The page of checked files: what was found in each, and the fields that can be changed."""
    return render_template(
        "runs/review.html", kept_id=kept_id, answer=answer, form=form, stated=stated, answered=answered, rows=rows
    )
