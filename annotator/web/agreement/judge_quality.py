"""How the judges work: all of them in a table, each in words and over time. For organisers, never for a judge."""

from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import status_of
from annotator.workflows.agreement import judge_quality
from annotator.workflows.agreement.judge_quality import USUAL_PERCENT, USUAL_STREAK, Fast

blueprint = Blueprint("judge_quality", __name__)

NUMBER_LENGTH = 4


@blueprint.get("/collections/<slug>/judges")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every judge; a very fast streak is `?streak=` documents, each in `?percent=` of the median time."""
    try:
        fast, refused = _fast(), None
    except InvalidValueError as refusal:
        fast, refused = Fast(), refusal
    with database().reading() as session:
        report = judge_quality.report_quality(session, slug, fast)
    page = render_template("agreement/judge_quality/show.html", report=report, address=_address(fast), refused=refused)
    return page if refused is None else (page, status_of(refused))


@blueprint.get("/collections/<slug>/judges/judge")
@collection_page(Role.ORGANISER)
def one(slug: str) -> ResponseReturnValue:
    """The judge of `?name=`, in words and over time; the same says what a very fast streak is."""
    fast = _fast()
    with database().reading() as session:
        report = judge_quality.report_quality(session, slug, fast)
    judge = report.of(request.args.get("name", ""))
    return render_template("agreement/judge_quality/one.html", judge=judge, fast=fast, address=_address(fast))


@blueprint.get("/collections/<slug>/judges.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """Every judge, one line each."""
    with database().reading() as session:
        table = judge_quality.quality_table(judge_quality.report_quality(session, slug, _fast()))
    return download(csv_text([table.headings, *table.rows]), f"{slug}-judges.csv", CSV)


def _fast() -> Fast:
    return Fast(_number("streak", USUAL_STREAK), _number("percent", USUAL_PERCENT))


def _address(fast: Fast) -> dict[str, Any]:
    """What a very fast streak is, for an address; nothing when it is what it usually is."""
    return {} if fast == Fast() else {"streak": fast.streak, "percent": fast.percent}


def _number(name: str, usual: int) -> int:
    text = request.args.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= NUMBER_LENGTH else usual
