"""The training of judges: judges complete it, organisers set it up and see the results."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField
from wtforms.validators import NumberRange, Optional

from annotator.storage import Role
from annotator.web.judging.training_screen import TrainingAnswerForm, training_screen
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.forms import Form, WholeNumberField
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.judging import training, training_attempts

blueprint = Blueprint("training", __name__)


class TrainingFileForm(Form):
    """A file of training documents."""

    file = FileField(
        lazy_gettext("File of documents with their grades"),
        [FileRequired()],
        description=lazy_gettext("Lines of topic, tab, docno, tab, correct grade, tab, reason."),
    )


class RulesForm(Form):
    """The pass mark, and the number of documents of an attempt."""

    mark = WholeNumberField(
        lazy_gettext("Pass mark"),
        [Optional(), NumberRange(0, 100, lazy_gettext("A percentage from 0 to 100."))],
        description=lazy_gettext(
            "Percentage of correct answers required before a judge gets documents. Empty: the training is optional."
        ),
        render_kw={"min": 0, "max": 100},
    )
    size = WholeNumberField(
        lazy_gettext("Documents per attempt"),
        [Optional(), NumberRange(1, training.MOST_IN_AN_ATTEMPT)],
        description=lazy_gettext(
            "Each attempt draws so many of the documents, others than before as long as there are any. Empty: every "
            "attempt has all documents, from the second attempt on in another order."
        ),
        render_kw={"min": 1, "max": training.MOST_IN_AN_ATTEMPT},
    )


class ClearingForm(Form):
    """Whether judges' answers are deleted, too."""

    with_answers = BooleanField(lazy_gettext("Delete the answers and results of the judges, too"))


@blueprint.get("/collections/<slug>/training")
@collection_page(Role.JUDGE)
def show(slug: str) -> ResponseReturnValue:
    """The judge's progress, and the next step."""
    with database().reading() as session:
        state = training_attempts.training_of(session, slug, the_person().id)
    return render_template("judging/training/show.html", state=state)


@blueprint.get("/collections/<slug>/training/<row:attempt>")
@collection_page(Role.JUDGE)
def task(slug: str, attempt: int) -> ResponseReturnValue:
    """The next document of an attempt, or its result when there is none."""
    return _task_page(slug, attempt, TrainingAnswerForm(formdata=None))


@blueprint.post("/collections/<slug>/training/<row:attempt>")
@collection_page(Role.JUDGE)
def answer(slug: str, attempt: int) -> ResponseReturnValue:
    """Store an answer and show the correct grade."""
    form = TrainingAnswerForm()
    if form.validate():
        with form.guard():
            judge_id, item, grade, reason = the_person().id, form.item.data, form.grade.data, form.reason
            position = database().attempt(
                lambda session: training_attempts.answer_item(
                    session, slug, judge_id, attempt, item, grade, cannot_judge=reason, answered_at=now()
                )
            )
    if form.refused:
        return _task_page(slug, attempt, form)
    return redirect(url_for(".feedback", slug=slug, attempt=attempt, position=position), 303)


@blueprint.get("/collections/<slug>/training/<row:attempt>/<row:position>")
@collection_page(Role.JUDGE)
def feedback(slug: str, attempt: int, position: int) -> ResponseReturnValue:
    """The judge's answer for a document, the correct grade, and the explanation."""
    with database().reading() as session:
        given = training_attempts.feedback_on(session, slug, the_person().id, attempt, position)
    return training_screen(slug, given.task, TrainingAnswerForm(formdata=None), given)


@blueprint.get("/collections/<slug>/training/set-up")
@collection_page(Role.ORGANISER)
def set_up(slug: str) -> ResponseReturnValue:
    """The training documents, the pass mark and the judges' results."""
    return _organisers_page(slug, TrainingFileForm(formdata=None))


@blueprint.post("/collections/<slug>/training/set-up")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Import training documents."""
    form = TrainingFileForm()
    if form.validate():
        with form.guard():
            file = input_files([form.file.data])[0]
            with database().reading() as session:
                checked = training.check_training(session, slug, file, unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                count = training.store_training(session, slug, checked)
                note(session, "training.import", slug, subject=file.name, details={"documents": count})
    if form.refused:
        return _organisers_page(slug, form), form.status
    flash(gettext("Documents added to the training: %(count)d.", count=count))
    return redirect(url_for(".set_up", slug=slug), 303)


@blueprint.post("/collections/<slug>/training/pass-mark")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Set or remove the pass mark and the number of documents of an attempt."""
    form = RulesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            training.set_rules(session, slug, form.mark.data, form.size.data)
            details = {"percent": form.mark.data, "documents": form.size.data}
            note(session, "training.pass-mark", slug, details=details)
    if form.refused:
        return _organisers_page(slug, TrainingFileForm(formdata=None), rules=form), form.status
    flash(gettext("Rules of the training saved."))
    return redirect(url_for(".set_up", slug=slug), 303)


@blueprint.post("/collections/<slug>/training/clear")
@collection_page(Role.ORGANISER)
def clear(slug: str) -> ResponseReturnValue:
    """Remove all training documents."""
    form = ClearingForm()
    with form.guard(), database().transaction() as session:
        count = training.clear_training(session, slug, with_answers=form.with_answers.data)
        note(session, "training.clear", slug, details={"documents": count, "answers": form.with_answers.data})
    if form.refused:
        return _organisers_page(slug, TrainingFileForm(formdata=None), clearing=form), form.status
    flash(gettext("Documents taken out of the training: %(count)d.", count=count))
    return redirect(url_for(".set_up", slug=slug), 303)


def _task_page(slug: str, attempt: int, form: TrainingAnswerForm) -> ResponseReturnValue:
    with database().reading() as session:
        following = training_attempts.next_of_attempt(session, slug, the_person().id, attempt)
    if following is None:
        return redirect(url_for(".show", slug=slug), 303)
    return training_screen(slug, following, form)


def _organisers_page(
    slug: str, form: TrainingFileForm, *, rules: RulesForm | None = None, clearing: ClearingForm | None = None
) -> str:
    with database().reading() as session:
        shown = training.show_training(session, slug)
        results = training.training_results(session, slug)
    return render_template(
        "judging/training/set_up.html",
        training=shown,
        results=results,
        form=form,
        rules=rules or RulesForm(formdata=None, mark=shown.pass_mark, size=shown.size),
        clearing=clearing or ClearingForm(formdata=None),
    )
