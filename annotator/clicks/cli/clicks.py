"""`annotator clicks`: click logs checked and compared, stored in a collection, and compared with judgements."""

from collections.abc import Callable, Mapping, Sequence

import click

from annotator.cli.remote.either import on_database_or_site
from annotator.cli.site.files import FILE, read_file
from annotator.cli.site.tables import (
    by_measures,
    format_option,
    say_by_measure,
    show_by_measure,
    show_csv,
    show_json,
    show_rows,
    show_table,
)
from annotator.clicks.cli.clicks_compare import check, compare, positions
from annotator.clicks.cli.clicks_interleaving import interleaving
from annotator.clicks.cli.log_stores import GivenLog, SiteLogs, StoredLogs, describes_log
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import (
    FINDING_TABLES,
    RETURN_DAYS,
    ComparisonWanted,
    Expected,
    LogFindings,
    LogKind,
)
from annotator.clicks.workflows.clicks_and_judgements import (
    Report,
    TogetherTable,
    not_pooled,
    report_file,
    report_table,
)
from annotator.errors import NotFoundError
from annotator.evaluation.metrics.names import USUAL_MEASURE

HEADINGS = ("LOG", "KIND", "VARIANT", "RUN", "LINES", "LEFT OUT", "ADDED")
LOG_OPTIONS = (
    click.option("--name", required=True, metavar="TEXT", help="The name of the log in the collection."),
    click.option(
        "--interleaving",
        "is_interleaved",
        is_flag=True,
        help="Each list was interleaved from several variants. [an A/B test]",
    ),
    click.option(
        "--lists", type=FILE, metavar="FILE", help="The interleaved lists, as annotator interleave writes them."
    ),
    click.option("--variants", nargs=2, metavar="A B", help="The two variants to compare, B against A."),
    click.option("--bootstrap", is_flag=True, help="Resample users with replacement (bootstrap)."),
    click.option(
        "--return-days",
        "days",
        default=RETURN_DAYS,
        show_default=True,
        metavar="N",
        help="Users who come back within this many days have returned.",
    ),
    click.option("--split", default=0.5, show_default=True, metavar="SHARE", help="The planned share of users for A."),
    click.option("--without-bots", is_flag=True, help="Leave out users who view pages faster than people read."),
)


def describes_added_log(command: Callable[..., None]) -> Callable[..., None]:
    """Add to a command the arguments and options that name a log, how it is read and what is compared."""
    described = command
    for option in reversed(LOG_OPTIONS):
        described = option(described)
    argument = click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
    return argument(describes_log(described))


def read_links(links: Sequence[str]) -> dict[str, str | None]:
    """Parse `VARIANT=TAG` into {variant: run}; raises `UsageError` for any other form."""
    runs: dict[str, str | None] = {}
    for written in links:
        variant, equals, tag = written.rpartition("=")
        if not equals or not variant:
            raise click.UsageError(f"“{written}” is not of the form VARIANT=TAG.")
        runs[variant] = tag or None
    return runs


ClickLogs = StoredLogs | SiteLogs
on_logs = on_database_or_site(StoredLogs, SiteLogs)
# The tables a terminal shows without --by; csv has the last of them.
SHOWN_UNASKED = {LogKind.COMPARISON: ("checks", "variants", "measures"), LogKind.INTERLEAVING: ("variants", "pairs")}

table_option = click.option("--by", type=click.Choice(FINDING_TABLES), help="One table of the report.")

# The tables of clicks and judgements that a terminal shows without --by.
REPORTS_UNASKED = (TogetherTable.VARIANTS, TogetherTable.PAIRS, TogetherTable.QUERIES)

log_option = click.option("--log", metavar="NAME", help="The log to take queries from. [the newest that has any]")
by_option = click.option(
    "--by", type=click.Choice([part.value for part in TogetherTable]), help="One table of the report."
)
pool_option = click.option(
    "--add-to-pool", is_flag=True, help="Make the documents of these queries the next version of the pool."
)


@click.group
def command() -> None:
    """Click logs, plain or gzip, comma-separated or JSON Lines: check, compare variants, add to a collection."""


for each in (check, compare, positions, interleaving):
    command.add_command(each)


