"""Correlation of two rankings of the runs, by two measures or by two versions of the qrels."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import asked_word
from annotator.web.site.report_cache import kept_report
from annotator.workflows.collections.rounds import round_numbers
from annotator.workflows.leaderboard.measure_correlation import (
    USUAL_MEASURES,
    Correlation,
    RankedSide,
    Side,
    correlate,
    correlation_csv,
)
from annotator.workflows.qrels.qrels_versions import list_versions

blueprint = Blueprint("correlation", __name__)


@blueprint.get("/collections/<slug>/correlation")
@collection_page(*READERS)
def show(slug: str) -> ResponseReturnValue:
    """Two rankings and how alike they are: `?m=AP&qrels=live&m2=P@10&qrels2=1`."""
    found, refused = None, None
    try:
        found = _found(slug)
    except AnnotatorError as refusal:
        refused = refusal
    with database().reading() as session:
        versions, rounds = list_versions(session, slug), round_numbers(session, slug)
    first, second = _sides()
    given = {"m": first.measure, "qrels": first.qrels, "m2": second.measure, "qrels2": second.qrels}
    page = render_template(
        "leaderboard/correlation.html", found=found, refused=refused, versions=versions, rounds=rounds, given=given
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/correlation.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same, comma-separated in full precision."""
    return download(correlation_csv(_found(slug)), f"{slug}-correlation.csv", CSV)


def _found(slug: str) -> Correlation:
    sides = _sides()
    found = kept_report(slug, (correlate, sides), lambda session: correlate(session, slug, *sides))
    return replace(found, first=_unnamed(found.first), second=_unnamed(found.second))


def _unnamed(side: RankedSide) -> RankedSide:
    return replace(side, state=replace(side.state, policy=policy_shown(side.state.policy)))


def _sides() -> tuple[Side, Side]:
    """What is asked for; where only one measure is named, two states of the qrels are compared by it."""
    first = asked_word("m", USUAL_MEASURES[0])
    usual = first if request.args.get("m") else USUAL_MEASURES[1]
    return Side(first, asked_word("qrels", LIVE)), Side(asked_word("m2", usual), asked_word("qrels2", LIVE))
