"""`annotator judges hours show`: hours and judgements of each judge by period, for pay."""

from datetime import date

import click

from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.moment_types import DAY
from annotator.cli.site.tables import show_json, show_table
from annotator.workflows.agreement.judge_hours import (
    HEADINGS,
    HoursWanted,
    Period,
    hours_cells,
    hours_csv,
    judge_hours,
)


@click.group("hours")
def hours() -> None:
    """Hours and judgements of each judge, for pay."""


@hours.command("show")
@click.argument("slug")
@click.option(
    "--since", "first", type=DAY, metavar="WHEN", help="The first day that counts, such as 2027-03-01, in UTC."
)
@click.option("--until", "last", type=DAY, metavar="WHEN", help="The last day that counts.")
@click.option(
    "--period",
    default=Period.MONTH.value,
    show_default=True,
    type=click.Choice([one.value for one in Period]),
    help="What a line counts.",
)
@format_option()
@on_installation
def show_hours(
    installation: Installation, slug: str, first: date | None, last: date | None, period: str, format_: str
) -> None:
    """Show how much each judge has judged and in how many hours, by day, week (from Monday), month, or in all.

    Hours are those in which a document was looked at and the page used; a judgement that was changed counts again, as
    it was work. Machines, training, and grades carried over to documents of the same text are left out.
    """
    with installation.database.reading() as session:
        rows = judge_hours(session, slug, HoursWanted(first, last, Period(period)))
    match format_:
        case "json":
            show_json([dict(zip(HEADINGS, hours_cells(row), strict=True)) for row in rows])
        case "csv":
            click.echo(hours_csv(rows).encode(), nl=False)
        case _:
            headings = [heading.replace("_", " ").upper() for heading in HEADINGS]
            show_table(headings, [hours_cells(row) for row in rows])
