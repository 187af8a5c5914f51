"""`annotator pool holes show`: what is unjudged in the tops of the runs."""

from datetime import UTC, datetime

import click

from annotator.cli.pools.pool_growth import confirm_growth
from annotator.cli.site.audit_note import note
from annotator.cli.site.confirming import yes_at_terminal
from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import show_csv, show_json, show_table
from annotator.workflows.pools import pool_building
from annotator.workflows.pools.pool_holes import DEPTHS, HolesReport, holes_report


@click.group("holes")
def holes() -> None:
    """What is unjudged in the tops of the runs."""


@holes.command("show")
@click.argument("slug")
@click.option(
    "--depth", "depths", multiple=True, type=int, metavar="K", help="The top to look at; repeatable. Else 10, 20, 100."
)
@click.option(
    "--add-to-pool", "add", is_flag=True, help="Make the holes down to one --depth the next version of the pool."
)
@yes_at_terminal
@format_option()
@on_installation
def show_holes(
    installation: Installation, slug: str, depths: tuple[int, ...], *, add: bool, yes: bool, format_: str
) -> None:
    """Show what is unjudged in the top of each run, and with --add-to-pool have it judged.

    At a terminal --add-to-pool first shows how many hours of judging that is, and asks whether to go on.
    """
    if add and len(depths) != 1:
        raise click.UsageError("--add-to-pool needs one --depth: how far down the holes are to be filled.")
    with installation.database.reading() as session:
        report = holes_report(session, slug, depths or DEPTHS)
    headings, rows = report.table()
    match format_:
        case "json":
            show_json([dict(zip(headings, row, strict=True)) for row in rows])
        case "csv":
            show_csv(*report.file())
        case _:
            show_table([heading.upper() for heading in headings], rows)
    _tell(report)
    if add:
        confirm_growth(installation, slug, pool_building.filling_request(depths[0]), yes=yes)
        _add(installation, slug, depths[0])


def _tell(report: HolesReport) -> None:
    for filling in report.fillings:
        click.echo(
            f"To fill the holes of all runs down to {filling.depth}: {filling.documents} documents of {filling.topics} "
            f"topics, of which {filling.pooled} are in the pool already and {filling.new} are not.",
            err=True,
        )


def _add(installation: Installation, slug: str, depth: int) -> None:
    with installation.database.reading() as session:
        choice = pool_building.choose_filling(session, slug, depth)
    with installation.database.transaction() as session:
        summary = pool_building.store_pool(session, slug, choice, built_by_id=None, built_at=datetime.now(UTC))
        note(session, "pool.build", slug, subject=summary.version, details={"depth": depth, "added": summary.added})
    if summary.is_new:
        click.echo(f"Version {summary.version} of the pool: {summary.added} added.", err=True)
    else:
        click.echo(f"All of them are in the pool already: version {summary.version} stays in force.", err=True)
