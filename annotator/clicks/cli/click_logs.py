"""`annotator clicks add`, `list`, `show`, `link`, `remove`, `together`: logs of a collection, judgements beside."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.site.files import read_file
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import by_measures, format_option
from annotator.clicks.cli.click_findings import show_findings, table_option
from annotator.clicks.cli.click_log_options import describes_added_log, read_links, say_added, show_logs
from annotator.clicks.cli.click_options import GivenLog
from annotator.clicks.cli.together_tables import (
    NOTHING_TO_ADD,
    by_option,
    log_of,
    log_option,
    pool_option,
    say_pooled,
    show_reports,
)
from annotator.clicks.workflows import click_logs, clicks_and_judgements_text
from annotator.clicks.workflows.click_logs import ComparisonWanted, Expected, LogKind, LogRequest
from annotator.clicks.workflows.clicked_pool import pool_clicked
from annotator.clicks.workflows.clicks_and_judgements import USUAL_MEASURE, TogetherRequest, together_report


@click.command("add")
@click.argument("slug")
@describes_added_log
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
    say_added(name, stored.lines, stored.dropped, stored.runs)


@click.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_(installation: Installation, slug: str, format_: str) -> None:
    """List the click logs of a collection with their variants, newest first."""
    with installation.database.reading() as session:
        logs = click_logs.list_logs(session, slug)
    show_logs(format_, [(log.name, log.kind.value, log.runs, log.lines, log.dropped, log.added_at) for log in logs])


@click.command("show")
@click.argument("slug")
@click.argument("name")
@table_option
@format_option()
@on_installation
def show(installation: Installation, slug: str, name: str, by: str | None, format_: str) -> None:
    """Show what was found in a log.

    A table without --by shows what sums it up, csv the measures or the pairs; json always has all.
    """
    with installation.database.reading() as session:
        findings = click_logs.show_log(session, slug, name).findings
    show_findings(format_, findings, by)


@click.command("link")
@click.argument("slug")
@click.argument("name")
@click.argument("links", nargs=-1, required=True, metavar="VARIANT=TAG...")
@on_installation
def link(installation: Installation, slug: str, name: str, links: Sequence[str]) -> None:
    """Say which run each variant of a log stands for; VARIANT= is none."""
    runs = read_links(links)
    with installation.database.transaction() as session:
        click_logs.link_variants(session, slug, name, runs)
        note(session, "clicks.link", slug, subject=name, details={"runs": runs})
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


@click.group("together")
def together() -> None:
    """Clicks beside judgements."""


@together.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "Of the judgements")
@log_option
@by_option
@pool_option
@format_option()
@on_installation
def show_together(
    installation: Installation,
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
    with installation.database.reading() as session:
        found = [together_report(session, slug, TogetherRequest(measure, log)) for measure in measures]
    reports = {report.measure: clicks_and_judgements_text.as_json(report) for report in found}
    clicked = show_reports(format_, reports, by)
    if add_to_pool:
        _add_to_pool(installation, slug, log_of(reports), clicked)


def _add_to_pool(installation: Installation, slug: str, log: str | None, clicked: Sequence[tuple[str, str]]) -> None:
    if log is None or not clicked:
        click.echo(NOTHING_TO_ADD, err=True)
        return
    with installation.database.transaction() as session:
        pooled = pool_clicked(session, slug, log=log, clicked=clicked, built_by_id=None, built_at=datetime.now(UTC))
        note(session, "pool.build", slug, subject=pooled.version, details={"log": log, "added": pooled.added})
    say_pooled(pooled.version, pooled.added)
