"""`annotator disagreements list`: documents whose judges differ, worst first."""

import click

from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.scoring_options import topics_option
from annotator.cli.site.tables import Row, show_table
from annotator.workflows.agreement.disagreements import (
    Disagreement,
    Wanted,
    Word,
    disagreements_csv,
    disagreements_json,
    list_disagreements,
)


@click.group
def command() -> None:
    """Documents whose judges differ."""


@command.command("list")
@click.argument("slug")
@topics_option
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="Only where this judge differs; twice: where these two do."
)
@click.option("--apart", "least_distance", default=1, metavar="N", help="Only so many grades apart or more.")
@click.option("--across", "only_across", is_flag=True, help="Only what one judge finds relevant and another does not.")
@click.option("--undecided", "only_undecided", is_flag=True, help="Only what no adjudicator has decided.")
@format_option()
@on_installation
def list_(
    installation: Installation,
    slug: str,
    topics: tuple[str, ...],
    judges: tuple[str, ...],
    least_distance: int,
    format_: str,
    *,
    only_across: bool,
    only_undecided: bool,
) -> None:
    """List the documents whose judges differ, worst first: across the line of relevance, then by grades apart.

    A table has the grades; csv and json have the notes and the evidence too. Machines are left out, and adjudicators
    decide.
    """
    wanted = Wanted(topics, judges, least_distance, only_across, only_undecided)
    with installation.database.reading() as session:
        rows = list_disagreements(session, slug, wanted)
    match format_:
        case "json":
            click.echo(disagreements_json(rows).encode(), nl=False)
        case "csv":
            click.echo(disagreements_csv(rows).encode(), nl=False)
        case _:
            show_table(["TOPIC", "DOCUMENT", "APART", "ACROSS", "DECIDED", "GRADES"], [_row(row) for row in rows])
            click.echo(f"Documents: {len(rows)}.", err=True)


def _row(row: Disagreement) -> Row:
    words = [_said(word) for word in row.words]
    return [row.topic, row.docno, row.distance, row.is_across, row.is_decided, ", ".join(words)]


def _said(word: Word) -> str:
    """The judge with their grade; what decides has a sign of its own."""
    said = "cannot judge" if word.decision.grade is None else str(word.decision.grade)
    return f"{word.judge}{'!' if word.adjudicates else ''}: {said}"
