"""The report of a collection as a file, and the measures."""

from flask import Response
from marshmallow import Schema, fields

from annotator.api.leaderboard.reports import GRADES
from annotator.api.leaderboard.scores import resource
from annotator.api.site.access import OBSERVE, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation, text
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.values import Text, one_of
from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.installed import installed_version
from annotator.reporting import report_html
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.site.context import database, now
from annotator.web.site.memories import score_cache
from annotator.workflows.leaderboard.overview_report import (
    ALL_SECTIONS,
    ENGLISH,
    LANGUAGES,
    OverviewRequest,
    ReportSection,
    overview_report,
)
from annotator.workflows.leaderboard.scoring import explain_measure
from annotator.workflows.leaderboard.scoring import list_measures as every_measure
from annotator.workflows.people.tokens import Scope

HTML = "text/html"
ANYBODY = gate_of(list(Scope))


class ReportFileQuery(Schema):
    """What the report has."""

    m = fields.List(
        Text,
        load_default=list,
        metadata={"description": "A measure, such as nDCG@10; repeatable. The first one is tested."},
    )
    qrels = Text(load_default=LIVE, metadata=GRADES)
    section = fields.List(
        one_of(ReportSection), load_default=list, metadata={"description": "A section to include; by default all."}
    )
    language = one_of(LANGUAGES, load_default=ENGLISH, metadata={"description": "The language of the report."})


class MeasureView(Schema):
    """A measure."""

    form = fields.String(
        required=True,
        metadata={"description": "How it is written: k is a cutoff, x a level, brackets may be left out."},
    )
    text = fields.String(required=True, metadata={"description": "Definition, range, edge cases and reference."})
    parameters = fields.List(fields.String, required=True, metadata={"description": "What it takes in brackets."})
    also_called = fields.List(fields.String, required=True, metadata={"description": "Other names that are read."})


class MeasureDetails(MeasureView):
    """A measure, and what the name stands for that was asked about."""

    stands_for = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The measure with the parameters that the name implies; null for a plain name."},
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/report",
    OBSERVE,
    Gives(media=[HTML]),
    Takes(query=ReportFileQuery, long=True),
)
def export_report(call: Call) -> Response:
    """Write a report for an overview paper: one self-contained page of HTML, with each table also as LaTeX.

    Judges have numbers in it, not names.
    """
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    wanted = OverviewRequest(
        tuple(asked["m"]) or DEFAULT_MEASURES,
        asked["qrels"],
        tuple(map(ReportSection, asked["section"])) or ALL_SECTIONS,
        asked["language"],
    )
    report = database().read(
        overview_report, call.slug, wanted, made_at=now(), version=installed_version(), cache=score_cache()
    )
    return text(report_html(report), HTML)


@operation(resource, "GET", "/measures", ANYBODY, Gives(MeasureView, many=True), Takes(pages=True))
def list_measures(call: Call) -> object:
    """List every measure with its definition."""
    del call
    return list(every_measure().values())


@operation(resource, "GET", "/measures/<path:name>", ANYBODY, Gives(MeasureDetails))
def show_measure(call: Call) -> object:
    """Explain a measure, named as ir_measures or trec_eval do."""
    try:
        return explain_measure(call.path["name"])
    except InvalidValueError as error:
        raise NotFoundError(error.sentence.template, **error.sentence.values) from error
