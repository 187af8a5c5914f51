"""Gold questions: documents of known grade, and how judges answered them. Never shown to judges."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import SelectChoice, SelectField, StringField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings, the_person, the_place
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.judging import gold_questions
from annotator.workflows.judging.gold_questions import StoredQuestions

blueprint = Blueprint("gold_questions", __name__)

NO_COMPLETION = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


def grade_choices() -> list[SelectChoice]:
    """The grades of the scale."""
    return [SelectChoice(str(grade.value), f"{grade.value} {grade.name}") for grade in the_place().collection.scale]


class QuestionForm(Form):
    """A document with its correct grade."""

    topic = StringField(lazy_gettext("Topic number"), [InputRequired()], render_kw=NO_COMPLETION)
    docno = StringField(
        lazy_gettext("Document id"),
        [InputRequired()],
        description=lazy_gettext("The document needs a text. A document outside the pool is added to it."),
        render_kw=NO_COMPLETION,
    )
    grade = SelectField(lazy_gettext("Correct grade"), [InputRequired()], choices=grade_choices)


class QuestionsForm(Form):
    """A file of gold questions."""

    file = FileField(
        lazy_gettext("File of gold questions"),
        [FileRequired()],
        description=lazy_gettext("Lines of topic, tab, document id, tab, grade; also gzipped."),
    )


class RemovalForm(Form):
    """The document that is no longer to be a gold question."""

    topic = StringField(validators=[InputRequired()])
    docno = StringField(validators=[InputRequired()])


@blueprint.get("/collections/<slug>/gold-questions")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The gold questions with the distribution of grades, and each judge's results."""
    return _page(slug, QuestionForm(), QuestionsForm())


@blueprint.post("/collections/<slug>/gold-questions")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Make one document a gold question."""
    form = QuestionForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            topic, docno = form.topic.data.strip(), form.docno.data.strip()
            stored = gold_questions.add_question(
                session, slug, topic, docno, int(form.grade.data), added_by_id=the_person().id, added_at=now()
            )
            note(session, "test-questions.add", slug, subject=topic, details=vars(stored))
    if form.refused:
        return _page(slug, form, QuestionsForm(formdata=None)), form.status
    flash(_outcome(stored))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.post("/collections/<slug>/gold-questions/file")
@collection_page(Role.ORGANISER)
def import_file(slug: str) -> ResponseReturnValue:
    """Import gold questions from a file."""
    form = QuestionsForm()
    if form.validate():
        with form.guard():
            with database().reading() as session:
                checked = gold_questions.check_questions(
                    session, slug, input_files([form.file.data])[0], unpacked_limit=settings().unpacked_limit
                )
            with database().transaction() as session:
                stored = gold_questions.store_questions(
                    session, slug, checked, added_by_id=the_person().id, added_at=now()
                )
                note(session, "test-questions.import", slug, subject=form.file.data.filename, details=vars(stored))
    if form.refused:
        return _page(slug, QuestionForm(formdata=None), form), form.status
    flash(_outcome(stored))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.post("/collections/<slug>/gold-questions/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Remove a gold question; its document remains in the pool."""
    form = RemovalForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            gold_questions.remove_questions(session, slug, [(form.topic.data, form.docno.data)])
            note(session, "test-questions.remove", slug, subject=form.topic.data)
    if form.refused:
        blank = QuestionForm(formdata=None)
        blank.refusal = form.refusal
        return _page(slug, blank, QuestionsForm(formdata=None)), form.status
    flash(gettext("It is no gold question any more. It stays in the pool, with its judgements."))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: QuestionForm, file_form: QuestionsForm) -> str:
    with database().reading() as session:
        answers = gold_questions.show_answers(session, slug)
    return render_template("judging/gold_questions.html", answers=answers, form=form, file_form=file_form)


def _outcome(stored: StoredQuestions) -> str:
    return gettext(
        "Gold questions added: %(added)d, changed: %(changed)d, known already: %(known)d. "
        "Documents added to the pool: %(pooled)d.",
        added=stored.added,
        changed=stored.changed,
        known=stored.known,
        pooled=stored.pooled,
    )
