"""`annotator pool leave-out show`: who found what, and how runs would fare had their team not fed the pool."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from annotator.cli.serving.watching import watch
from annotator.cli.site.formats import format_option
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import show_csv, show_json, show_table
from annotator.workflows.leaderboard.leave_out_report import (
    USUAL_MEASURES,
    By,
    LeaveOutReport,
    LeaveOutRequest,
    Part,
    leave_out_report,
)


@click.group("leave-out")
def leave_out() -> None:
    """Who found what, and how runs would fare had their team not fed the pool."""


@leave_out.command("show")
@click.argument("slug")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Such as nDCG@10, AP, P@10; repeatable."
)
@click.option(
    "--whom",
    default=By.TEAM.value,
    show_default=True,
    type=click.Choice([by.value for by in By]),
    help="Left out at a time.",
)
@click.option("--depth", type=int, metavar="K", help="As if all runs had been pooled to depth K, not as they were.")
@click.option("--by", type=click.Choice([part.value for part in Part]), help="One table of the report.")
@format_option()
@on_installation
def show_leave_out(
    installation: Installation,
    slug: str,
    measures: Sequence[str],
    whom: str,
    depth: int | None,
    by: str | None,
    format_: str,
) -> None:
    """Take what only one team found out of the qrels, team by team, and score all runs again.

    SOURCES are who contributed what to the pool; RUNS each run's score and place with and without what only its team
    contributed; WITHOUT how alike the runs rank then. A table without --by shows everything, csv the runs; json always
    has all. Scores are summed up over the runs that contributed.
    """
    request = LeaveOutRequest(tuple(measures) or USUAL_MEASURES, By(whom), depth)
    with installation.database.reading() as session:
        report = leave_out_report(session, slug, request, watch=watch("Scoring"))
    match format_:
        case "json":
            about = {"qrels": asdict(report.state), "notices": list(map(str, report.notices))}
            show_json({**about, **{part.value: _as_dicts(report, part) for part in Part}})
        case "csv":
            show_csv(*report.file(Part(by or Part.RUNS)))
        case _:
            for place, part in enumerate([Part(by)] if by else Part):
                if place:
                    click.echo()
                headings, rows = report.table(part)
                show_table([heading.upper() for heading in headings], rows)
    for line in _notes(report):
        click.echo(line, err=True)


def _as_dicts(report: LeaveOutReport, part: Part) -> list[dict[str, str | int | float | bool | None]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _notes(report: LeaveOutReport) -> Iterator[str]:
    yield from map(str, report.notices)
    for result in report.results:
        mean, greatest = result.shares.mean, result.shares.greatest
        if mean.value is None or greatest.value is None:
            if mean.reason is not None:
                yield f"{result.measure}: {mean.reason.sentence}"
            continue
        yield (
            f"{result.measure}: scores change by {mean.value:.1%} in the mean, by {greatest.value:.1%} at most "
            f"({result.shares.greatest_of}); runs that contributed to the pool: {sum(run.fed for run in result.runs)} "
            f"of {len(result.runs)}."
        )
        if result.dependence is not None:
            yield str(result.dependence.sentence)
