"""Questions: judges ask from the judging screen, organisers answer, and judges are shown the answers."""

from uuid import uuid4

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, IntegerField, StringField, TextAreaField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage import Role, TopicState
from annotator.web.site import json_answers
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.judging import clarifications, questions
from annotator.workflows.judging.questions import About, QuestionRow
from annotator.workflows.topics import topics

blueprint = Blueprint("questions", __name__)
json_answers.install(blueprint, pages=("ask", "show"))

MOST_ROWS = 999_999_999


class QuestionForm(Form):
    """A question, with its topic and assignment."""

    text = TextAreaField(lazy_gettext("Your question"), [InputRequired()], filters=[unix_lines], render_kw={"rows": 5})
    topic = HiddenField()
    assignment = IntegerField(validators=[Optional(), NumberRange(0, MOST_ROWS)])
    client_id = HiddenField(validators=[InputRequired()])


class AnswerForm(Form):
    """An answer to a question."""

    question = IntegerField(validators=[InputRequired(), NumberRange(0, MOST_ROWS)])
    public = BooleanField(lazy_gettext("Show question and answer to all judges of the topic"))
    answer = TextAreaField(lazy_gettext("Answer"), [InputRequired()], filters=[unix_lines], render_kw={"rows": 3})
    seen = StringField()


class ClarificationForm(Form):
    """A clarification for all judges of a topic."""

    topic = StringField(lazy_gettext("Topic"), [InputRequired()])
    text = TextAreaField(lazy_gettext("Clarification"), [InputRequired()], filters=[unix_lines], render_kw={"rows": 4})


@blueprint.get("/collections/<slug>/judge/questions")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def own(slug: str) -> ResponseReturnValue:
    """The judge's own questions and answers; opening the page marks answers as read, a script marks them itself."""
    judge_id = the_person().id
    with database().reading() as session:
        rows = questions.own_questions(session, slug, judge_id)
    if json_answers.wants_json():
        return {"questions": [_as_json(row) for row in rows]}
    new = [row.client_id for row in rows if row.is_new]
    if new:
        with database().transaction() as session:
            questions.read_answers(session, slug, judge_id, read_at=now(), client_ids=new)
    return render_template("judging/questions/own.html", rows=rows)


@blueprint.get("/collections/<slug>/judge/questions/new")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def ask(slug: str) -> ResponseReturnValue:
    """The form for a question about `?topic=`, the document of `?assignment=`, or in general."""
    assignment = request.args.get("assignment", type=int)
    if assignment is not None and not 0 <= assignment <= MOST_ROWS:
        raise NotFoundError("You have no such assignment.")
    form = QuestionForm(
        formdata=None, topic=request.args.get("topic", ""), assignment=assignment, client_id=uuid4().hex
    )
    return _form_page(slug, form)


@blueprint.post("/collections/<slug>/judge/questions")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def send(slug: str) -> ResponseReturnValue:
    """Store a question; a script sends `{"id", "text", "topic", "assignment"}`, the last two optional."""
    if json_answers.wants_json():
        return _send_json(slug, json_answers.json_body())
    form = QuestionForm()
    if form.validate():
        with form.guard():
            _ask(slug, form.text.data, form.client_id.data, form.topic.data or None, form.assignment.data)
    if form.refused:
        return _form_page(slug, form)
    flash(gettext("Question sent. The answer will appear here."))
    return redirect(url_for(".own", slug=slug), 303)


@blueprint.post("/collections/<slug>/judge/questions/read")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def read(slug: str) -> ResponseReturnValue:
    """Mark the answers as read, to all questions or those of `{"ids": […]}`."""
    body = json_answers.json_body()
    ids = json_answers.texts_in(body, "ids") if "ids" in body else None
    with database().transaction() as session:
        questions.read_answers(session, slug, the_person().id, read_at=now(), client_ids=ids)
    return {"saved": True}


@blueprint.get("/collections/<slug>/questions")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The questions of judges and participants, unanswered ones first."""
    return organisers_page(slug)


@blueprint.post("/collections/<slug>/questions")
@collection_page(Role.ORGANISER)
def answer(slug: str) -> ResponseReturnValue:
    """Answer a question, or change an answer."""
    form = AnswerForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            questions.answer(
                session,
                slug,
                form.question.data,
                form.answer.data,
                answered_by_id=the_person().id,
                answered_at=now(),
                public=form.public.data,
                seen=form.seen.data or None,
            )
            details = {"public": form.public.data}
            note(session, "questions.answer", slug, subject=form.question.data, details=details)
    if form.refused:
        return organisers_page(slug, form), form.status
    if form.public.data:
        flash(gettext("Answer saved. It is shown without the name of the person who asked."))
    else:
        flash(gettext("Answer saved. The person who asked will see it."))
    return redirect(url_for(".show", slug=slug), 303)


def _ask(slug: str, text: str, client_id: str, topic: str | None, assignment_id: int | None) -> None:
    judge_id = the_person().id
    database().attempt(
        lambda session: questions.ask(
            session,
            slug,
            judge_id,
            text,
            client_id=client_id,
            asked_at=now(),
            topic=topic,
            assignment_id=assignment_id,
        )
    )


def _send_json(slug: str, body: dict[str, object]) -> ResponseReturnValue:
    topic = json_answers.text_in(body, "topic") if body.get("topic") is not None else None
    assignment = body.get("assignment")
    if assignment is not None and (not isinstance(assignment, int) or not 0 <= assignment <= MOST_ROWS):
        raise InvalidValueError("“%(name)s” must be the number of an assignment.", name="assignment")
    _ask(slug, json_answers.text_in(body, "text"), json_answers.text_in(body, "id"), topic, assignment)
    return {"saved": True}


def _as_json(row: QuestionRow) -> dict[str, object]:
    return {
        "id": row.client_id,
        "text": row.text,
        "topic": row.topic,
        "docno": row.docno,
        "asked_at": row.asked_at.isoformat(),
        "answer": row.answer,
        "answered_at": row.answered_at.isoformat() if row.answered_at else None,
        "new": row.is_new,
    }


def _form_page(slug: str, form: QuestionForm) -> ResponseReturnValue:
    try:
        about = _about(slug, form)
    except NotFoundError as refusal:
        if not form.refused:
            raise
        # The text is kept, and can be sent without topic and assignment.
        form.refusal, form.assignment.data, about = refusal, None, About()
    page = render_template("judging/questions/ask.html", about=about, form=form)
    return (page, form.status) if form.refused else page


def _about(slug: str, form: QuestionForm) -> About:
    if form.assignment.errors:
        raise NotFoundError("You have no such assignment.")
    with database().reading() as session:
        return questions.ask_about(session, slug, the_person().id, form.topic.data or None, form.assignment.data)


def organisers_page(slug: str, form: AnswerForm | None = None, clarification: ClarificationForm | None = None) -> str:
    """The questions and clarifications of a collection, with a form that was refused."""
    with database().reading() as session:
        rows = questions.list_questions(session, slug)
        told = clarifications.list_clarifications(session, slug)
        offered = [row for row in topics.list_topics(session, slug) if row.state != TopicState.DRAFT]
    return render_template(
        "judging/questions/list.html",
        rows=rows,
        clarifications=told,
        topics=offered,
        form=form or AnswerForm(formdata=None),
        clarification=clarification or ClarificationForm(formdata=None),
    )
