"""Clicks beside judgements on a terminal, the same from a database and from a site."""

from collections.abc import Mapping, Sequence

import click

from annotator.cli.site.tables import say_by_measure, show_by_measure, show_table
from annotator.clicks.workflows import clicks_and_judgements_text
from annotator.clicks.workflows.clicks_and_judgements import TogetherTable
from annotator.clicks.workflows.clicks_and_judgements_text import Report

# Of the tables together, those that a terminal shows unless one is asked for.
SHOWN_UNASKED = (TogetherTable.VARIANTS, TogetherTable.PAIRS, TogetherTable.QUERIES)
NOTHING_TO_ADD = "There is no document to add."

log_option = click.option("--log", metavar="NAME", help="Whose queries are told; the newest that can be, unless set.")
by_option = click.option(
    "--by", type=click.Choice([part.value for part in TogetherTable]), help="One table of the report."
)
pool_option = click.option(
    "--add-to-pool", is_flag=True, help="Make the documents of these queries the next version of the pool."
)


def show_reports(format_: str, reports: Mapping[str, Report], by: str | None) -> list[tuple[str, str]]:
    """Show reports by measure, and return topic and docno of the documents that are not in the pool."""
    parts = [TogetherTable(by)] if by else SHOWN_UNASKED
    show_by_measure(
        format_,
        reports,
        as_json=lambda report: report,
        as_csv=lambda report: clicks_and_judgements_text.file(report, TogetherTable(by or TogetherTable.PAIRS)),
        tables=lambda report: _show_tables(report, parts),
    )
    say_by_measure({measure: report["notices"] for measure, report in reports.items()})
    # Which queries differ most depends on the measure.
    clicked = list(
        dict.fromkeys(pair for report in reports.values() for pair in clicks_and_judgements_text.not_pooled(report))
    )
    click.echo(f"Documents of these queries that are not in the pool: {len(clicked)}.", err=True)
    return clicked


def log_of(reports: Mapping[str, Report]) -> str | None:
    """The log whose queries the reports tell of; None without any."""
    return next((str(report["log"]) for report in reports.values() if report["log"] is not None), None)


def say_pooled(version: int, added: int) -> None:
    """Tell which version of the pool is in force, and what was added to it."""
    click.echo(f"Version {version} of the pool: {added} added.", err=True)


def _show_tables(report: Report, parts: Sequence[TogetherTable]) -> None:
    for place, part in enumerate(parts):
        if place:
            click.echo()
        headings, rows = clicks_and_judgements_text.table(report, part)
        show_table([heading.upper() for heading in headings], rows)
