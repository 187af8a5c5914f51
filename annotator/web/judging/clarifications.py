"""Clarifications: organisers write them, and every judge of the topic is shown each once."""

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.storage import Role
from annotator.web.judging.judging_documents import clarification_json
from annotator.web.judging.questions import ClarificationForm, organisers_page
from annotator.web.site import json_answers
from annotator.web.site.access import collection_page
from annotator.web.site.addresses import local_path
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.language import gettext
from annotator.workflows.judging import clarifications

blueprint = Blueprint("clarifications", __name__)
json_answers.install(blueprint, pages=("add", "remove"))

MOST_SEEN = 1_000
GREATEST = 2**31 - 1


@blueprint.get("/collections/<slug>/judge/topics/<path:number>/clarifications.json")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def of_topic(slug: str, number: str) -> ResponseReturnValue:
    """The clarifications of a topic for the judging screen, the newest first."""
    with database().reading() as session:
        rows = clarifications.show_clarifications(session, slug, number, the_person().id)
    return {"clarifications": [clarification_json(row) for row in rows]}


@blueprint.post("/collections/<slug>/judge/topics/<path:number>/clarifications")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def seen(slug: str, number: str) -> ResponseReturnValue:
    """Remember what the judge has seen: a script sends `{"ids": […]}`, a form `id`, and the page it is on as `next`."""
    is_script = json_answers.wants_json()
    numbers = _ids(json_answers.json_body().get("ids")) if is_script else request.form.getlist("id", type=int)
    judge_id = the_person().id
    with database().transaction() as session:
        clarifications.mark_seen(session, slug, number, judge_id, numbers[:MOST_SEEN], seen_at=now())
    if is_script:
        return {"saved": True}
    page = "judging.next_document" if the_place().judges else "adjudicating.next_document"
    return redirect(local_path(request.form.get("next")) or url_for(page, slug=slug, number=number), 303)


@blueprint.post("/collections/<slug>/clarifications")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Add a clarification for all judges of a topic."""
    form = ClarificationForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            clarifications.clarify(
                session,
                slug,
                form.topic.data or "",
                form.text.data or "",
                published_by_id=the_person().id,
                published_at=now(),
            )
            note(session, "clarifications.add", slug, subject=form.topic.data)
    if form.refused:
        return organisers_page(slug, clarification=form), form.status
    flash(gettext("Clarification saved. Every judge of topic %(number)s will see it.", number=form.topic.data))
    return redirect(url_for("questions.show", slug=slug), 303)


@blueprint.post("/collections/<slug>/clarifications/<row:clarification_id>/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str, clarification_id: int) -> ResponseReturnValue:
    """Take a clarification back, or make an answer private again."""
    with database().transaction() as session:
        clarifications.remove(session, slug, clarification_id)
        note(session, "clarifications.remove", slug, subject=clarification_id)
    flash(gettext("Clarification removed. Judges no longer see it."))
    return redirect(url_for("questions.show", slug=slug), 303)


def _ids(value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(one) is int and 0 <= one <= GREATEST for one in value):
        raise InvalidValueError("“%(name)s” must be a list of numbers.", name="ids")
    return value
