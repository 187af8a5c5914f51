"""Qrels: what would go out, and the files."""

from collections.abc import Callable

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage import Role
from annotator.web.collections.observer_policy import READERS
from annotator.web.qrels.grades_wanted import GradesWanted
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.context import database, now
from annotator.web.site.downloads import JSON, PLAIN, download
from annotator.workflows.collections.collection import consensus_policies
from annotator.workflows.qrels import prels, qrels, qrels_versions
from annotator.workflows.qrels.prels import PrelsExport
from annotator.workflows.qrels.qrels import QrelsExport

blueprint = Blueprint("qrels", __name__)


@blueprint.get("/collections/<slug>/qrels")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """What the qrels of this moment hold."""
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        outline = qrels.outline_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())
        judges = qrels.grading_judges(session, slug)
        sample = prels.find_sample(session, slug)
        versions = qrels_versions.list_versions(session, slug)
    return render_template(
        "qrels/show.html",
        wanted=wanted,
        manifest=outline.manifest,
        judges=judges,
        policies=consensus_policies(),
        sample=sample,
        warnings=outline.warnings,
        versions=versions,
        usual_measure=USUAL_MEASURE,
    )


@blueprint.get("/collections/<slug>/qrels/file")
@collection_page(*READERS)
def file(slug: str) -> ResponseReturnValue:
    """The qrels."""
    note_export("qrels.export", slug)
    return download(_export(slug).qrels, f"{slug}.qrels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/manifest")
@collection_page(Role.ORGANISER)
def manifest(slug: str) -> ResponseReturnValue:
    """What the qrels are: scale, policy, pool, counts, checksum."""
    return download(_export(slug).manifest, f"{slug}.qrels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/prels")
@collection_page(Role.ORGANISER)
def sampled(slug: str) -> ResponseReturnValue:
    """The newest stratified sample in five columns, for xinfAP and infNDCG."""
    note_export("qrels.export", slug, subject="prels")
    return download(_sample(slug, prels.export_prels).prels, f"{slug}.prels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/prels/manifest")
@collection_page(Role.ORGANISER)
def sampled_manifest(slug: str) -> ResponseReturnValue:
    """What the sample is: strata, rates, policy, counts, checksum."""
    return download(_sample(slug, prels.export_prels).manifest, f"{slug}.prels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/infap")
@collection_page(Role.ORGANISER)
def for_infap(slug: str) -> ResponseReturnValue:
    """A sample of one rate in four columns, for infAP; refused when there are several rates."""
    note_export("qrels.export", slug, subject="infap")
    return download(_sample(slug, prels.export_for_infap).prels, f"{slug}.infap.qrels", PLAIN)


def _sample(slug: str, export: Callable[..., PrelsExport]) -> PrelsExport:
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        return export(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())


def _export(slug: str) -> QrelsExport:
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        return qrels.export_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())
