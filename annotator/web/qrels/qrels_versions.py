"""Versions of the qrels: keeping one, its files, and two of them compared."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage import Role
from annotator.web.qrels.grades_wanted import GradesWanted
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, JSON, PLAIN, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.language import gettext
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.qrels.qrels_diff import LIVE, QrelsDiff, changes_csv, diff_qrels

blueprint = Blueprint("qrels_versions", __name__)

# The page shows so many grades that differ; the file has all.
MOST_SHOWN = 200


@blueprint.post("/collections/<slug>/qrels/keep")
@collection_page(Role.ORGANISER)
def keep(slug: str) -> ResponseReturnValue:
    """Keep the settled grades of this moment as the next version."""
    wanted, made_at = GradesWanted.of_request(), now()
    # Settling takes a while, in which others shall not wait to write.
    with database().reading() as session:
        made = qrels.export_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=made_at)
    with database().transaction() as session:
        number = qrels_versions.keep_qrels(
            session, slug, made.grades, made.manifest, made_by_id=the_person().id, made_at=made_at
        )
        note(session, "qrels.keep", slug, subject=number)
    flash(gettext("Kept as version %(number)d.", number=number))
    return redirect(url_for("qrels.show", slug=slug, policy=wanted.policy, judge=wanted.judge), 303)


@blueprint.get("/collections/<slug>/qrels/versions/<row:number>/file")
@collection_page(Role.ORGANISER)
def file(slug: str, number: int) -> ResponseReturnValue:
    """The qrels as they were kept."""
    with database().reading() as session:
        kept = qrels_versions.export_version(session, slug, number)
    note_export("qrels.export", slug, subject=number)
    return download(kept.qrels, f"{slug}-{number}.qrels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/versions/<row:number>/manifest")
@collection_page(Role.ORGANISER)
def manifest(slug: str, number: int) -> ResponseReturnValue:
    """What they are."""
    with database().reading() as session:
        kept = qrels_versions.export_version(session, slug, number)
    return download(kept.manifest, f"{slug}-{number}.qrels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/diff")
@collection_page(Role.ORGANISER)
def diff(slug: str) -> ResponseReturnValue:
    """Two versions compared (`?before=1&after=live&m=nDCG@10`)."""
    found, refusal = None, None
    try:
        found = _diff(slug)
    except AnnotatorError as error:
        refusal = error
    with database().reading() as session:
        versions = qrels_versions.list_versions(session, slug)
    page = render_template(
        "qrels/diff.html",
        found=found,
        refusal_=refusal,
        versions=versions,
        before=_before(),
        after=_after(),
        measure=_measure(),
        most_shown=MOST_SHOWN,
    )
    return page if refusal is None else (page, status_of(refusal))


@blueprint.get("/collections/<slug>/qrels/diff.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """Every grade that differs."""
    return download(changes_csv(_diff(slug)), f"{slug}-qrels-{_before()}-{_after()}.csv", CSV)


def _diff(slug: str) -> QrelsDiff:
    with database().reading() as session:
        return diff_qrels(session, slug, _before(), _after(), _measure())


def _before() -> str:
    return request.args.get("before") or "1"


def _after() -> str:
    return request.args.get("after") or LIVE


def _measure() -> str:
    return request.args.get("m", "").strip() or USUAL_MEASURE
