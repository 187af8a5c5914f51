"""`annotator --site URL costs`: what each system costs, beside how well it does."""

from collections.abc import Sequence

import click

from annotator.cli.leaderboard.cost_tables import (
    cost_option,
    read_statements,
    show_cost_reports,
    within_option,
)
from annotator.cli.remote.site import Site, in_path, on_site
from annotator.cli.site.tables import by_measures, format_option, show_rows
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.workflows.leaderboard.costs_text import FACT_HEADINGS, ReportEntry

FACT_FIELDS = ("key", "kind", "unit", "better", "per", "own", "name")


@click.group
def command() -> None:
    """What each system costs, on a site: speed, size, hardware, query language."""


@command.command("show")
@click.argument("slug")
@by_measures(DEFAULT_MEASURES[0], "What stands beside the costs")
@cost_option
@within_option
@format_option()
@on_site
def show(site: Site, slug: str, measures: Sequence[str], cost: str | None, within: str, format_: str) -> None:
    """Show what every run states, best first by the measure; to participants once the leaderboard is released.

    FRONT marks the runs that no other one beats: at least as good by the measure and at least as cheap, and better in
    one of them.
    """
    reports: dict[str, ReportEntry] = {}
    for measure in measures:
        report = site.get(f"/collections/{slug}/costs", m=measure, cost=cost, within=within)
        unscored = report.pop("unscored")
        reports[report["measure"] or ""] = report
        if unscored is not None:  # the same by every measure
            click.echo(unscored, err=True)
            break
    show_cost_reports(format_, reports)


@command.command("set")
@click.argument("slug")
@click.argument("tag")
@click.argument("statements", nargs=-1, required=True, metavar="FACT=VALUE…")
@on_site
def set_costs(site: Site, slug: str, tag: str, statements: Sequence[str]) -> None:
    """State what a system costs, such as latency_p95=48, “index_size=1.2 GB”, “latency_at@1000000=35 ms”.

    What is stated of other facts stays; FACT= with nothing behind it takes back what was stated. `costs columns list`
    lists the facts.
    """
    written = [{"fact": fact, "value": value} for fact, value in read_statements(statements).items()]
    site.patch(f"/collections/{slug}/run-costs/{in_path(tag)}", {"costs": written})
    click.echo(f"Stored what {tag} costs.", err=True)


@command.group("columns")
def columns() -> None:
    """What may be stated of a run: what is always there, and what this collection asks beside it."""


@columns.command("list")
@click.argument("slug")
@format_option()
@on_site
def list_columns(site: Site, slug: str, format_: str) -> None:
    """List what may be stated of a run."""
    facts = site.every(f"/collections/{slug}/cost-facts")
    show_rows(format_, FACT_HEADINGS, [[fact[name] for name in FACT_FIELDS] for fact in facts])


@columns.command("add")
@click.argument("slug")
@click.argument("key")
@click.option("--name", default="", metavar="TEXT", help="What pages call it; the key unless given.")
@click.option("--unit", default="", metavar="UNIT", help="What its numbers count, such as ms.")
@click.option("--better", type=click.Choice(["less", "more"]), help="Which end is better, if either.")
@click.option("--words", is_flag=True, help="Words are stated, no numbers.")
@on_site
def add_column(site: Site, slug: str, key: str, name: str, unit: str, better: str | None, *, words: bool) -> None:
    """Ask for something else, too, under the KEY."""
    body = {"key": key, "name": name, "unit": unit, "kind": "words" if words else "number"}
    site.post(f"/collections/{slug}/cost-facts", body | ({} if better is None else {"better": better}))
    click.echo(f"Added the column {key}.", err=True)


@columns.command("remove")
@click.argument("slug")
@click.argument("key")
@on_site
def remove_column(site: Site, slug: str, key: str) -> None:
    """Ask for it no more; no run may state it."""
    site.delete(f"/collections/{slug}/cost-facts/{in_path(key)}")
    click.echo(f"Removed the column {key}.", err=True)
