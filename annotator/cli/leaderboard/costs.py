"""`annotator costs`: what each system costs, beside how well it does."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import click

from annotator.cli.leaderboard.cost_tables import (
    cost_option,
    read_statements,
    show_cost_reports,
    within_option,
)
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import by_measures, format_option, show_rows
from annotator.errors import ConflictError
from annotator.evaluation.costs.facts import FactKind
from annotator.evaluation.costs.report import Question
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.workflows.leaderboard import costs, costs_text
from annotator.workflows.leaderboard.costs import ColumnRequest
from annotator.workflows.leaderboard.leaderboard import build_leaderboard


@click.group
def command() -> None:
    """What each system costs: speed, size, hardware, query language."""


@command.command("show")
@click.argument("slug")
@by_measures(DEFAULT_MEASURES[0], "What stands beside the costs")
@cost_option
@within_option
@format_option()
@on_installation
def show(
    installation: Installation, slug: str, measures: tuple[str, ...], cost: str | None, within: str, format_: str
) -> None:
    """Show what every run states, best first by the measure.

    FRONT marks the runs that no other one beats: at least as good by the measure and at least as cheap, and better in
    one of them.
    """
    with installation.database.reading() as session:
        boards = _boards(partial(build_leaderboard, session, slug), measures)
        found = [costs.build_costs(session, slug, board, Question(cost, within)) for board in boards]
    reports = map(costs_text.as_json, found)
    show_cost_reports(format_, {report["measure"] or "": report for report in reports})


@command.command("set")
@click.argument("slug")
@click.argument("tag")
@click.argument("statements", nargs=-1, required=True, metavar="FACT=VALUE…")
@on_installation
def set_costs(installation: Installation, slug: str, tag: str, statements: Sequence[str]) -> None:
    """State what a system costs, such as latency_p95=48, “index_size=1.2 GB”, “latency_at@1000000=35 ms”.

    What is stated of other facts stays; FACT= with nothing behind it takes back what was stated. `costs columns list`
    lists the facts.
    """
    written = read_statements(statements)
    with installation.database.transaction() as session:
        costs.change_costs(session, slug, tag, written, at=datetime.now(UTC))
        note(session, "costs.set", slug, subject=tag, details={"facts": sorted(written)})
    click.echo(f"Stored what {tag} costs.", err=True)


@command.group("columns")
def columns() -> None:
    """What may be stated of a run: what is always there, and what this collection asks beside it."""


@columns.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_columns(installation: Installation, slug: str, format_: str) -> None:
    """List what may be stated of a run."""
    with installation.database.reading() as session:
        headings, rows = costs_text.facts_rows(costs.list_facts(session, slug))
    show_rows(format_, headings, rows)


@columns.command("add")
@click.argument("slug")
@click.argument("key")
@click.option("--name", default="", metavar="TEXT", help="What pages call it; the key unless given.")
@click.option("--unit", default="", metavar="UNIT", help="What its numbers count, such as ms.")
@click.option("--better", type=click.Choice(["less", "more"]), help="Which end is better, if either.")
@click.option("--words", is_flag=True, help="Words are stated, no numbers.")
@on_installation
def add_column(
    installation: Installation, slug: str, key: str, name: str, unit: str, better: str | None, *, words: bool
) -> None:
    """Ask for something else, too, under the KEY."""
    kind = FactKind.WORDS if words else FactKind.NUMBER
    request = ColumnRequest(key, name or key, kind, unit, better or "")
    with installation.database.transaction() as session:
        costs.add_column(session, slug, request, at=datetime.now(UTC))
        note(session, "costs.add-column", slug, subject=request.key, details=vars(request))
    click.echo(f"Added the column {key}.", err=True)


@columns.command("remove")
@click.argument("slug")
@click.argument("key")
@on_installation
def remove_column(installation: Installation, slug: str, key: str) -> None:
    """Ask for it no more; no run may state it."""
    with installation.database.transaction() as session:
        costs.remove_column(session, slug, key)
        note(session, "costs.remove-column", slug, subject=key)
    click.echo(f"Removed the column {key}.", err=True)


def _boards(score: Callable[[list[str]], Leaderboard], measures: Sequence[str]) -> Sequence[Leaderboard | None]:
    """The runs by each measure; one None while they cannot be scored, for costs are shown without scores as well."""
    try:
        return [score([measure]) for measure in measures]
    except ConflictError as refusal:
        click.echo(str(refusal), err=True)
        return [None]
