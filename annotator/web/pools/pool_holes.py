"""Holes: what is unjudged in the tops of the runs, and a button that has it judged."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError, ConflictError
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.collections.judging_hours import growth_confirmation
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.confirming import is_confirmed
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form, WholeNumberField
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.memories import plan_memory
from annotator.workflows.pools import pool_building
from annotator.workflows.pools.pool_building import PoolSummary
from annotator.workflows.pools.pool_holes import HolesReport, holes_report
from annotator.workflows.pools.pool_planning import PoolGrowth, foresee_growth

blueprint = Blueprint("pool_holes", __name__)


class HolesForm(Form):
    """How far down the holes are to be filled."""

    depth = WholeNumberField(lazy_gettext("Depth"), [InputRequired()])


@blueprint.get("/collections/<slug>/pool/holes")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The holes of every run in the top 10, 20 and 100."""
    return _page(slug, HolesForm())


@blueprint.post("/collections/<slug>/pool/holes")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Make the holes down to a depth the next version of the pool, once its cost is confirmed."""
    form = HolesForm()
    if form.validate():
        with form.guard():
            if not is_confirmed() and (growth := _growth(slug, form.depth.data)).documents:
                return growth_confirmation(growth, back=url_for(".show", slug=slug))
            summary = _add(slug, form.depth.data)
    if form.refused:
        return _page(slug, form), form.status
    flash(_outcome(summary))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/pool/holes.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same, a line a run and depth."""
    with database().reading() as session:
        headings, rows = holes_report(session, slug).file()
    return download(csv_text([headings, *rows]), f"{slug}-holes.csv", CSV)


def _page(slug: str, form: HolesForm) -> str:
    found: HolesReport | None = None
    refused: AnnotatorError | None = form.refusal
    try:
        with database().reading() as session:
            found = holes_report(session, slug)
    except ConflictError as refusal:  # there is no run, which is no fault of the request
        refused = refused or refusal
    return render_template("pools/pool_holes.html", found=found, refused=refused, form=form)


def _growth(slug: str, depth: int) -> PoolGrowth:
    with database().reading() as session:
        return foresee_growth(session, slug, pool_building.filling_request(depth), memory=plan_memory())


def _add(slug: str, depth: int) -> PoolSummary:
    # Choosing takes a while, in which others shall not wait to write.
    with database().reading() as session:
        choice = pool_building.choose_filling(session, slug, depth)
    with database().transaction() as session:
        summary = pool_building.store_pool(session, slug, choice, built_by_id=the_person().id, built_at=now())
        note(session, "pool.build", slug, subject=summary.version, details={"depth": depth, "added": summary.added})
    return summary


def _outcome(summary: PoolSummary) -> str:
    if not summary.is_new:
        return gettext(
            "All of these documents are in the pool already: version %(version)d stays active.",
            version=summary.version,
        )
    return gettext(
        "Added to the pool: %(added)d. Version %(version)d is now active.", added=summary.added, version=summary.version
    )
