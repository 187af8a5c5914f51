"""`annotator rounds`: further rounds of runs on the same topics, and the judgements made before each."""

from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import confirm, is_asked, yes_at_terminal
from annotator.cli.site.tables import format_option, show_rows
from annotator.workflows.collections import rounds
from annotator.workflows.pools import pools
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels


@click.group
def command() -> None:
    """Rounds of runs: list them, close the open one, open the next one."""


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the rounds, each with the qrels version that was kept when it was closed."""
    rows = installation.database.read(rounds.list_rounds, slug)
    if not rows:
        click.echo("This collection has no rounds: all its runs belong together.", err=True)
        return
    show_rows(
        format_,
        ["ROUND", "NAME", "OPENED", "CLOSED", "QRELS", "RUNS", "JUDGED BEFORE"],
        [
            [row.number, row.name, row.opened_at, row.closed_at, row.version, row.runs, row.judged_before]
            for row in rows
        ],
    )


@command.command("close")
@click.argument("slug")
@yes_at_terminal
@on_installation
def close(installation: Installation, slug: str, *, yes: bool) -> None:
    """Close the open round, and keep the current settled grades as its qrels version.

    In a collection without rounds this makes all runs so far the first round. No runs are accepted until the next round
    is opened; judging continues. At a terminal it first shows the numbers of runs and grades, and asks whether to go
    on.
    """
    if is_asked(yes=yes):
        confirm(_effect(installation, slug), yes=False)
    now = datetime.now(UTC)
    database = installation.database
    made = database.read(export_qrels, slug, to_keep=True, made_at=now)
    with qrels_versions.storing_grades(database, slug, made) as stored, database.transaction() as session:
        closed = qrels_versions.close_round(session, slug, stored, by_id=None, at=now)
        note(session, "rounds.close", slug, subject=closed.number, details={"qrels": closed.version})
    for warning in made.warnings:
        click.echo(str(warning), err=True)
    click.echo(f"Closed round {closed.number}; its grades are kept as version {closed.version} of the qrels.", err=True)


@command.command("open")
@click.argument("slug")
@click.option("--name", default="", metavar="TEXT", help="The name of the round.")
@on_installation
def open_next(installation: Installation, slug: str, name: str) -> None:
    """Open the next round; runs submitted from now on belong to it."""
    with installation.database.transaction() as session:
        number = rounds.open_round(session, slug, name=name, at=datetime.now(UTC))
        note(session, "rounds.open", slug, subject=number)
    click.echo(f"Opened round {number}.", err=True)


def _effect(installation: Installation, slug: str) -> str:
    with installation.database.reading() as session:
        closing = rounds.round_to_close(session, slug)
        grades = len(export_qrels(session, slug, made_at=datetime.now(UTC)).grades)
        progress = pools.pool_progress(session, slug)
    incomplete = sum(one.items - one.complete for one in progress)
    return (
        f"This closes round {closing.number}, which cannot be opened again: {closing.runs} runs. Grades that are kept: "
        f"{grades}; documents that are not fully judged: {incomplete}. No runs are taken until the next round is open."
    )
