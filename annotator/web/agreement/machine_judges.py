"""Machine judges: what they are, and how their labels compare with people's."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.agreement.topic_intervals import TWO_INTERVALS
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.error_pages import status_of
from annotator.web.site.report_cache import kept_report
from annotator.workflows.agreement.machine_judges import USUAL_MEASURE, machine_reports

blueprint = Blueprint("machine_judges", __name__)

MOST_LISTED = 200  # labels outside the scale; the command lists all


@blueprint.get("/collections/<slug>/agreement/machines")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every machine beside people: `?m=AP&topics=401,402&shared=1`."""
    found, refused = None, None
    measure, only_shared = request.args.get("m", "").strip() or USUAL_MEASURE, "shared" in request.args
    topics = [number for part in request.args.get("topics", "").split(",") if (number := part.strip())]
    try:
        found = kept_report(
            slug,
            (machine_reports, measure, tuple(topics), only_shared),
            lambda session: machine_reports(session, slug, measure, topics or None, only_shared=only_shared),
        )
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "agreement/machine_judges.html",
        found=found,
        refused=refused,
        measure=measure,
        topics=request.args.get("topics", ""),
        only_shared=only_shared,
        most=MOST_LISTED,
        intervals=TWO_INTERVALS,
    )
    return page if refused is None else (page, status_of(refused))
