"""`annotator guidelines`: the instructions for judges."""

from datetime import UTC, datetime

import click

from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.workflows.collections import collection


@click.group
def command() -> None:
    """Guidelines for judges, in Markdown; every version is kept."""


@command.command("set")
@click.argument("slug")
@click.argument("file", type=FILE)
@on_installation
def replace(installation: Installation, slug: str, file: str) -> None:
    """Publish a new version of the guidelines; an identical text creates none."""
    text = read_text(file)
    with installation.database.transaction() as session:
        number = collection.set_guidelines(session, slug, text, made_by_id=None, made_at=datetime.now(UTC))
        note(session, "guidelines.set", slug, subject=number)
    click.echo(f"Version {number} of the guidelines is in force.", err=True)


@command.command("show")
@click.argument("slug")
@on_installation
def show(installation: Installation, slug: str) -> None:
    """Print the current version of the guidelines."""
    present = installation.database.read(collection.show_guidelines, slug)
    if present.number == 0:
        click.echo("There are no guidelines yet.", err=True)
    else:
        click.echo(present.text.encode(), nl=not present.text.endswith("\n"))


@command.group("acceptances")
def acceptances() -> None:
    """Which version each judge has accepted."""


@acceptances.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_acceptances(installation: Installation, slug: str, format_: str) -> None:
    """List the version that each judge has accepted; those who have not accepted the current one get no documents."""
    with installation.database.reading() as session:
        present = collection.show_guidelines(session, slug)
        rows = collection.list_acceptances(session, slug)
    show_rows(
        format_,
        ["JUDGE", "ACCEPTED", "IN FORCE"],
        [[row.judge, row.number, row.number == present.number] for row in rows],
    )
