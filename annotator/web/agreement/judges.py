"""The judges, for organisers: quality, hours, effect of their disagreement on the ranking, and machine judges."""

from datetime import date
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.agreement.judge_quality import CHARACTERS_A_SECOND, CHARACTERS_TO_SEE
from annotator.evaluation.agreement.machine_ranking import TOPS
from annotator.evaluation.agreement.topic_intervals import TWO_INTERVALS
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.moments import read_day
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.collections.scope_wanted import ScopeWanted
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.background import long_page
from annotator.web.site.context import database
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal, status_of
from annotator.web.site.memories import days_memory, kept_report
from annotator.web.site.query_string import asked_list, asked_word, number_given, number_or, seed_given
from annotator.workflows.agreement.judge_effect import (
    USUAL_DRAWS,
    USUAL_SEED,
    EffectRequest,
    JudgeEffect,
    PairEffect,
    judge_effect,
)
from annotator.workflows.agreement.judge_hours import HoursWanted, Period, hours_csv, judge_hours
from annotator.workflows.agreement.judge_quality import (
    USUAL_PERCENT,
    USUAL_STREAK,
    Fast,
    QualityReport,
    quality_table,
    report_quality,
)
from annotator.workflows.agreement.machine_judges import machine_reports
from annotator.workflows.judging.judging_pace import judged_by_day
from annotator.workflows.runs.scoring_scope import scope_choices

blueprint = Blueprint("judges", __name__)

