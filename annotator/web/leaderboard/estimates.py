"""Scores estimated from a sample of judgements and a machine's labels: a tab beside the leaderboard."""

from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.spreadsheets import csv_text
from annotator.web.collections.observer_policy import READERS
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.memories import kept_report
from annotator.web.site.query_string import asked_word, part_of_report
from annotator.workflows.leaderboard.estimates import (
    MOST_RESCORED,
    EstimatePart,
    EstimateReport,
    EstimateRequest,
    estimate_report,
)
from annotator.workflows.pools.sample_drawing import machine_names
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("estimates", __name__)

# A page cannot show more clearly; the file has all pairs.
MOST_RUNS_IN_GRID = 40
NO_MACHINE = "-"  # no name of an account


@blueprint.get("/collections/<slug>/estimates")
@collection_page(*READERS)
def show(slug: str) -> ResponseReturnValue:
    """Estimates of all runs by a measure: `?m=P@10&machine=NAME&baseline=TAG&task=KEY`; `machine=-` is without any."""
    found, refused = None, None
    try:
        found = _report(slug)
    except AnnotatorError as refusal:
        refused = refusal
    with database().reading() as session:
        machines, scopes = machine_names(session, slug), scope_choices(session, slug)
    page = render_template(
        "leaderboard/estimates.html",
        found=found,
        refused=refused,
        machines=machines,
        scopes=scopes,
        scope=ScopeWanted.of_task(),
        given=_given(),
        grid=range(min(len(found.rows), MOST_RUNS_IN_GRID)) if found else (),
        widest=_widest(found),
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/estimates.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """The runs, or every two of them (`?by=pairs`), as CSV."""
    part = part_of_report(EstimatePart, request.args.get("by", EstimatePart.RUNS))
    headings, rows = _report(slug).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-estimates-{part}.csv", CSV)


def _report(slug: str) -> EstimateReport:
    given = _given()
    machine = given["machine"]
    wanted = EstimateRequest(
        given["m"],
        machine if machine not in {"", NO_MACHINE} else None,
        people_only=machine == NO_MACHINE,
        baseline=given["baseline"] or None,
        most_rescored=MOST_RESCORED,
        task=ScopeWanted.of_task().task,
    )
    return kept_report(slug, (estimate_report, wanted), lambda session: estimate_report(session, slug, wanted))


def _given() -> dict[str, Any]:
    """The choices in the query string, as written there."""
    return {
        "m": asked_word("m", USUAL_MEASURE),
        "machine": request.args.get("machine", "").strip(),
        "baseline": request.args.get("baseline", "").strip(),
        **ScopeWanted.of_task().query,
    }


def _widest(found: EstimateReport | None) -> float:
    """The greatest end of an interval, to which the lines below values are drawn."""
    if found is None:
        return 0.0
    ends = [one.high for row in found.rows for one in (row.estimate, row.in_all, row.people) if one is not None]
    return max((end for end in ends if end is not None), default=0.0)
