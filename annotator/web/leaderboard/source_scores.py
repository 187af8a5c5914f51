"""The history of the scores of a run source: a page below that of the search engine."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import asked_word
from annotator.workflows.leaderboard.source_scores import MOST_RUNS, source_history
from annotator.workflows.runs import run_sources

blueprint = Blueprint("source_scores", __name__)


@blueprint.get("/collections/<slug>/runs/sources/<name>/scores")
@collection_page(Role.ORGANISER)
def show(slug: str, name: str) -> ResponseReturnValue:
    """The runs of a source in time, scored by the live qrels and kept versions: `?m=nDCG@10`."""
    source = database().read(run_sources.show_source, slug, name)
    measure = asked_word("m", USUAL_MEASURE)
    found, refused = None, None
    try:
        found = database().read(source_history, slug, name, measure=measure)
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "leaderboard/source_scores.html",
        source=source,
        found=found,
        refused=refused,
        given={"m": measure},
        most=MOST_RUNS,
    )
    return page_or_refusal(page, refused)
