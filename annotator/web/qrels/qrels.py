"""Qrels: preview and files of the live grades; stored versions and their differences."""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.outputs.qrels_outputs import SETTLED_OUTPUTS, TREC
from annotator.storage import Role
from annotator.web.collections.observer_policy import READERS
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.downloads import CSV, JSON, PLAIN, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import done
from annotator.web.site.language import gettext
from annotator.web.site.memories import judges_memory
from annotator.workflows.collections.collection import consensus_policies
from annotator.workflows.qrels import prels, qrels, qrels_files, qrels_versions
from annotator.workflows.qrels.judges_to_choose import judges_to_choose
from annotator.workflows.qrels.prels import PrelsExport
from annotator.workflows.qrels.qrels import QrelsExport
from annotator.workflows.qrels.qrels_diff import LIVE, QrelsDiff, changes_csv, diff_qrels

blueprint = Blueprint("qrels", __name__)


@dataclass(frozen=True)
class GradesWanted:
    """The grades of one judge, or settled by a policy; without either, by the collection's policy."""

    policy: str | None
    judge: str | None

    @classmethod
    def of_request(cls) -> "GradesWanted":
        """Read `?policy=` and `?judge=`; a judge takes precedence. Observers cannot choose."""
        if not the_place().organises:
            return cls(None, None)
        judge = request.args.get("judge") or None
        return cls(None if judge else request.args.get("policy") or None, judge)

    @property
    def query(self) -> dict[str, str]:
        """The choice as query string arguments."""
        given = {"policy": self.policy, "judge": self.judge}
        return {name: value for name, value in given.items() if value}


# The page shows this many differing grades; the file has all.
MOST_SHOWN = 200


@blueprint.get("/collections/<slug>/qrels")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """A summary of the live qrels."""
    wanted = GradesWanted.of_request()
    with database().reading() as session:
        outline = qrels.outline_qrels(session, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())
        judges = judges_to_choose(session, slug, judges_memory())
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
        further_formats=[one.name for one in SETTLED_OUTPUTS if one.name != TREC],
    )


@blueprint.get("/collections/<slug>/qrels/file")
@collection_page(*READERS)
def file(slug: str) -> ResponseReturnValue:
    """The live qrels as a file in the layout of `?format=`."""
    name = request.args.get("format") or TREC
    wanted = GradesWanted.of_request()
    grades = qrels_files.GradesWanted(policy=wanted.policy, judge=wanted.judge)
    made = database().read(qrels_files.qrels_file, slug, name, grades, among=SETTLED_OUTPUTS, made_at=now())
    note_export("qrels.export", slug, subject="" if name == TREC else name)
    return download(made.content, f"{slug}{made.format.ending}", made.format.media)


@blueprint.get("/collections/<slug>/qrels/manifest")
@collection_page(Role.ORGANISER)
def manifest(slug: str) -> ResponseReturnValue:
    """The manifest of the live qrels: scale, policy, pool, counts, checksum."""
    return download(_export(slug).manifest, f"{slug}.qrels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/prels")
@collection_page(Role.ORGANISER)
def sampled(slug: str) -> ResponseReturnValue:
    """The latest stratified sample in five columns, for xinfAP and infNDCG."""
    note_export("qrels.export", slug, subject="prels")
    return download(_sample(slug, prels.export_prels).prels, f"{slug}.prels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/prels/manifest")
@collection_page(Role.ORGANISER)
def sampled_manifest(slug: str) -> ResponseReturnValue:
    """The manifest of the sample: strata, rates, policy, counts, checksum."""
    return download(_sample(slug, prels.export_prels).manifest, f"{slug}.prels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/infap")
@collection_page(Role.ORGANISER)
def for_infap(slug: str) -> ResponseReturnValue:
    """A sample with a single rate in four columns, for infAP; an error if there are several rates."""
    note_export("qrels.export", slug, subject="infap")
    return download(_sample(slug, prels.export_for_infap).prels, f"{slug}.infap.qrels", PLAIN)


def _sample(slug: str, export: Callable[..., PrelsExport]) -> PrelsExport:
    wanted = GradesWanted.of_request()
    return database().read(export, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())


def _export(slug: str) -> QrelsExport:
    wanted = GradesWanted.of_request()
    return database().read(qrels.export_qrels, slug, policy=wanted.policy, judge=wanted.judge, made_at=now())


@blueprint.post("/collections/<slug>/qrels/keep")
@collection_page(Role.ORGANISER)
def keep(slug: str) -> ResponseReturnValue:
    """Store the settled grades as the next version."""
    wanted, made_at = GradesWanted.of_request(), now()
    # Settling takes a while and must not block other writers.
    made = database().read(
        qrels.export_qrels, slug, policy=wanted.policy, judge=wanted.judge, to_keep=True, made_at=made_at
    )
    with qrels_versions.storing_grades(database(), slug, made) as stored, database().transaction() as session:
        number = qrels_versions.keep_qrels(session, slug, stored, made_by_id=the_person().id, made_at=made_at)
        note(session, "qrels.keep", slug, subject=number)
    return done(
        gettext("Kept as version %(number)d.", number=number),
        "qrels.show",
        slug=slug,
        policy=wanted.policy,
        judge=wanted.judge,
    )


@blueprint.get("/collections/<slug>/qrels/versions/<row:number>/file")
@collection_page(Role.ORGANISER)
def version_file(slug: str, number: int) -> ResponseReturnValue:
    """A stored version of the qrels."""
    kept = database().read(qrels_versions.export_version, slug, number)
    note_export("qrels.export", slug, subject=number)
    return download(kept.qrels, f"{slug}-{number}.qrels", PLAIN)


@blueprint.get("/collections/<slug>/qrels/versions/<row:number>/manifest")
@collection_page(Role.ORGANISER)
def version_manifest(slug: str, number: int) -> ResponseReturnValue:
    """The manifest of a stored version."""
    kept = database().read(qrels_versions.export_version, slug, number)
    return download(kept.manifest, f"{slug}-{number}.qrels.manifest.json", JSON)


@blueprint.get("/collections/<slug>/qrels/diff")
@collection_page(Role.ORGANISER)
def diff(slug: str) -> ResponseReturnValue:
    """The differences between two versions (`?before=1&after=live&m=nDCG@10`)."""
    found, refusal = None, None
    try:
        found = _diff_wanted(slug)
    except AnnotatorError as error:
        refusal = error
    versions = database().read(qrels_versions.list_versions, slug)
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
def diff_csv(slug: str) -> ResponseReturnValue:
    """Every differing grade as CSV."""
    return download(changes_csv(_diff_wanted(slug)), f"{slug}-qrels-{_before()}-{_after()}.csv", CSV)


def _diff_wanted(slug: str) -> QrelsDiff:
    return database().read(diff_qrels, slug, _before(), _after(), _measure())


def _before() -> str:
    return request.args.get("before") or "1"


def _after() -> str:
    return request.args.get("after") or LIVE


def _measure() -> str:
    return request.args.get("m", "").strip() or USUAL_MEASURE
