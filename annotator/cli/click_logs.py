"""`annotator clicks add`, `list`, `link`, `remove` and `together`: logs of a collection, and its judgements beside."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.click_options import GivenLog, describes_log
from annotator.cli.deeds import note
from annotator.cli.input_files import read_file
from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_csv, show_json, show_table
from annotator.workflows import click_logs
from annotator.workflows.click_logs import RETURN_DAYS, ComparisonWanted, Expected, LogKind, LogRequest
from annotator.workflows.clicked_pool import pool_clicked
from annotator.workflows.together import USUAL_MEASURE, Part, TogetherReport, TogetherRequest, together_report

HEADINGS = ("LOG", "KIND", "VARIANT", "RUN", "LINES", "LEFT OUT", "ADDED")
# Of the tables together, those that a terminal shows unless one is asked for.
SHOWN_UNASKED = (Part.VARIANTS, Part.PAIRS, Part.QUERIES)


@click.command("add")
@click.argument("slug")
@click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
@describes_log
@click.option("--name", required=True, metavar="NAME", help="By which the log is found again.")
@click.option(
    "--interleaving", "is_interleaved", is_flag=True, help="Each list was made of several variants; else an A/B test."
)
@click.option(
    "--lists", type=FILE, metavar="FILE", help="The lists that were shown, as annotator interleave makes them."
)
@click.option("--variants", nargs=2, metavar="A B", help="Which two to compare, B against A.")
@click.option("--bootstrap", is_flag=True, help="Draw users anew.")
@click.option("--days", default=RETURN_DAYS, show_default=True, metavar="N", help="Users return within so many days.")
@click.option("--split", default=0.5, show_default=True, metavar="SHARE", help="Of the users that A was to have.")
@click.option("--without-bots", is_flag=True, help="Leave out who sees pages faster than people read.")
@on_installation
def add(
    installation: Installation,
    slug: str,
    log: GivenLog,
    name: str,
    lists: str | None,
    variants: tuple[str, str] | None,
    days: int,
    split: float,
    *,
    is_interleaved: bool,
    bootstrap: bool,
    without_bots: bool,
) -> None:
    """Study a log, and keep for a collection what was found in it; the log itself is not kept.

    Nobody's name is kept, and of queries only those that are topics. A variant that is called as a run stands for it.
    """
    given = None if lists is None else read_file(lists)
    asked = LogRequest(
        name=name,
        kind=LogKind.INTERLEAVING if is_interleaved or given is not None else LogKind.COMPARISON,
        mapping=log.mapping,
        wanted=ComparisonWanted(
            variants=variants or None,
            bootstraps=bootstrap,
            return_days=days,
            expected=Expected(split, leaves_bots_out=without_bots),
        ),
        lists=None if given is None else (given.name, given.content),
    )
    with installation.database.reading() as session:
        titles = click_logs.foresee_log(session, slug, name)
    with log.watched() as advance:
        studied = click_logs.study_log(log.files, asked, titles, advance=advance)
    with installation.database.transaction() as session:
        stored = click_logs.store_log(session, slug, studied, by_id=None, at=datetime.now(UTC))
        note(session, "clicks.add", slug, subject=name, details={"sha256": stored.checksum})
    click.echo(f"Added the click log {name}: {stored.lines} lines, {stored.dropped} left out.", err=True)
    for variant, tag in stored.runs.items():
        click.echo(f"{variant} stands for {'no run' if tag is None else f'the run {tag}'}.", err=True)


@click.command("list")
@click.argument("slug")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "json"]))
@on_installation
def list_(installation: Installation, slug: str, format_: str) -> None:
    """List the click logs of a collection with their variants, newest first."""
    with installation.database.reading() as session:
        logs = click_logs.list_logs(session, slug)
    if format_ == "json":
        show_json([{**vars(log), "added_at": log.added_at.isoformat()} for log in logs])
        return
    show_table(
        HEADINGS,
        [
            [log.name, log.kind.value, variant, tag, log.lines, log.dropped, log.added_at]
            for log in logs
            for variant, tag in log.runs.items()
        ],
    )


@click.command("link")
@click.argument("slug")
@click.argument("name")
@click.argument("links", nargs=-1, required=True, metavar="VARIANT=TAG...")
@on_installation
def link(installation: Installation, slug: str, name: str, links: Sequence[str]) -> None:
    """Say which run each variant of a log stands for; VARIANT= is none."""
    runs: dict[str, str | None] = {}
    for written in links:
        variant, equals, tag = written.rpartition("=")
        if not equals or not variant:
            raise click.UsageError(f"“{written}” is not of the form VARIANT=TAG.")
        runs[variant] = tag or None
    with installation.database.transaction() as session:
        click_logs.link_variants(session, slug, name, runs)
        note(session, "clicks.link", slug, subject=name, details=runs)
    click.echo(f"Linked the variants of {name}.", err=True)


@click.command("remove")
@click.argument("slug")
@click.argument("name")
@on_installation
def remove(installation: Installation, slug: str, name: str) -> None:
    """Forget a log; what it gave to the pool stays there."""
    with installation.database.transaction() as session:
        click_logs.remove_log(session, slug, name)
        note(session, "clicks.remove", slug, subject=name)
    click.echo(f"Removed the click log {name}.", err=True)


@click.command("together")
@click.argument("slug")
@click.option("-m", "--measure", default=USUAL_MEASURE, show_default=True, help="Of the judgements.")
@click.option("--log", metavar="NAME", help="Whose queries are told; the newest that can be, unless set.")
@click.option("--by", type=click.Choice([part.value for part in Part]), help="One of the tables.")
@click.option("--add-to-pool", is_flag=True, help="Make the documents of these queries the next version of the pool.")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@on_installation
def together(
    installation: Installation,
    slug: str,
    measure: str,
    log: str | None,
    by: str | None,
    format_: str,
    *,
    add_to_pool: bool,
) -> None:
    """Hold what users clicked against what judges said, of all runs that variants of logs stand for.

    Differences are the second run's value less the first's. The queries are those on which the two differ most. A table
    without --by shows variants, pairs and queries, csv the pairs; json always has all.
    """
    with installation.database.reading() as session:
        report = together_report(session, slug, TogetherRequest(measure, log))
    match format_:
        case "json":
            show_json({part.value: _objects(report, part) for part in Part})
        case "csv":
            show_csv(*report.file(Part(by or Part.PAIRS)))
        case _:
            for place, part in enumerate([Part(by)] if by else SHOWN_UNASKED):
                if place:
                    click.echo()
                headings, rows = report.table(part)
                show_table([heading.upper() for heading in headings], rows)
    click.echo(f"Documents of these queries that are not in the pool: {len(report.to_pool)}.", err=True)
    if add_to_pool:
        _add_to_pool(installation, slug, report)


def _objects(report: TogetherReport, part: Part) -> list[dict[str, object]]:
    headings, rows = report.table(part)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _add_to_pool(installation: Installation, slug: str, report: TogetherReport) -> None:
    if report.asked is None or not report.to_pool:
        click.echo("There is no document to add.", err=True)
        return
    with installation.database.transaction() as session:
        pooled = pool_clicked(
            session, slug, log=report.asked, clicked=report.to_pool, built_by_id=None, built_at=datetime.now(UTC)
        )
        note(session, "pool.build", slug, subject=pooled.version, details={"log": report.asked, "added": pooled.added})
    click.echo(f"Version {pooled.version} of the pool: {pooled.added} added.", err=True)
