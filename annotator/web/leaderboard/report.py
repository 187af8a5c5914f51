"""The report for an overview paper: what it is made from, and the file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.installed import installed_version
from annotator.reporting import report_html
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import READERS
from annotator.web.leaderboard.leaderboard import NAMES
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database, now
from annotator.web.site.downloads import download
from annotator.web.site.query_string import asked_word
from annotator.web.site.score_cache import score_cache
from annotator.workflows.leaderboard.leaderboard import split_names
from annotator.workflows.leaderboard.overview_report import OverviewRequest, overview_report
from annotator.workflows.qrels.qrels_versions import list_versions

HTML = "text/html"

blueprint = Blueprint("report", __name__)


@blueprint.get("/collections/<slug>/report")
@collection_page(*READERS)
def show(slug: str) -> ResponseReturnValue:
    """Choose measures and qrels."""
    with database().reading() as session:
        versions = list_versions(session, slug)
    return render_template("leaderboard/report/show.html", versions=versions, usual=" ".join(DEFAULT_MEASURES))


@blueprint.get("/collections/<slug>/report.html")
@collection_page(*READERS)
@long_page("report.file")
def file(slug: str) -> ResponseReturnValue:
    """The report as a file: `?m=AP P@10&qrels=1`."""
    wanted = OverviewRequest(_measures(), asked_word("qrels", LIVE))
    with database().reading() as session:
        report = overview_report(session, slug, wanted, made_at=now(), version=installed_version(), cache=score_cache())
    return download(report_html(report), f"{slug}-report.html", HTML)


def _measures() -> tuple[str, ...]:
    """The measures as they are written, parted by blanks, each once."""
    written = NAMES.findall(request.args.get("m", ""))
    return tuple(dict.fromkeys(name for names in written for name in split_names(names))) or DEFAULT_MEASURES
