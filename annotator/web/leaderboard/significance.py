"""Significance of differences between runs: all pairs, letters, a baseline, variance components, topics needed."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.significance.tukey import PERMUTATIONS
from annotator.spreadsheets import csv_text
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import asked_word, part_of_report, seed_given
from annotator.workflows.leaderboard.significance_report import (
    USUAL_SEED,
    SignificancePart,
    SignificanceReport,
    SignificanceRequest,
    significance_report,
)
from annotator.workflows.qrels.qrels_versions import list_versions
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("significance", __name__)

# A page cannot show more clearly; the file has all pairs.
MOST_RUNS_IN_GRID = 60


@blueprint.get("/collections/<slug>/significance")
@collection_page(*READERS)
@long_page("significance.show")
def show(slug: str) -> ResponseReturnValue:
    """All pairs by a measure: `?m=AP&qrels=1&baseline=TAG&permute=1&seed=1&round=2&task=KEY`."""
    found, refused = None, None
    try:
        found = _report(slug)
    except AnnotatorError as refusal:
        refused = refusal
    with database().reading() as session:
        versions, scopes = list_versions(session, slug), scope_choices(session, slug)
    page = render_template(
        "leaderboard/significance.html",
        found=found,
        refused=refused,
        versions=versions,
        scopes=scopes,
        scope=ScopeWanted.of_form(),
        given=_given(),
        grid=range(min(len(found.tags), MOST_RUNS_IN_GRID)) if found else (),
        permutations=PERMUTATIONS,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/significance.csv")
@collection_page(*READERS)
@long_page("significance.as_csv")
def as_csv(slug: str) -> ResponseReturnValue:
    """One part as CSV: `?by=pairs`."""
    part = part_of_report(SignificancePart, request.args.get("by", SignificancePart.PAIRS))
    headings, rows = _report(slug).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-significance-{part}.csv", CSV)


def _report(slug: str) -> SignificanceReport:
    scope = ScopeWanted.of_request()
    wanted = SignificanceRequest(
        measure=asked_word("m", USUAL_MEASURE),
        qrels=asked_word("qrels", LIVE),
        baseline=request.args.get("baseline") or None,
        permutations=PERMUTATIONS if request.args.get("permute") else None,
        seed=seed_given(USUAL_SEED),
        round=scope.round,
        residual=scope.residual,
        task=scope.task,
    )
    report = database().read(significance_report, slug, wanted)
    return replace(report, state=replace(report.state, policy=policy_shown(report.state.policy)))


def _given() -> dict[str, object]:
    """The choices in the query string, as written there."""
    return {
        "m": asked_word("m", USUAL_MEASURE),
        "qrels": asked_word("qrels", LIVE),
        "baseline": request.args.get("baseline", ""),
        "permute": "1" if request.args.get("permute") else "",
        "seed": asked_word("seed", str(USUAL_SEED)),
        **ScopeWanted.of_form().query,
    }
