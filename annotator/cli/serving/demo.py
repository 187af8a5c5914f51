"""`annotator demo`: serve a demonstration site."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.serving.serving import serve_pages
from annotator.demonstration.build import PASSWORD, ROLES, Demonstration, prepare_demonstration


@click.command
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="The port to listen on.",
)
@click.option(
    "--directory",
    default="demo",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of its database, which keeps your judgements.",
)
@click.option("--no-serve", is_flag=True, help="Create the database and exit.")
def command(port: int, directory: Path, *, no_serve: bool) -> None:
    """Demonstration: search Python's documentation with six systems, and judge the results."""
    click.echo("Preparing the demonstration; the first time takes some seconds.", err=True)
    demonstration = prepare_demonstration(directory, now=datetime.now(UTC))
    _say_what_was_made(demonstration, directory)
    if no_serve:
        return
    serve_pages(replace(demonstration.settings, port=port), when_listening=_say_what_to_do)


def _say_what_was_made(demonstration: Demonstration, directory: Path) -> None:
    if demonstration.is_new:
        click.echo(
            f"Made the demonstration in {directory}. It came with {demonstration.labels_used} judgements; "
            f"left out, because this Python words their documents differently: {demonstration.labels_left_out}.",
            err=True,
        )
    else:
        click.echo(f"Found the demonstration in {directory}, with everything judged so far.", err=True)


def _say_what_to_do(address: str) -> None:
    accounts = "\n".join(f"  {name:<6} {role.value}" for name, (role, _) in ROLES.items())
    click.echo(
        f"\nThe demonstration is at {address}\n\n"
        f"Accounts, each with the password “{PASSWORD}”:\n{accounts}\n\n"
        "First sign in as jo and judge some documents; the number keys give grades.\n"
        "Then sign in as ola and look at the agreement and the leaderboard. Ctrl-C ends it.",
        err=True,
    )
