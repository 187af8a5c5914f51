"""A judge's note and marked words for a topic, as JSON and as a page; and all notes, for organisers."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, TextAreaField

from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.web.judging.judging_documents import ENDPOINTS
from annotator.web.site import json_answers
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.judging import judge_desk

blueprint = Blueprint("judge_desk", __name__)
json_answers.install(blueprint, pages=("show", "notes"))

SAVED = {"saved": True}


class DeskForm(Form):
    """The note and the marked words."""

    note = TextAreaField(
        lazy_gettext("Your note"),
        filters=[unix_lines],
        description=lazy_gettext(
            "What you count as relevant in this topic. Organisers can read it, and it is published with the qrels."
        ),
        render_kw={"rows": 8},
    )
    marks = TextAreaField(
        lazy_gettext("Words to be marked"),
        filters=[unix_lines],
        description=lazy_gettext("One word per line; marked in every document of the topic."),
        render_kw={"rows": 5},
    )
    queue = HiddenField()


@blueprint.get("/collections/<slug>/judge/notes/<path:number>")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def show(slug: str, number: str) -> ResponseReturnValue:
    """The judge's note and marked words for a topic; `?queue=adjudication` leads back to adjudicating."""
    return _page(slug, number, None)


@blueprint.post("/collections/<slug>/judge/notes/<path:number>")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def change(slug: str, number: str) -> ResponseReturnValue:
    """Store both, and return to judging or adjudicating the topic."""
    form = DeskForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            judge_desk.save_desk(
                session,
                slug,
                number,
                the_person().id,
                note=form.note.data or "",
                marks=(form.marks.data or "").split("\n"),
                changed_at=now(),
            )
    if form.refused:
        return _page(slug, number, form), form.status
    flash(gettext("Your note on topic %(number)s is saved.", number=number))
    onward, _ = ENDPOINTS[_queue_of(form)]
    return redirect(url_for(f"{onward}.next_document", slug=slug, number=number), 303)


@blueprint.post("/collections/<slug>/judge/topics/<path:number>/note")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def save_note(slug: str, number: str) -> ResponseReturnValue:
    """Store the note sent by a script: `{"text"}`."""
    text = json_answers.text_in(json_answers.json_body(), "text")
    judge_id = the_person().id
    database().attempt(lambda session: judge_desk.save_note(session, slug, number, judge_id, text, changed_at=now()))
    return SAVED


@blueprint.post("/collections/<slug>/judge/topics/<path:number>/marks")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def save_marks(slug: str, number: str) -> ResponseReturnValue:
    """Store the marked words sent by a script: `{"words": […]}`."""
    words = json_answers.texts_in(json_answers.json_body(), "words")
    judge_id = the_person().id
    database().attempt(lambda session: judge_desk.save_marks(session, slug, number, judge_id, words))
    return SAVED


@blueprint.get("/collections/<slug>/notes")
@collection_page(Role.ORGANISER)
def notes(slug: str) -> ResponseReturnValue:
    """The judges' notes on relevance, by topic."""
    with database().reading() as session:
        rows = judge_desk.list_notes(session, slug)
    return render_template("judging/questions/notes.html", rows=rows)


def _page(slug: str, number: str, form: DeskForm | None) -> str:
    with database().reading() as session:
        desk = judge_desk.show_desk(session, slug, number, the_person().id)
    asked = request.args.get("queue", "")
    given = form or DeskForm(formdata=None, note=desk.note, marks="\n".join(desk.marks), queue=asked)
    queue = _queue_of(given)
    return render_template(
        "judging/questions/desk.html", desk=desk, form=given, queue=queue.value, pages=ENDPOINTS[queue][0]
    )


def _queue_of(form: DeskForm) -> Queue:
    """The queue from which the page was opened; a person may both judge and adjudicate."""
    place = the_place()
    if place.judges and place.adjudicates:
        return Queue.ADJUDICATION if form.queue.data == Queue.ADJUDICATION else Queue.JUDGING
    return Queue.JUDGING if place.judges else Queue.ADJUDICATION
