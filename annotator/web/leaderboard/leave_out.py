"""Who found what, and how each run would fare had its team not fed the pool."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.spreadsheets import csv_text
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import asked_word, number_given, part_of_report
from annotator.web.site.report_cache import kept_report
from annotator.workflows.leaderboard.leave_out_report import (
    SEARCHES,
    By,
    LeaveOutReport,
    LeaveOutRequest,
    Part,
    leave_out_report,
)

blueprint = Blueprint("leave_out", __name__)

USUAL_MEASURE = "nDCG@10"


@blueprint.get("/collections/<slug>/quality/leave-out")
@collection_page(*READERS)
@long_page("leave_out.show")
def show(slug: str) -> ResponseReturnValue:
    """By teams or runs: `?m=AP&whom=run&depth=10`."""
    found, refused = None, None
    try:
        found = _report(slug)
    except AnnotatorError as refusal:
        refused = refusal
    given = {
        "m": asked_word("m", USUAL_MEASURE),
        "whom": asked_word("whom", By.TEAM),
        "depth": request.args.get("depth", ""),
    }
    page = render_template("leaderboard/leave_out.html", found=found, refused=refused, given=given, searches=SEARCHES)
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/quality/leave-out.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """One part as a file: `?by=runs`."""
    part = part_of_report(Part, request.args.get("by", Part.RUNS))
    headings, rows = _report(slug).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-leave-out-{part}.csv", CSV)


def _report(slug: str) -> LeaveOutReport:
    by = part_of_report(By, asked_word("whom", By.TEAM))
    wanted = LeaveOutRequest((asked_word("m", USUAL_MEASURE),), by, number_given("depth"))
    report = kept_report(slug, (leave_out_report, wanted), lambda session: leave_out_report(session, slug, wanted))
    return replace(report, state=replace(report.state, policy=policy_shown(report.state.policy)))
