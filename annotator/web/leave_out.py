"""Who found what, and how each run would fare had its team not fed the pool."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, NotFoundError
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.asked import asked_word
from annotator.web.context import database
from annotator.web.downloads import CSV, download
from annotator.web.error_pages import status_of
from annotator.web.given_numbers import number_given
from annotator.workflows.leave_out_report import SEARCHES, By, LeaveOutReport, LeaveOutRequest, Part, leave_out_report

blueprint = Blueprint("leave_out", __name__)

USUAL_MEASURE = "nDCG@10"


@blueprint.get("/collections/<slug>/quality/leave-out")
@collection_page(Role.ORGANISER)
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
    page = render_template("leave_out/show.html", found=found, refused=refused, given=given, searches=SEARCHES)
    # That nothing is judged yet is no fault of the request.
    return page if refused is None or isinstance(refused, ConflictError) else (page, status_of(refused))


@blueprint.get("/collections/<slug>/quality/leave-out.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """One part as a file: `?by=runs`."""
    try:
        part = Part(request.args.get("by", Part.RUNS))
    except ValueError:
        raise NotFoundError("There is no such part of the report.") from None
    headings, rows = _report(slug).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-leave-out-{part}.csv", CSV)


def _report(slug: str) -> LeaveOutReport:
    try:
        by = By(asked_word("whom", By.TEAM))
    except ValueError:
        raise NotFoundError("There is no such part of the report.") from None
    with database().reading() as session:
        return leave_out_report(
            session, slug, LeaveOutRequest((asked_word("m", USUAL_MEASURE),), by, number_given("depth"))
        )
