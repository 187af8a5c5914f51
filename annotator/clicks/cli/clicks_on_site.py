"""`annotator --site URL clicks`: log files by themselves, the click logs on a site, and its judgements beside."""

from collections.abc import Sequence
from datetime import datetime

import click

from annotator.cli.remote.site import Site, in_path, on_site
from annotator.cli.site.files import read_file, read_files
from annotator.cli.site.tables import by_measures, format_option
from annotator.clicks.cli.click_findings import show_findings, table_option
from annotator.clicks.cli.click_log_options import describes_added_log, read_links, say_added, show_logs
from annotator.clicks.cli.click_options import GivenLog
from annotator.clicks.cli.clicks_check import check
from annotator.clicks.cli.clicks_compare import compare, positions
from annotator.clicks.cli.clicks_interleaving import interleaving
from annotator.clicks.cli.together_tables import (
    NOTHING_TO_ADD,
    by_option,
    log_of,
    log_option,
    pool_option,
    say_pooled,
    show_reports,
)
from annotator.clicks.workflows.click_logs import LogKind, findings_from_json
from annotator.clicks.workflows.clicks_and_judgements import USUAL_MEASURE


@click.group
def command() -> None:
    """Click logs: check files, compare the variants of a search; add logs to a collection on a site."""


for each in (check, compare, positions, interleaving):
    command.add_command(each)


@command.command("add")
@click.argument("slug")
@describes_added_log
@on_site
def add(
    site: Site,
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
    The site's worker reads what is large; the command waits for it.
    """
    files = [("log", file) for file in read_files(log.paths)]
    files += [("lists", read_file(lists))] if lists is not None else []
    stored = site.send_form(
        f"/collections/{slug}/click-logs",
        files,
        name=name,
        kind=LogKind.INTERLEAVING.value if is_interleaved else None,
        variant=variants,
        column=[f"{ours}={theirs}" for ours, theirs in log.mapping.columns.items()],
        event=[f"{ours}={theirs}" for theirs, ours in log.mapping.events.items()],
        click_column=log.mapping.click_column,
        variant_from_name=log.mapping.variant_from_name,
        drop_bad_lines=log.mapping.drops_bad_lines,
        bootstrap=bootstrap,
        return_days=days,
        split=split,
        without_bots=without_bots,
    )
    say_added(stored["name"], stored["lines"], stored["dropped"], stored["runs"])


@command.command("list")
@click.argument("slug")
@format_option()
@on_site
def list_(site: Site, slug: str, format_: str) -> None:
    """List the click logs of a collection with their variants, newest first."""
    logs = site.every(f"/collections/{slug}/click-logs")
    names = ("name", "kind", "runs", "lines", "dropped")
    show_logs(format_, [(*(log[name] for name in names), datetime.fromisoformat(log["added_at"])) for log in logs])


@command.command("show")
@click.argument("slug")
@click.argument("name")
@table_option
@format_option()
@on_site
def show(site: Site, slug: str, name: str, by: str | None, format_: str) -> None:
    """Show what was found in a log.

    A table without --by shows what sums it up, csv the measures or the pairs; json always has all.
    """
    findings = site.get(f"/collections/{slug}/click-logs/{in_path(name)}")
    show_findings(format_, findings_from_json(findings), by)


@command.command("link")
@click.argument("slug")
@click.argument("name")
@click.argument("links", nargs=-1, required=True, metavar="VARIANT=TAG...")
@on_site
def link(site: Site, slug: str, name: str, links: Sequence[str]) -> None:
    """Say which run each variant of a log stands for; VARIANT= is none."""
    site.patch(f"/collections/{slug}/click-logs/{in_path(name)}", {"runs": read_links(links)})
    click.echo(f"Linked the variants of {name}.", err=True)


@command.command("remove")
@click.argument("slug")
@click.argument("name")
@on_site
def remove(site: Site, slug: str, name: str) -> None:
    """Forget a log; what it gave to the pool stays there."""
    site.delete(f"/collections/{slug}/click-logs/{in_path(name)}")
    click.echo(f"Removed the click log {name}.", err=True)


@command.group("together")
def together() -> None:
    """Clicks beside judgements."""


@together.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "Of the judgements")
@log_option
@by_option
@pool_option
@format_option()
@on_site
def show_together(
    site: Site,
    slug: str,
    measures: tuple[str, ...],
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
    path = f"/collections/{slug}/together"
    found = [site.get(path, m=measure, log=log) for measure in measures]
    reports = {report["measure"]: report for report in found}
    clicked = show_reports(format_, reports, by)
    if add_to_pool and (log_of(reports) is None or not clicked):
        click.echo(NOTHING_TO_ADD, err=True)
    elif add_to_pool:
        pooled = site.post(f"{path}/pool", {"m": measures, "log": log})
        say_pooled(pooled["version"], pooled["added"])
