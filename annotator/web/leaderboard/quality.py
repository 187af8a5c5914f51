"""Whether the collection is good: how much is relevant, and what more or fewer judgements would do."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.spreadsheets import csv_text
from annotator.web.collections.observer_policy import READERS, policy_shown
from annotator.web.collections.round_wanted import RoundWanted
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.background import long_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import asked_word, number_given, part_of_report
from annotator.workflows.collections.rounds import round_numbers
from annotator.workflows.leaderboard.reusability_report import (
    USUAL_MEASURE,
    USUAL_SEED,
    QualityReport,
    QualityRequest,
    ReusabilityPart,
    quality_report,
)

GREATEST_SEED = 10**18

blueprint = Blueprint("quality", __name__)


@blueprint.get("/collections/<slug>/quality")
@collection_page(*READERS)
@long_page("quality.show")
def show(slug: str) -> ResponseReturnValue:
    """The judgements of this moment; fewer of them only when asked: `?fewer=1&m=AP&seed=1&round=2`."""
    found, refused = None, None
    try:
        found = _report(slug, ablates=bool(request.args.get("fewer")))
    except AnnotatorError as refusal:
        refused = refusal
    of_round = RoundWanted.of_form()
    given = {"m": asked_word("m", USUAL_MEASURE), "seed": asked_word("seed", str(USUAL_SEED)), **of_round.query}
    with database().reading() as session:
        rounds = round_numbers(session, slug)
    page = render_template(
        "leaderboard/quality.html", found=found, refused=refused, given=given, rounds=rounds, of_round=of_round
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/quality.csv")
@collection_page(*READERS)
def as_csv(slug: str) -> ResponseReturnValue:
    """One part as a file: `?by=topics`."""
    part = part_of_report(ReusabilityPart, request.args.get("by", ReusabilityPart.TOPICS))
    headings, rows = _report(slug, ablates=part is ReusabilityPart.FEWER).file(part)
    return download(csv_text([headings, *rows]), f"{slug}-quality-{part}.csv", CSV)


def _report(slug: str, *, ablates: bool) -> QualityReport:
    of_round = RoundWanted.of_request()
    wanted = QualityRequest(asked_word("m", USUAL_MEASURE), _seed(), ablates, of_round.number, of_round.residual)
    to_come = choices_to_come(slug)
    with database().reading() as session:
        report = quality_report(session, slug, wanted, to_come=to_come)
    return replace(report, state=replace(report.state, policy=policy_shown(report.state.policy)))


def _seed() -> int:
    seed = number_given("seed", most=GREATEST_SEED)
    return USUAL_SEED if seed is None else seed
