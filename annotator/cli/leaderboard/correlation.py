"""`annotator correlation show`: the runs ranked by two measures, or by two states of the qrels."""

from dataclasses import asdict

import click

from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import Row, show_json, show_table
from annotator.workflows.leaderboard.measure_correlation import (
    HEADINGS,
    USUAL_MEASURES,
    Correlation,
    Side,
    correlate,
    correlation_csv,
)


@click.group
def command() -> None:
    """The runs ranked by two measures, or by two states of the qrels."""


@command.command("show")
@click.argument("slug")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="The measure; two to compare two.")
@click.option(
    "--qrels",
    multiple=True,
    metavar="GRADES",
    help="The grades to score by, the number of a kept version or live; two to compare two. [live]",
)
@format_option()
@on_installation
def show(
    installation: Installation, slug: str, measures: tuple[str, ...], qrels: tuple[str, ...], format_: str
) -> None:
    """Rank the runs twice and say how alike the rankings are, by Kendall's tau-b, tau AP and rank-biased overlap.

    Two measures, as in `-m AP -m P@10`, or two states of the qrels, as in `--qrels 1 --qrels live`, or both; each
    state scores the runs over its own topics.
    """
    if len(measures) > len(USUAL_MEASURES) or len(qrels) > len(USUAL_MEASURES):
        raise click.UsageError("Two rankings are compared: there are two measures and two states of the qrels at most.")
    usual = USUAL_MEASURES if len(set(qrels)) <= 1 else USUAL_MEASURES[:1]
    named, states = measures or usual, qrels or ("live",)
    first, second = Side(named[0], states[0]), Side(named[-1], states[-1])
    with installation.database.reading() as session:
        found = correlate(session, slug, first, second)
    rows: list[Row] = [[run.tag, run.first, run.second, run.first_place, run.second_place] for run in found.runs]
    match format_:
        case "json":
            show_json({**asdict(found), "tau": found.tau.value, "notices": list(map(str, found.notices))})
        case "csv":
            click.echo(correlation_csv(found).encode(), nl=False)
        case _:
            show_table([heading.upper() for heading in HEADINGS], rows)
    _tell(found)


def _tell(found: Correlation) -> None:
    for notice in found.notices:
        click.echo(str(notice), err=True)
    for name, side in (("First", found.first), ("Second", found.second)):
        state = side.state
        click.echo(
            f"{name}: {side.measure} by {state.name} qrels, {state.grades} grades of {state.topics} topics.", err=True
        )
    alike = found.similarity
    if found.tau.reason is not None:
        click.echo(str(found.tau.reason.sentence), err=True)
    elif alike.tau_ap is not None and alike.rbo is not None:
        click.echo(f"tau-b {alike.tau:.4f}, tau AP {alike.tau_ap:.4f}, RBO {alike.rbo:.4f}.", err=True)
