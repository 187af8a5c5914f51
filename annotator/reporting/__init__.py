"""The report on a collection as one self-contained HTML page, with tables as LaTeX and pictures drawn from them."""

from collections.abc import Callable, Iterator, Mapping

from annotator.reporting.blocks import Block, Section
from annotator.reporting.closing_sections import citation, manifest, methods
from annotator.reporting.collection_sections import agreement, judging, participants, pool, task
from annotator.reporting.page_environment import page_environment
from annotator.reporting.result_sections import leaderboard, quality, significance, topics
from annotator.reporting.scripts import chart_style, drawing, libraries
from annotator.reporting.words import Words
from annotator.workflows.leaderboard.overview_report import OverviewReport, ReportSection

TEMPLATE = "leaderboard/report/page.html"
BUILDERS: Mapping[ReportSection, Callable[[OverviewReport, Words], Iterator[Block]]] = {
    ReportSection.TASK: task,
    ReportSection.PARTICIPANTS: participants,
    ReportSection.POOL: pool,
    ReportSection.JUDGING: judging,
    ReportSection.AGREEMENT: agreement,
    ReportSection.LEADERBOARD: leaderboard,
    ReportSection.TOPICS: topics,
    ReportSection.SIGNIFICANCE: significance,
    ReportSection.QUALITY: quality,
    ReportSection.METHODS: methods,
    ReportSection.CITATION: citation,
    ReportSection.MANIFEST: manifest,
}


def section_titles(translate: Callable[[str], str]) -> dict[ReportSection, str]:
    """The headings of the sections, in their order."""
    _ = translate
    return {
        ReportSection.TASK: _("Task"),
        ReportSection.PARTICIPANTS: _("Participants and runs"),
        ReportSection.POOL: _("Pool"),
        ReportSection.JUDGING: _("Judging effort"),
        ReportSection.AGREEMENT: _("Agreement"),
        ReportSection.LEADERBOARD: _("Leaderboard"),
        ReportSection.TOPICS: _("Topic difficulty"),
        ReportSection.SIGNIFICANCE: _("Significance"),
        ReportSection.QUALITY: _("Collection quality"),
        ReportSection.METHODS: _("Methods and measures"),
        ReportSection.CITATION: _("How to cite"),
        ReportSection.MANIFEST: _("Manifest"),
    }


def report_html(report: OverviewReport) -> bytes:
    """Render the page; equal reports give equal bytes."""
    words = Words(report.request.language)
    titles = section_titles(words.gettext)
    chosen = [section for section in ReportSection if section in report.request.sections]
    sections = [Section(one.value, titles[one], tuple(BUILDERS[one](report, words))) for one in chosen]
    html = (
        page_environment(report.request.language)
        .get_template(TEMPLATE)
        .render(
            report=report,
            sections=sections,
            language=report.request.language,
            scripts=libraries(),
            drawing=drawing(),
            chart_style=chart_style(),
        )
    )
    return html.encode()
