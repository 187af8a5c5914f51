"""`annotator pool holes`, `overlap`, `leave-out` and `near-duplicates`: reports on what the pool has."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import click

from annotator.cli.pools.pool_plan import confirm_growth
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import task_option, yes_at_terminal
from annotator.cli.site.progress import watch
from annotator.cli.site.tables import Row, Table, format_option, show_csv, show_json, show_table, show_tables
from annotator.evaluation.reusability.holes import DEPTHS
from annotator.workflows.documents import near_duplicates
from annotator.workflows.documents.near_duplicates import USUALLY_AT_LEAST, SimilarDocument, TopicLikeness
from annotator.workflows.leaderboard.leave_out_report import (
    USUAL_MEASURES,
    By,
    LeaveOutReport,
    LeaveOutRequest,
    Part,
    leave_out_report,
)
from annotator.workflows.pools import pool_building, run_overlap
from annotator.workflows.pools.pool_holes import HolesReport, holes_report
from annotator.workflows.pools.run_overlap import OverlapPart, overlap_report


@click.group("holes")
def holes() -> None:
    """Holes: unjudged documents at the top of the runs."""


@holes.command("show")
@click.argument("slug")
@click.option("--depth", "depths", multiple=True, type=int, metavar="K", help="The cutoff; repeatable. [10, 20, 100]")
@click.option(
    "--add-to-pool",
    "add",
    is_flag=True,
    help="Add the unjudged documents down to one --depth to the pool, as its next version.",
)
@yes_at_terminal
@task_option
@format_option()
@on_installation
def show_holes(
    installation: Installation,
    slug: str,
    depths: tuple[int, ...],
    task: str | None,
    *,
    add: bool,
    yes: bool,
    format_: str,
) -> None:
    """Show the unjudged documents at the top of each run; with --add-to-pool add them to the pool.

    At a terminal --add-to-pool first shows the hours of judging, and asks whether to go on. With --task only the
    documents of its runs are counted, and added.
    """
    if add and len(depths) != 1:
        raise click.UsageError("--add-to-pool needs one --depth: how far down the holes are to be filled.")
    report = installation.database.read(holes_report, slug, depths or DEPTHS, task=task)
    headings, rows = report.table()
    match format_:
        case "json":
            show_json([dict(zip(headings, row, strict=True)) for row in rows])
        case "csv":
            show_csv(*report.file())
        case _:
            show_table([heading.upper() for heading in headings], rows)
    _tell_fillings(report)
    if add:
        confirm_growth(installation, slug, pool_building.filling_request(depths[0], task), yes=yes)
        _add_filling(installation, slug, depths[0], task)


def _tell_fillings(report: HolesReport) -> None:
    for notice in report.notices:
        click.echo(str(notice), err=True)
    for filling in report.fillings:
        click.echo(
            f"To fill the holes of all runs down to {filling.depth}: {filling.documents} documents of {filling.topics} "
            f"topics, of which {filling.pooled} are in the pool already and {filling.new} are not.",
            err=True,
        )


def _add_filling(installation: Installation, slug: str, depth: int, task: str | None) -> None:
    choice = installation.database.read(pool_building.choose_filling, slug, depth, task)
    details = {"depth": depth, **({} if task is None else {"task": task})}
    with installation.database.transaction() as session:
        summary = pool_building.store_pool(session, slug, choice, built_by_id=None, built_at=datetime.now(UTC))
        note(session, "pool.build", slug, subject=summary.version, details={**details, "added": summary.added})
    if summary.is_new:
        click.echo(f"Version {summary.version} of the pool: {summary.added} added.", err=True)
    else:
        click.echo(f"All of them are in the pool already: version {summary.version} stays in force.", err=True)


@click.group("overlap")
def overlap() -> None:
    """Documents that runs have in common, and relevant documents by team."""


@overlap.command("show")
@click.argument("slug")
@click.option(
    "--depth",
    type=int,
    default=run_overlap.USUAL_DEPTH,
    show_default=True,
    metavar="K",
    help="Compare the top of the runs to this depth.",
)
@click.option(
    "--by",
    type=click.Choice([part.value for part in OverlapPart]),
    default=OverlapPart.RUNS.value,
    show_default=True,
    help="One table of the report: what every two runs have in common, or what each team contributed and found.",
)
@task_option
@format_option()
@on_installation
def show_overlap(installation: Installation, slug: str, depth: int, by: str, task: str | None, format_: str) -> None:
    """Show the share of top documents that every two runs have in common, as a mean over topics.

    With --by teams: the documents that each team contributed to the pool, the relevant ones among them, and those that
    no other team contributed or found. A run without a team is a team of its own.
    """
    report = installation.database.read(overlap_report, slug, depth, with_all=True, task=task)
    headings, rows = report.table(OverlapPart(by))
    match format_:
        case "json":
            show_json([dict(zip(headings, row, strict=True)) for row in rows])
        case "csv":
            show_csv(*report.file(OverlapPart(by)))
        case _:
            show_table([heading.upper().replace("_", " ") for heading in headings], rows)
    for notice in report.notices:
        click.echo(str(notice), err=True)
    click.echo(f"Runs: {report.runs}, to rank {report.depth}. Relevant documents: {report.relevant}.", err=True)


@click.group("leave-out")
def leave_out() -> None:
    """Contribution by team, and how runs score without the documents that only their team contributed."""


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
    help="What is left out at a time.",
)
@click.option("--depth", type=int, metavar="K", help="Assume that all runs were pooled to depth K.")
@click.option("--by", type=click.Choice([part.value for part in Part]), help="One table of the report.")
@task_option
@format_option()
@on_installation
def show_leave_out(
    installation: Installation,
    slug: str,
    measures: Sequence[str],
    whom: str,
    depth: int | None,
    by: str | None,
    task: str | None,
    format_: str,
) -> None:
    """Remove the documents that only one team contributed from the qrels, team by team, and score all runs again.

    SOURCES: contributions to the pool; RUNS: score and rank of each run with and without the documents that only its
    team contributed; WITHOUT: correlation of the rankings. A table without --by shows everything, csv the runs; json
    always has all. Scores are averaged over the runs that contributed.
    """
    request = LeaveOutRequest(tuple(measures) or USUAL_MEASURES, By(whom), depth, task)
    report = installation.database.read(leave_out_report, slug, request, watch=watch("Scoring"))
    match format_:
        case "json":
            about = {"qrels": asdict(report.state), "notices": list(map(str, report.notices))}
            show_json({**about, **{part.value: _leave_out_rows(report, part) for part in Part}})
        case "csv":
            show_csv(*report.file(Part(by or Part.RUNS)))
        case _:
            for place, part in enumerate([Part(by)] if by else Part):
                if place:
                    click.echo()
                headings, rows = report.table(part)
                show_table([heading.upper() for heading in headings], rows)
    for line in _leave_out_notes(report):
        click.echo(line, err=True)


def _leave_out_rows(report: LeaveOutReport, part: Part) -> list[dict[str, str | int | float | bool | None]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _leave_out_notes(report: LeaveOutReport) -> Iterator[str]:
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


@click.group("near-duplicates")
def near_duplicates_group() -> None:
    """Near-duplicates and identical documents."""


@near_duplicates_group.command("list")
@click.argument("slug")
@click.option("--topic", "numbers", multiple=True, metavar="NUMBER", help="Only this topic; repeatable. [all]")
@click.option(
    "--at-least",
    type=float,
    default=USUALLY_AT_LEAST,
    show_default=True,
    metavar="SHARE",
    help="The minimum similarity, from 0.5 to 1.",
)
@format_option()
@on_installation
def list_near_duplicates(
    installation: Installation, slug: str, numbers: tuple[str, ...], at_least: float, format_: str
) -> None:
    """Show pairs of near-duplicates of a topic, and identical documents, which are judged once."""
    with installation.database.reading() as session:
        asked = list(numbers) or near_duplicates.topics_to_compare(session, slug)
        found = [near_duplicates.show_likeness(session, slug, number, at_least) for number in asked]
    show_tables(
        format_,
        Table(
            "pairs",
            ["TOPIC", "SIMILARITY", "DOCUMENT", "OTHER", "GRADES", "OF OTHER", "DIFFER", "TITLE", "TITLE OF OTHER"],
            [row for topic in found for row in _pairs(topic)],
        ),
        Table(
            "identical",
            ["TOPIC", "IDENTICAL", "SHOWN INSTEAD", "TAKEN OVER"],
            [[topic.number, one.docno, one.shown_instead, one.carried] for topic in found for one in topic.identical],
        ),
    )


def _pairs(topic: TopicLikeness) -> list[Row]:
    return [
        [
            topic.number,
            pair.similarity,
            pair.first.docno,
            pair.second.docno,
            _grades(pair.first),
            _grades(pair.second),
            pair.differs,
            pair.first.title,
            pair.second.title,
        ]
        for pair in topic.pairs or ()
    ]


def _grades(document: SimilarDocument) -> str | None:
    return " ".join(f"{judge}:{grade}" for judge, grade in document.grades) or None