@command.command("add")
@click.argument("slug")
@describes_added_log
@on_logs
def add(
    logs: ClickLogs,
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
    """Analyse a click log and store the results in a collection; the log itself is not stored.

    No user names are stored, and only queries that are topics. A variant with the name of a run is linked to that run.
    On a site the worker reads large files; the command waits for it.
    """
    wanted = ComparisonWanted(
        variants=variants or None,
        bootstraps=bootstrap,
        return_days=days,
        expected=Expected(split, leaves_bots_out=without_bots),
    )
    given = None if lists is None else read_file(lists)
    added = logs.add(slug, log, name, wanted, given, is_interleaved=is_interleaved)
    click.echo(f"Added the click log {added.name}: {added.lines} lines, {added.dropped} left out.", err=True)
    for variant, tag in added.runs.items():
        click.echo(f"{variant} stands for {'no run' if tag is None else f'the run {tag}'}.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_logs
def list_(logs: ClickLogs, slug: str, format_: str) -> None:
    """List the click logs of a collection with their variants, newest first."""
    show_rows(
        format_,
        HEADINGS,
        [
            [log.name, log.kind, variant, tag, log.lines, log.dropped, log.added_at]
            for log in logs.all(slug)
            for variant, tag in log.runs.items()
        ],
    )


@command.command("show")
@click.argument("slug")
@click.argument("name")
@table_option
@format_option()
@on_logs
def show(logs: ClickLogs, slug: str, name: str, by: str | None, format_: str) -> None:
    """Show the results for a log.

    A table without --by shows the summary, csv the measures or the pairs; json always has everything.
    """
    show_findings(format_, logs.findings(slug, name), by)


@command.command("link")
@click.argument("slug")
@click.argument("name")
@click.argument("links", nargs=-1, required=True, metavar="VARIANT=TAG...")
@on_logs
def link(logs: ClickLogs, slug: str, name: str, links: Sequence[str]) -> None:
    """Link each variant of a log to the run that it shows; VARIANT= links it to none."""
    logs.link(slug, name, read_links(links))
    click.echo(f"Linked the variants of {name}.", err=True)


@command.command("remove")
@click.argument("slug")
@click.argument("name")
@on_logs
def remove(logs: ClickLogs, slug: str, name: str) -> None:
    """Remove a log; documents that it added to the pool stay there."""
    logs.remove(slug, name)
    click.echo(f"Removed the click log {name}.", err=True)


@command.group("together")
def together() -> None:
    """Clicks compared with judgements."""


@together.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "Compute this measure from the judgements")
@log_option
@by_option
@pool_option
@format_option()
@on_logs
def show_together(
    logs: ClickLogs,
    slug: str,
    measures: tuple[str, ...],
    log: str | None,
    by: str | None,
    format_: str,
    *,
    add_to_pool: bool,
) -> None:
    """Compare clicks with judgements, for all runs that are linked to variants of logs.

    Differences are the second run minus the first. The queries are those on which the two differ most. A table without
    --by shows variants, pairs and queries, csv the pairs; json always has everything.
    """
    reports = logs.together(slug, measures, log)
    clicked = show_reports(format_, reports, by)
    if add_to_pool:
        shown = next((str(report["log"]) for report in reports.values() if report["log"] is not None), None)
        if shown is None or not clicked:
            click.echo("There is no document to add.", err=True)
            return
        version, added = logs.pool(slug, measures, shown, clicked)
        click.echo(f"Version {version} of the pool: {added} added.", err=True)


def show_findings(format_: str, findings: LogFindings, by: str | None) -> None:
    """Print the tables of a log, and the conclusion of an A/B test; raises `NotFoundError` for an unknown table."""
    conclusion = None if findings.comparison is None else str(click_logs.conclusion(findings.comparison))
    names = [by] if by else SHOWN_UNASKED[findings.kind]
    if format_ == "json":
        show_json({"conclusion": conclusion, **findings.to_json()})
    elif format_ == "csv":
        show_csv(*_table(findings, names[-1]))
    else:
        for place, name in enumerate(names):
            if place:
                click.echo()
            headings, rows = _table(findings, name)
            show_table([heading.upper() for heading in headings], rows)
    if conclusion is not None:
        click.echo(conclusion, err=True)


def _table(findings: LogFindings, name: str) -> click_logs.Table:
    found = click_logs.finding_table(findings, name)
    if found is None:
        raise NotFoundError("There is no such part of the report.")
    return found


def show_reports(format_: str, reports: Mapping[str, Report], by: str | None) -> list[tuple[str, str]]:
    """Print reports by measure, and return topic and docno of the documents that are not in the pool."""
    parts = [TogetherTable(by)] if by else REPORTS_UNASKED
    show_by_measure(
        format_,
        reports,
        as_json=lambda report: report,
        as_csv=lambda report: report_file(report, TogetherTable(by or TogetherTable.PAIRS)),
        tables=lambda report: _show_reports_tables(report, parts),
    )
    say_by_measure({measure: report["notices"] for measure, report in reports.items()})
    # Which queries differ most depends on the measure.
    clicked = list(dict.fromkeys(pair for report in reports.values() for pair in not_pooled(report)))
    click.echo(f"Documents of these queries that are not in the pool: {len(clicked)}.", err=True)
    return clicked


def _show_reports_tables(report: Report, parts: Sequence[TogetherTable]) -> None:
    for place, part in enumerate(parts):
        if place:
            click.echo()
        headings, rows = report_table(report, part)
        show_table([heading.upper() for heading in headings], rows)
