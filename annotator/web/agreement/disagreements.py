"""Documents with differing judgements, largest difference first, filtered by topic, judges and difference."""

from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV, JSON, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.query_string import number_or
from annotator.workflows.agreement import adjudication, disagreements
from annotator.workflows.agreement.disagreements import ROWS_A_PAGE, DisagreementFilter
from annotator.workflows.people import members

blueprint = Blueprint("disagreements", __name__)

DIGITS = 6


@blueprint.get("/collections/<slug>/disagreements")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """All of them, or by `?topic=1&topic=2`, `?judge=` and `?other=`, `?apart=2`, `?across=1`, `?undecided=1`."""
    wanted, refused = _wanted(), None
    with database().reading() as session:
        try:
            found = disagreements.page_of_disagreements(session, slug, wanted, number_or("page", 1, digits=DIGITS))
        except AnnotatorError as refusal:
            refused = refusal
            found = disagreements.page_of_disagreements(session, slug, DisagreementFilter())
    page = render_template(
        "agreement/disagreements.html",
        found=found,
        wanted=wanted,
        address=_address(wanted),
        refused=refused,
        per_page=ROWS_A_PAGE,
    )
    return page if refused is None else (page, status_of(refused))


@blueprint.get("/collections/<slug>/disagreements.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same documents as CSV, one line per document and person."""
    rows = database().read(disagreements.list_disagreements, slug, _wanted())
    return download(disagreements.disagreements_csv(rows), f"{slug}-disagreements.csv", CSV)


@blueprint.get("/collections/<slug>/disagreements.json")
@collection_page(Role.ORGANISER)
def as_json(slug: str) -> ResponseReturnValue:
    """The same documents as JSON, one object per document."""
    rows = database().read(disagreements.list_disagreements, slug, _wanted())
    return download(disagreements.disagreements_json(rows), f"{slug}-disagreements.json", JSON)


def _wanted() -> DisagreementFilter:
    """The filter in the query string; a judge given twice counts once, and malformed numbers are ignored."""
    judges = dict.fromkeys(request.args.get(name, "") for name in ("judge", "other"))
    return DisagreementFilter(
        topics=tuple(filter(None, request.args.getlist("topic"))),
        judges=tuple(judge for judge in judges if judge),
        least_distance=max(number_or("apart", 1, digits=DIGITS), 1),
        only_across="across" in request.args,
        only_undecided="undecided" in request.args,
    )


def _address(wanted: DisagreementFilter) -> dict[str, Any]:
    """The filter as query string arguments, without defaults."""
    asked = {
        "topic": wanted.topics or None,
        **dict(zip(("judge", "other"), wanted.judges, strict=False)),
        "apart": wanted.least_distance if wanted.least_distance > 1 else None,
        "across": wanted.only_across or None,
        "undecided": wanted.only_undecided or None,
    }
    return {name: 1 if value is True else value for name, value in asked.items() if value is not None}


@blueprint.get("/collections/<slug>/adjudication")
@collection_page(Role.ORGANISER)
def show_adjudication(slug: str) -> str:
    """Adjudication by topic and by judge."""
    with database().reading() as session:
        report = adjudication.show_adjudication(session, slug, now=now())
        roles = {member.role for member in members.list_members(session, slug)}
    return render_template(
        "agreement/adjudication/show.html", report=report, has_adjudicators=Role.ADJUDICATOR in roles
    )
