"""`annotator members`: who takes part in a collection, and as what."""

from datetime import UTC, datetime

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_table
from annotator.storage import Role
from annotator.workflows import members

as_role = click.option("--role", required=True, type=click.Choice([role.value for role in Role]))


@click.group
def command() -> None:
    """Who takes part in a collection, and as what; a person may have several roles."""


@command.command("add")
@click.argument("slug")
@click.argument("name")
@as_role
@click.option("--team", metavar="TEAM", help="The team of a participant; made when it is new.")
@on_installation
def add(installation: Installation, slug: str, name: str, role: str, team: str | None) -> None:
    """Give a person a role in a collection; an adjudicator decides where judges differ, without seeing who."""
    with installation.database.transaction() as session:
        members.add_member(session, slug, name, Role(role), team=team, added_at=datetime.now(UTC))
    click.echo(f"{name} is now {role} of {slug}.", err=True)


@command.command("remove")
@click.argument("slug")
@click.argument("name")
@as_role
@on_installation
def remove(installation: Installation, slug: str, name: str, role: str) -> None:
    """Take a role away; documents drawn by a judge or an adjudicator go back to the queue, judgements stay."""
    with installation.database.transaction() as session:
        members.remove_member(session, slug, name, Role(role))
    click.echo(f"{name} is no longer {role} of {slug}.", err=True)


@command.command("list")
@click.argument("slug")
@on_installation
def show(installation: Installation, slug: str) -> None:
    """List the members of a collection, a line a role."""
    with installation.database.reading() as session:
        rows = members.list_members(session, slug)
    show_table(
        ["NAME", "ROLE", "TEAM", "ACCEPTED TERMS"],
        [[row.name, row.role.value, row.team, row.terms_accepted_at] for row in rows],
    )
