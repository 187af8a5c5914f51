"""Comparison of clicks with judgements, and a button that adds clicked documents to the pool."""

from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.clicks.web.click_log_form import STANDINGS, VERDICTS
from annotator.clicks.workflows.clicks_and_judgements import (
    ClickedPool,
    TogetherReport,
    TogetherRequest,
    TogetherTable,
    pool_clicked,
    together_report,
)
from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext
from annotator.web.site.query_string import asked_word, part_of_report

blueprint = Blueprint("together", __name__)


@blueprint.get("/collections/<slug>/together")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Show variants, pairs, and the queries with the largest differences: `?m=AP&log=NAME`."""
    return _page(slug)


@blueprint.get("/collections/<slug>/together.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """Download one table as a file: `?table=pairs`."""
    part = part_of_report(TogetherTable, request.args.get("table", ""))
    headings, rows = _report(slug).file(part)
    note_export("together.export", slug, details={"table": part.value})
    return download(csv_text([headings, *rows]), f"{slug}-together-{part}.csv", CSV)


@blueprint.post("/collections/<slug>/together")
@collection_page(Role.ORGANISER)
def pool(slug: str) -> ResponseReturnValue:
    """Add the documents of the queries with the largest differences to the pool, as its next version."""
    form = Form()
    if form.validate():
        with form.guard():
            pooled = _pool(slug)
    if form.refused:
        return _page(slug, form.refusal)
    return done(_outcome(pooled), ".show", slug=slug, **_given())


def _page(slug: str, refused: AnnotatorError | None = None) -> ResponseReturnValue:
    found = None
    try:
        found = _report(slug)
    except AnnotatorError as refusal:
        refused = refused or refusal
    page = render_template(
        "clicks/together.html", found=found, refused=refused, given=_given(), verdicts=VERDICTS, standings=STANDINGS
    )
    return page_or_refusal(page, refused)


def _given() -> dict[str, Any]:
    """Return the requested parameters as in the query string."""
    return {"m": asked_word("m", USUAL_MEASURE), "log": request.args.get("log") or None}


def _report(slug: str) -> TogetherReport:
    given = _given()
    wanted = TogetherRequest(given["m"], given["log"])
    return database().read(together_report, slug, wanted)


def _pool(slug: str) -> ClickedPool:
    found = _report(slug)
    if found.asked is None or not found.to_pool:
        raise InvalidValueError("All of these documents are already in the pool.")
    with database().transaction() as session:
        pooled = pool_clicked(
            session, slug, log=found.asked, clicked=found.to_pool, built_by_id=the_person().id, built_at=now()
        )
        note(session, "pool.build", slug, subject=pooled.version, details={"log": found.asked, "added": pooled.added})
    return pooled


def _outcome(pooled: ClickedPool) -> str:
    if not pooled.added:
        return gettext(
            "All of these documents are in the pool already: version %(version)d stays active.",
            version=pooled.version,
        )
    return gettext(
        "Added to the pool: %(added)d. Version %(version)d is now active.", added=pooled.added, version=pooled.version
    )
