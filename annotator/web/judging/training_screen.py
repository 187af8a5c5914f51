"""A document of the training on the judging screen, and its parts for the script."""

from typing import Any

from flask import Blueprint, make_response, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf
from wtforms import IntegerField, SelectField, TextAreaField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.storage import CannotJudge
from annotator.web.judging import judging_protocol
from annotator.web.judging.judging import GREATEST_GRADE, part_of, reason_choices
from annotator.web.judging.judging_documents import document_json, scale_json, topic_json
from annotator.web.judging.judging_protocol import for_judges, one_part
from annotator.web.site.context import database, the_person
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.language import lazy_gettext
from annotator.workflows.judging import judge_desk, training_attempts
from annotator.workflows.judging.act_decisions import LONGEST_NOTE
from annotator.workflows.judging.judge_access import JudgeHere
from annotator.workflows.judging.judge_desk import Beside
from annotator.workflows.judging.training_attempts import Feedback, TrainingTask

blueprint = Blueprint("training_protocol", __name__)

MOST_ROWS = 999_999_999


class TrainingAnswerForm(Form):
    """A grade for a document of the training, or a reason why there is none; the note is practice and not stored."""

    item = IntegerField(validators=[InputRequired(), NumberRange(0, MOST_ROWS)])
    grade = IntegerField(
        validators=[Optional(), NumberRange(0, GREATEST_GRADE, lazy_gettext("This is not a grade of the scale."))]
    )
    cannot_judge = SelectField(validators=[Optional()], choices=reason_choices)
    note = TextAreaField(lazy_gettext("Note"), filters=[unix_lines], render_kw={"rows": 3, "maxlength": LONGEST_NOTE})

    @property
    def reason(self) -> CannotJudge | None:
        """The chosen reason."""
        return CannotJudge(self.cannot_judge.data) if self.cannot_judge.data else None


@blueprint.get("/collections/<slug>/training/<row:attempt>/<row:position>/parts/<row:part>")
@for_judges
def document_part(judge: JudgeHere, slug: str, attempt: int, position: int, part: int) -> ResponseReturnValue:
    """One part of a training document that the judge has answered or is to answer, counted from 1."""
    with database().reading() as session:
        shown = training_attempts.shown_document(session, slug, judge.id, attempt, position)
    return one_part(shown, part)


judging_protocol.install(blueprint)


def training_screen(
    slug: str, task: TrainingTask, form: TrainingAnswerForm, feedback: Feedback | None = None
) -> ResponseReturnValue:
    """A training document with its topic; `feedback` after the judge's answer."""
    with database().reading() as session:
        beside = judge_desk.show_beside(session, slug, task.topic_number, the_person().id)
    page = render_template(
        "judging/training/task.html",
        task=task,
        feedback=feedback,
        form=form,
        guidelines=beside.guidelines,
        batch=_batch_json(slug, task, beside),
        part=part_of(task.document),
    )
    return make_response(page, form.status if form.refused else 200)


def _batch_json(slug: str, task: TrainingTask, beside: Beside) -> dict[str, Any]:
    """The initial data of the screen, by the names of the judging screen's."""
    number = task.topic_number
    return {
        "person": the_person().id,
        "csrf": generate_csrf(),
        "urls": {
            "session": url_for("judging_protocol.session_now", slug=slug),
            "assignments": url_for("training.feedback", slug=slug, attempt=task.attempt, position=0).removesuffix("0"),
            "page": url_for("judging.next_document", slug=slug, number=number),
            "topics": url_for("judging.topics", slug=slug),
            "note": url_for("judge_desk.save_note", slug=slug, number=number),
            "marks": url_for("judge_desk.save_marks", slug=slug, number=number),
            "questions": url_for("questions.own", slug=slug),
            "read": url_for("questions.read", slug=slug),
        },
        "topic": topic_json(task, beside),
        "scale": scale_json(),
        "documents": [document_json(task.document)],
        "note": beside.note,
        "marks": list(beside.marks),
        "answers": beside.answers,
    }
