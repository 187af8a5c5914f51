"""`annotator costs`: what each system costs, beside how well it does."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.deeds import note
from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_csv, show_json, show_table
from annotator.errors import ConflictError
from annotator.workflows import costs, costs_text
from annotator.workflows.costs import ColumnRequest, CostReport, Question
from annotator.workflows.leaderboard import DEFAULT_MEASURES, build_leaderboard


@click.group
def command() -> None:
    """What each system costs: speed, size, hardware, query language."""


@command.command("show")
@click.argument("slug")
@click.option("-m", "--measure", default=DEFAULT_MEASURES[0], show_default=True, help="What stands beside the costs.")
@click.option("--cost", metavar="FACT", help="The cost of the Pareto front, such as latency_at@1000000. [a latency]")
@click.option("--within", default="", metavar="BOUND", help="Only runs within it, such as “50 ms”.")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
@on_installation
def show(installation: Installation, slug: str, measure: str, cost: str | None, within: str, format_: str) -> None:
    """Show what every run states, best first by the measure.

    FRONT marks the runs that no other one beats: at least as good by the measure and at least as cheap, and better in
    one of them.
    """
    with installation.database.reading() as session:
        try:
            board = build_leaderboard(session, slug, [measure])
        except ConflictError as refusal:
            board = None
            click.echo(str(refusal), err=True)
        report = costs.build_costs(session, slug, board, Question(cost, within))
    match format_:
        case "json":
            show_json(costs_text.as_json(report))
        case "csv":
            click.echo(costs_text.costs_csv(report).encode(), nl=False)
        case _:
            show_table(*costs_text.readable_rows(report))
            _tell(report)


@command.command("set")
@click.argument("slug")
@click.argument("tag")
@click.argument("statements", nargs=-1, required=True, metavar="FACT=VALUE…")
@on_installation
def set_costs(installation: Installation, slug: str, tag: str, statements: Sequence[str]) -> None:
    """State what a system costs, such as latency_p95=48, “index_size=1.2 GB”, “latency_at@1000000=35 ms”.

    What is stated of other facts stays; FACT= with nothing behind it takes back what was stated. `costs columns` lists
    the facts.
    """
    written = dict(_read(one) for one in statements)
    if len(written) < len(statements):
        raise click.UsageError("A fact is given twice.")
    with installation.database.transaction() as session:
        costs.change_costs(session, slug, tag, written, at=datetime.now(UTC))
        note(session, "costs.set", slug, subject=tag, details=written)
    click.echo(f"Stored what {tag} costs.", err=True)


@command.command("columns")
@click.argument("slug")
@click.option("--add", metavar="KEY", help="Ask for something else, too, under this key.")
@click.option("--name", default="", help="With --add: what pages call it.")
@click.option("--unit", default="", help="With --add: what its numbers count.")
@click.option("--better", default="", type=click.Choice(["", "less", "more"]), help="With --add: which end is better.")
@click.option("--words", is_flag=True, help="With --add: words are stated, no numbers.")
@click.option("--remove", metavar="KEY", help="Ask for it no more; no run may state it.")
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv"]))
@on_installation
def columns(
    installation: Installation,
    slug: str,
    add: str | None,
    name: str,
    unit: str,
    better: str,
    remove: str | None,
    format_: str,
    *,
    words: bool,
) -> None:
    """List what may be stated of a run, or change what this collection asks beside what is always there."""
    if add is None and (name or unit or better or words):
        raise click.UsageError("--name, --unit, --better and --words are for a column that is added: give --add, too.")
    if add is not None or remove is not None:
        kind = costs.Kind.WORDS if words else costs.Kind.NUMBER
        request = None if add is None else ColumnRequest(add, name or add, kind, unit, better)
        _change_columns(installation, slug, request, remove)
        return
    with installation.database.reading() as session:
        headings, rows = costs_text.facts_rows(costs.list_facts(session, slug))
    if format_ == "csv":
        show_csv(headings, rows)
    else:
        show_table(headings, rows)


def _change_columns(installation: Installation, slug: str, request: ColumnRequest | None, remove: str | None) -> None:
    with installation.database.transaction() as session:
        if remove is not None:
            costs.remove_column(session, slug, remove)
            note(session, "costs.remove-column", slug, subject=remove)
        if request is not None:
            costs.add_column(session, slug, request, at=datetime.now(UTC))
            note(session, "costs.add-column", slug, subject=request.key, details=vars(request))
    click.echo("Stored the columns.", err=True)


def _read(statement: str) -> tuple[str, str]:
    fact, equals, value = statement.partition("=")
    if not equals:
        raise click.UsageError(f"“{statement}” is not FACT=VALUE.")
    return fact.strip(), value


def _tell(report: CostReport) -> None:
    """What the marks stand for, and what was left out."""
    if report.has_front and report.board is not None:
        front = f"FRONT: nobody is better by {report.board.measures[0]} without being worse by {report.axis.address}"
        click.echo(f"{front}. Qrels: {report.board.source}, fingerprint {report.board.fingerprint}.", err=True)
    if report.within is not None:
        click.echo(
            f"Left out: {report.over} runs beyond the bound, {report.silent} that do not state {report.axis.address}.",
            err=True,
        )
