"""Quality of the collection: relevant documents, effect of more or fewer judgements, leave-one-team-out tests.

Also the correlation between rankings by different measures or different states of the qrels.
"""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.spreadsheets import csv_text
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.background import long_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.memories import kept_report
from annotator.web.site.query_string import asked_word, number_given, part_of_report, seed_given
from annotator.workflows.leaderboard.leave_out_report import (
    SEARCHES,
    By,
    LeaveOutReport,
    LeaveOutRequest,
    Part,
    leave_out_report,
)
from annotator.workflows.leaderboard.measure_correlation import (
    USUAL_MEASURES,
    Correlation,
    RankedSide,
    Side,
    correlate,
    correlation_csv,
)
from annotator.workflows.leaderboard.reusability_report import (
    USUAL_SEED,
    QualityReport,
    QualityRequest,
    ReusabilityPart,
    quality_report,
)
from annotator.workflows.qrels.qrels_versions import list_versions
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("quality", __name__)


@blueprint.get("/collections/<slug>/quality")
@collection_page(*READERS)
@long_page("quality.show")
def show(slug: str) -> ResponseReturnValue:
    """The live judgements; the analysis of fewer only on request: `?fewer=1&m=AP&seed=1&round=2&task=KEY`."""
    found, refused = None, None
    try:
        found = _report(slug, ablates=bool(request.args.get("fewer")))
    except AnnotatorError as refusal:
        refused = refusal
    scope = ScopeWanted.of_form()
    given = {"m": asked_word("m", USUAL_MEASURE), "seed": asked_word("seed", str(USUAL_SEED)), **scope.query}
    scopes = database().read(scope_choices, slug)
    page = render_template(
        "leaderboard/quality.html", found=found, refused=refused, given=given, scopes=scopes, scope=scope
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/quality.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """One part as CSV: `?by=topics`."""
    part = part_of_report(ReusabilityPart, request.args.get("by", ReusabilityPart.TOPICS))
    headings, rows = _report(slug, ablates=part is ReusabilityPart.FEWER).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-quality-{part}.csv", CSV)


def _report(slug: str, *, ablates: bool) -> QualityReport:
    scope = ScopeWanted.of_request()
    wanted = QualityRequest(
        *(asked_word("m", USUAL_MEASURE), seed_given(USUAL_SEED), ablates),
        *(scope.round, scope.residual, scope.task),
    )
    to_come = choices_to_come(slug)
    report = database().read(quality_report, slug, wanted, to_come=to_come)
    return replace(report, state=replace(report.state, policy=policy_shown(report.state.policy)))


@blueprint.get("/collections/<slug>/quality/leave-out")
@collection_page(*READERS)
@long_page("leave_out.show")
def leave_out(slug: str) -> ResponseReturnValue:
    """Leave-one-out by team or run: `?m=AP&whom=run&depth=10&task=KEY`."""
    found, refused = None, None
    try:
        found = _leave_out_report(slug)
    except AnnotatorError as refusal:
        refused = refusal
    scope = ScopeWanted.of_task()
    given = {
        "m": asked_word("m", USUAL_MEASURE),
        "whom": asked_word("whom", By.TEAM),
        "depth": request.args.get("depth", ""),
        **scope.query,
    }
    page = render_template(
        "leaderboard/leave_out.html",
        found=found,
        refused=refused,
        given=given,
        searches=SEARCHES,
        scopes=database().read(scope_choices, slug),
        scope=scope,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/quality/leave-out.csv")
@collection_page(*READERS)
def leave_out_csv(slug: str) -> ResponseReturnValue:
    """One part of the leave-one-out analysis as CSV: `?by=runs`."""
    part = part_of_report(Part, request.args.get("by", Part.RUNS))
    headings, rows = _leave_out_report(slug).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-leave-out-{part}.csv", CSV)


def _leave_out_report(slug: str) -> LeaveOutReport:
    by = part_of_report(By, asked_word("whom", By.TEAM))
    wanted = LeaveOutRequest((asked_word("m", USUAL_MEASURE),), by, number_given("depth"), ScopeWanted.of_task().task)
    report = kept_report(slug, (leave_out_report, wanted), lambda session: leave_out_report(session, slug, wanted))
    return replace(report, state=replace(report.state, policy=policy_shown(report.state.policy)))


@blueprint.get("/collections/<slug>/correlation")
@collection_page(*READERS)
def correlation(slug: str) -> ResponseReturnValue:
    """Two rankings and their correlation: `?m=AP&qrels=live&m2=P@10&qrels2=1&task=KEY`."""
    found, refused = None, None
    try:
        found = _correlation(slug)
    except AnnotatorError as refusal:
        refused = refusal
    with database().reading() as session:
        versions, scopes = list_versions(session, slug), scope_choices(session, slug)
    (first, second), scope = _sides(), ScopeWanted.of_task()
    sides = {"m": first.measure, "qrels": first.qrels, "m2": second.measure, "qrels2": second.qrels}
    page = render_template(
        "leaderboard/correlation.html",
        found=found,
        refused=refused,
        versions=versions,
        scopes=scopes,
        scope=scope,
        given={**sides, **scope.query},
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/correlation.csv")
@collection_page(*READERS)
def correlation_file(slug: str) -> ResponseReturnValue:
    """The correlation as CSV in full precision."""
    return download(correlation_csv(_correlation(slug)), f"{slug}-correlation.csv", CSV)


def _correlation(slug: str) -> Correlation:
    sides, task = _sides(), ScopeWanted.of_task().task
    found = kept_report(slug, (correlate, sides, task), lambda session: correlate(session, slug, *sides, task=task))
    return replace(found, first=_unnamed(found.first), second=_unnamed(found.second))


def _unnamed(side: RankedSide) -> RankedSide:
    return replace(side, state=replace(side.state, policy=policy_shown(side.state.policy)))


def _sides() -> tuple[Side, Side]:
    """The two rankings to compare; with one measure, two states of the qrels are compared by it."""
    first = asked_word("m", USUAL_MEASURES[0])
    usual = first if request.args.get("m") else USUAL_MEASURES[1]
    return Side(first, asked_word("qrels", LIVE)), Side(asked_word("m2", usual), asked_word("qrels2", LIVE))
