"""`annotator judges hours`: hours and judgements of each judge by period, for pay."""

from datetime import date, datetime

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_json, show_table
from annotator.workflows.judge_hours import HEADINGS, HoursWanted, Period, hours_cells, hours_csv, judge_hours

DAY = click.DateTime(["%Y-%m-%d"])


@click.command("hours")
@click.argument("slug")
@click.option("--from", "first", type=DAY, metavar="DAY", help="The first day that counts, such as 2027-03-01, in UTC.")
@click.option("--to", "last", type=DAY, metavar="DAY", help="The last day that counts.")
@click.option("--by", default=Period.MONTH.value, show_default=True, type=click.Choice([one.value for one in Period]))
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@on_installation
def hours(
    installation: Installation, slug: str, first: datetime | None, last: datetime | None, by: str, format_: str
) -> None:
    """Show how much each judge has judged and in how many hours, by day, week (from Monday), month, or in all.

    Hours are those in which a document was looked at and the page used; a judgement that was changed counts again, as
    it was work. Machines, training, and grades carried over to documents of the same text are left out.
    """
    with installation.database.reading() as session:
        rows = judge_hours(session, slug, HoursWanted(_day(first), _day(last), Period(by)))
    match format_:
        case "json":
            show_json([dict(zip(HEADINGS, hours_cells(row), strict=True)) for row in rows])
        case "csv":
            click.echo(hours_csv(rows).encode(), nl=False)
        case _:
            headings = [heading.replace("_", " ").upper() for heading in HEADINGS]
            show_table(headings, [hours_cells(row) for row in rows])


def _day(moment: datetime | None) -> date | None:
    return moment if moment is None else moment.date()
