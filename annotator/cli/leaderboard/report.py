"""`annotator report export`: an HTML page for an overview paper."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import qrels_option, task_option
from annotator.cli.site.progress import watch
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.installed import installed_version
from annotator.reporting import report_html
from annotator.workflows.leaderboard.overview_report import (
    ALL_SECTIONS,
    ENGLISH,
    LANGUAGES,
    OverviewRequest,
    ReportSection,
    overview_report,
)


@click.group
def command() -> None:
    """A report of the collection on one page, for an overview paper."""


@command.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@qrels_option
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Such as nDCG@10, AP; the first is tested."
)
@click.option(
    *("--section", "sections"),
    type=click.Choice([section.value for section in ReportSection]),
    multiple=True,
    help="A section to include; all by default.",
)
@click.option(
    "--report-language", "language", type=click.Choice(LANGUAGES), default=ENGLISH, help="The language of the report."
)
@task_option
@on_installation
def export(
    installation: Installation,
    slug: str,
    *,
    output: str | None,
    qrels: str,
    measures: Sequence[str],
    sections: Sequence[str],
    language: str,
    task: str | None,
) -> None:
    """Write a report of a collection: one self-contained page of HTML.

    Task, participants, pool, judging effort (judges have numbers, not names), agreement, leaderboard, topics,
    significance, quality of the collection, methods, and the manifest with the checksum of the qrels. Each table is
    also there as LaTeX. The numbers are those of the commands. With --task the sections on pool, judging, agreement and
    manifest are still about the whole collection.
    """
    chosen = tuple(map(ReportSection, sections)) or ALL_SECTIONS
    request = OverviewRequest(tuple(measures) or DEFAULT_MEASURES, qrels, chosen, language, task)
    report = installation.database.read(
        overview_report, slug, request, made_at=datetime.now(UTC), version=installed_version(), watch=watch("Scoring")
    )
    write_or_print(output, report_html(report))
