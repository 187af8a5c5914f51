"""The report as HTML: a template filled with the numbers, charts drawn from the same ones."""

import json
from collections.abc import Iterator
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from annotator.assets import asset_folder
from annotator.errors import AnnotatorError
from annotator.reporting.charts import LineChart, RowChart, line_chart, row_chart
from annotator.workflows.agreement.agreement import By
from annotator.workflows.leaderboard.overview_report import OverviewReport
from annotator.workflows.leaderboard.reusability_report import QualityReport

TEMPLATE = "leaderboard/report/page.html"
# More cannot be taken in on paper: the command has all pairs.
MOST_RUNS_IN_GRID = 30
MOST_PAIRS_OF_JUDGES = 60


def report_html(report: OverviewReport) -> bytes:
    """Write the page; the same report gives the same bytes."""
    significance = None if isinstance(report.significance, AnnotatorError) else report.significance
    html = (
        _environment()
        .get_template(TEMPLATE)
        .render(
            report=report,
            board=None if isinstance(report.board, AnnotatorError) else report.board,
            significance=significance,
            quality=None if isinstance(report.quality, AnnotatorError) else report.quality,
            grid=range(min(len(significance.tags), MOST_RUNS_IN_GRID)) if significance else (),
            charts=_charts(report),
            of_all=report.agreement.table(By.ALL),
            pairs=report.agreement.pairs[:MOST_PAIRS_OF_JUDGES],
            in_full=json.dumps(report.manifest, ensure_ascii=False, indent=2, sort_keys=True),
        )
    )
    return html.encode()


@cache
def _environment() -> Environment:
    """The templates of the pages, every value escaped."""
    return Environment(
        loader=FileSystemLoader(asset_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _charts(report: OverviewReport) -> dict[str, RowChart | LineChart | None]:
    charts: dict[str, RowChart | LineChart | None] = {}
    if not isinstance(report.board, AnnotatorError):
        measure = report.board.measures[0]
        means = [(row.tag, row.values[0], row.intervals[0]) for row in report.board.rows]
        points = [(tag, value, interval.bounds if interval else None) for tag, value, interval in means]
        charts["board"] = row_chart(f"{measure} of every run", measure, "Run", points)
    if not isinstance(report.quality, AnnotatorError):
        charts |= _of_quality(report.quality)
    return charts


def _of_quality(quality: QualityReport) -> Iterator[tuple[str, RowChart | LineChart | None]]:
    density, growth, ablation = quality.density, quality.growth, quality.ablation
    shares = [(one.topic.number, one.share.value, None) for one in density.topics]
    percents = [(number, None if share is None else 100 * share, ends) for number, share, ends in shares]
    title = "Relevant share of what is judged, by topic"
    yield "density", row_chart(title, "Relevant (%)", "Topic", percents, bars=True)
    if growth.fitted is not None:
        found = [(float(depth), float(new)) for depth, new in enumerate(growth.new, start=1)]
        curve = [(float(depth), new) for depth, new in enumerate(growth.fitted, start=1)]
        title = "New relevant documents by the depth of the pool"
        lines = [("found", found), ("by the curve", curve)]
        yield "growth", line_chart(title, "Depth of the pool", "New relevant documents", lines)
    if ablation is not None:
        parts = {"mean": "tau", "least": "least_tau", "greatest": "greatest_tau"}
        taus: list[tuple[str, list[tuple[float, float | None]]]] = [
            (name, [(100 * step.share, getattr(step, part).value) for step in ablation.steps])
            for name, part in parts.items()
        ]
        title = f"Kendall's tau with the ranking by all judgements ({quality.measure})"
        yield "fewer", line_chart(title, "Share of the judgements (%)", "Kendall's tau", taus)
