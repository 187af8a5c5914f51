"""The report of a collection as a file."""

from flask import Response
from marshmallow import fields

from annotator.api.leaderboard.reports import GRADES
from annotator.api.leaderboard.scores import resource
from annotator.api.runs.task_query import TaskQuery
from annotator.api.site.access import OBSERVE
from annotator.api.site.door import Call, Gives, Takes, operation, text
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.values import Text, one_of
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

HTML = "text/html"


class ReportFileQuery(TaskQuery):
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
        asked["task"],
    )
    report = database().read(
        overview_report, call.slug, wanted, made_at=now(), version=installed_version(), cache=score_cache()
    )
    return text(report_html(report), HTML)
