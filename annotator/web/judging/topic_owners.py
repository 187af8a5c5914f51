"""Assigning topics to judges: by hand, or distributed evenly after a preview."""

from collections.abc import Mapping

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now
from annotator.web.site.error_pages import status_of
from annotator.web.site.language import gettext
from annotator.workflows.judging import taking_along, topic_owners
from annotator.workflows.judging.topic_owners import AssigningPlan

blueprint = Blueprint("assigning", __name__)

# The choice of no judge; no account has an empty name.
NOBODY = ""


@blueprint.get("/collections/<slug>/assigning")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The topics with their judges, and the judges with their remaining work."""
    return _page(slug)


@blueprint.get("/collections/<slug>/assigning/balance")
@collection_page(Role.ORGANISER)
def preview(slug: str) -> ResponseReturnValue:
    """A preview of distributing topics evenly: `?judge=jo&judge=kim&all=1`."""
    try:
        with database().reading() as session:
            plan = topic_owners.plan_balance(
                session, slug, request.args.getlist("judge"), reassign=request.args.get("all") == "1"
            )
    except AnnotatorError as refusal:
        return _page(slug, refusal=refusal), status_of(refusal)
    return _page(slug, plan)


@blueprint.post("/collections/<slug>/assigning")
@collection_page(Role.ORGANISER)
def assign(slug: str) -> ResponseReturnValue:
    """Assign the selected topics to one judge, or the topics of a preview to the judges given there."""
    owners = _owners()
    if not owners:
        refusal = InvalidValueError("Tick the topics to reassign.")
        return _page(slug, refusal=refusal), status_of(refusal)
    try:
        with database().transaction() as session:
            done = topic_owners.assign_topics(session, slug, owners)
            for judge, numbers in topic_owners.by_owner(owners).items():
                note(session, "topics.assign", slug, subject=judge or "", details={"topics": numbers})
    except AnnotatorError as refusal:
        return _page(slug, refusal=refusal), status_of(refusal)
    flash(
        gettext(
            "Topics reassigned: %(topics)d. Documents returned to the queue: %(given_back)d.",
            topics=done.topics,
            given_back=done.given_back,
        )
    )
    return redirect(url_for(".show", slug=slug), 303)


def _owners() -> Mapping[str, str | None]:
    """Topic → judge: each its own from a preview, one for all selected topics."""
    numbers, judges = request.form.getlist("number"), request.form.getlist("judge")
    if len(judges) == 1:
        judges *= len(numbers)
    if len(numbers) != len(judges):
        return {}
    return {number: None if judge == NOBODY else judge for number, judge in zip(numbers, judges, strict=True)}


def _page(slug: str, plan: AssigningPlan | None = None, refusal: AnnotatorError | None = None) -> str:
    with database().reading() as session:
        present = topic_owners.show_assigning(session, slug)
        taken = taking_along.list_taken(session, slug, now=now())
    return render_template(
        "judging/assigning.html",
        taken=taken,
        present=present,
        plan=plan,
        refused=refusal,
        chosen=request.args.getlist("judge"),
        reassign=request.args.get("all") == "1",
    )
