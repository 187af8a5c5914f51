"""Qrels: what would go out, and the files."""

import json

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, now
from annotator.web.downloads import JSON, PLAIN, download
from annotator.web.grades_wanted import GradesWanted
from annotator.workflows import qrels
from annotator.workflows.collection import consensus_policies
from annotator.workflows.qrels import QrelsExport

blueprint = Blueprint("qrels", __name__)


@blueprint.get("/collections/<slug>/qrels")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """What the qrels of this moment hold."""
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        export = qrels.export_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())
        judges = qrels.grading_judges(session, slug)
    return render_template(
        "qrels/show.html",
        wanted=wanted,
        manifest=json.loads(export.manifest),
        judges=judges,
        policies=consensus_policies(),
    )


@blueprint.get("/collections/<slug>/qrels/file")
@collection_page(Role.ORGANISER)
def file(slug: str) -> ResponseReturnValue:
    """The qrels."""
    return download(_export(slug).qrels, f"{slug}.qrels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/manifest")
@collection_page(Role.ORGANISER)
def manifest(slug: str) -> ResponseReturnValue:
    """What the qrels are: scale, policy, pool, counts, checksum."""
    return download(_export(slug).manifest, f"{slug}.qrels.manifest.json", JSON)


def _export(slug: str) -> QrelsExport:
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        return qrels.export_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())