DIGITS = 4  # accepted in the definition of a very fast streak
MOST_DAYS_DRAWN = 60
# Faster than this nobody reads: characters a second, and the most seconds that a long text needs.
LEAST_TIME = {"characters": CHARACTERS_A_SECOND, "seconds": CHARACTERS_TO_SEE // CHARACTERS_A_SECOND}
MOST_LABELS_LISTED = 200  # of machines, outside the scale; the command lists all


@blueprint.get("/collections/<slug>/judges")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """All judges; a very fast streak is `?streak=` documents, each judged in `?percent=` of the median time."""
    try:
        fast, refused = _fast(), None
    except InvalidValueError as refusal:
        fast, refused = Fast(), refusal
    page = render_template(
        "agreement/judge_quality/show.html",
        report=_report(slug, fast),
        by_day=database().read(judged_by_day, slug, most=MOST_DAYS_DRAWN, memory=days_memory()),
        address=_address(fast),
        refused=refused,
        **LEAST_TIME,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/judges/judge")
@collection_page(Role.ORGANISER)
def one(slug: str) -> ResponseReturnValue:
    """The judge of `?name=`: summary and history, with the same definition of a very fast streak."""
    fast = _fast()
    judge = _report(slug, fast).of(request.args.get("name", ""))
    address = _address(fast)
    return render_template("agreement/judge_quality/one.html", judge=judge, fast=fast, address=address, **LEAST_TIME)


@blueprint.get("/collections/<slug>/judges.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """All judges as CSV, one per line."""
    with database().reading() as session:
        table = quality_table(report_quality(session, slug, _fast()))
    return download(csv_text([table.headings, *table.rows]), f"{slug}-judges.csv", CSV)


def _report(slug: str, fast: Fast) -> QualityReport:
    return kept_report(slug, (report_quality, fast), lambda session: report_quality(session, slug, fast))


def _fast() -> Fast:
    return Fast(number_or("streak", USUAL_STREAK, digits=DIGITS), number_or("percent", USUAL_PERCENT, digits=DIGITS))


def _address(fast: Fast) -> dict[str, Any]:
    """The definition of a very fast streak as query string arguments; empty for the default."""
    return {} if fast == Fast() else {"streak": fast.streak, "percent": fast.percent}


@blueprint.get("/collections/<slug>/judges/hours")
@collection_page(Role.ORGANISER)
def hours(slug: str) -> ResponseReturnValue:
    """Judging hours by month, or by `?by=` day, week or all; `?from=` and `?to=` are the first and last day counted."""
    wanted, refused = HoursWanted(), None
    try:
        wanted = _hours_wanted()
    except InvalidValueError as refusal:
        refused = refusal
    rows = database().read(judge_hours, slug, wanted)
    page = render_template(
        "agreement/judge_hours.html",
        rows=rows,
        wanted=wanted,
        periods=list(Period),
        address=_hours_address(),
        refused=refused,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/judges/hours.csv")
@collection_page(Role.ORGANISER)
def hours_file(slug: str) -> ResponseReturnValue:
    """The same hours as CSV, one line per judge and period."""
    rows = database().read(judge_hours, slug, _hours_wanted())
    note_export("hours.export", slug, details={**_hours_address(), "by": _hours_wanted().by})
    return download(hours_csv(rows), f"{slug}-hours.csv", CSV)


def _hours_wanted() -> HoursWanted:
    by = request.args.get("by", "")
    return HoursWanted(_day("from"), _day("to"), Period(by) if by in list(Period) else Period.MONTH)


def _hours_address() -> dict[str, Any]:
    """The query string arguments that are not empty."""
    return {name: request.args[name] for name in ("from", "to", "by") if request.args.get(name)}


def _day(name: str) -> date | None:
    """A day in the query string; raises `InvalidValueError` for malformed input."""
    text = request.args.get(name, "").strip()
    return read_day(text) if text else None


@blueprint.get("/collections/<slug>/agreement/effect")
@collection_page(Role.ORGANISER)
@long_page("judge_effect.show")
def effect(slug: str) -> ResponseReturnValue:
    """The effect on a measure, by run for two judges.

    `?m=AP&topics=401,402&draws=1000&seed=1&first=A&second=B`, and `task=KEY` for the runs of a task.
    """
    found, refused = None, None
    try:
        wanted = _effect_wanted()
        found = database().read(judge_effect, slug, wanted)
    except AnnotatorError as refusal:
        refused = refusal
    scope = ScopeWanted.of_task()
    page = render_template(
        "agreement/judge_effect.html",
        found=found,
        scopes=database().read(scope_choices, slug),
        scope=scope,
        refused=refused,
        pair=_pair_asked(found) if found else None,
        given={
            "m": request.args.get("m") or USUAL_MEASURE,
            "topics": request.args.get("topics", ""),
            "draws": request.args.get("draws") or USUAL_DRAWS,
            "seed": request.args.get("seed") or USUAL_SEED,
            **scope.query,
        },
    )
    return page_or_refusal(page, refused)


def _effect_wanted() -> EffectRequest:
    measure = asked_word("m", USUAL_MEASURE)
    draws = number_given("draws")
    return EffectRequest(
        measure,
        asked_list("topics") or None,
        USUAL_DRAWS if draws is None else draws,
        seed_given(USUAL_SEED),
        ScopeWanted.of_task().task,
    )


def _pair_asked(found: JudgeEffect) -> PairEffect | None:
    """The two requested judges, None if none are named."""
    asked = (request.args.get("first"), request.args.get("second"))
    return next((pair for pair in found.pairs if (pair.first, pair.second) == asked), None)


@blueprint.get("/collections/<slug>/agreement/machines")
@collection_page(Role.ORGANISER)
def machines(slug: str) -> ResponseReturnValue:
    """All machine judges compared with people: `?m=AP&topics=401,402&shared=1&task=KEY`."""
    found, refused, scope = None, None, ScopeWanted.of_task()
    measure, only_shared = asked_word("m", USUAL_MEASURE), "shared" in request.args
    topics = asked_list("topics")
    try:
        found = kept_report(
            slug,
            (machine_reports, measure, topics, only_shared, scope.task),
            lambda session: machine_reports(
                session, slug, measure, topics or None, only_shared=only_shared, task=scope.task
            ),
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
        most=MOST_LABELS_LISTED,
        intervals=TWO_INTERVALS,
        tops=TOPS,
        scopes=database().read(scope_choices, slug),
        scope=scope,
    )
    return page if refused is None else (page, status_of(refused))
