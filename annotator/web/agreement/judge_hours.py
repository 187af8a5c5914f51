"""Hours and judgements of each judge by period, for pay."""

from datetime import date
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.moments import read_day
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import status_of
from annotator.workflows.agreement.judge_hours import HoursWanted, Period, hours_csv, judge_hours

blueprint = Blueprint("judge_hours", __name__)


@blueprint.get("/collections/<slug>/judges/hours")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """By month, or `?by=` day, week or all; `?from=` and `?to=` are the first and the last day that count."""
    wanted, refused = HoursWanted(), None
    try:
        wanted = _wanted()
    except InvalidValueError as refusal:
        refused = refusal
    with database().reading() as session:
        rows = judge_hours(session, slug, wanted)
    page = render_template(
        "agreement/judge_hours.html",
        rows=rows,
        wanted=wanted,
        periods=list(Period),
        address=_address(),
        refused=refused,
    )
    return page if refused is None else (page, status_of(refused))


@blueprint.get("/collections/<slug>/judges/hours.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """The same, a line a judge and period."""
    with database().reading() as session:
        rows = judge_hours(session, slug, _wanted())
    note_export("hours.export", slug, details={**_address(), "by": _wanted().by})
    return download(hours_csv(rows), f"{slug}-hours.csv", CSV)


def _wanted() -> HoursWanted:
    by = request.args.get("by", "")
    return HoursWanted(_day("from"), _day("to"), Period(by) if by in list(Period) else Period.MONTH)


def _address() -> dict[str, Any]:
    """What the address asks for."""
    return {name: request.args[name] for name in ("from", "to", "by") if request.args.get(name)}


def _day(name: str) -> date | None:
    """A day of the address; raises `InvalidValueError` for what is none."""
    text = request.args.get(name, "").strip()
    return read_day(text) if text else None
