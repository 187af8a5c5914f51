"""`annotator users`: accounts."""

import sys
from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_text
from annotator.cli.installation import Installation, on_installation
from annotator.cli.machine_options import machine_facts, machine_options
from annotator.cli.tables import show_table
from annotator.passwords import hash_password
from annotator.workflows import accounts, machine_judges

password_file = click.option(
    "--password-file",
    type=FILE,
    metavar="FILE",
    help="Read the password from the first line of this file; - is standard input.",
)


@click.group
def command() -> None:
    """Accounts: add, list, give a new password, mark as a machine.

    A password is asked for twice on a terminal; elsewhere it is one line of standard input.
    """


@command.command("add")
@click.argument("name")
@click.option("--administrator", is_flag=True, help="May add users and collections, and everything in each collection.")
@password_file
@on_installation
def add(installation: Installation, name: str, password_file: str | None, *, administrator: bool) -> None:
    """Add an account."""
    password_hash = hash_password(_new_password(password_file))
    with installation.database.transaction() as session:
        accounts.add_user(
            session, name, password_hash=password_hash, administrator=administrator, added_at=datetime.now(UTC)
        )
    click.echo(f"Added the user {name}.", err=True)


@command.command("list")
@on_installation
def show(installation: Installation) -> None:
    """List the accounts; those made by an import of labels cannot sign in."""
    with installation.database.reading() as session:
        users = accounts.list_users(session)
    show_table(
        ["NAME", "ADMINISTRATOR", "SIGNS IN", "ADDED", "MACHINE"],
        [[user.name, user.administrator, user.can_sign_in, user.added_at, _machine(user)] for user in users],
    )


@command.command("password")
@click.argument("name")
@password_file
@on_installation
def replace_password(installation: Installation, name: str, password_file: str | None) -> None:
    """Give an account a new password; it is signed out everywhere."""
    password_hash = hash_password(_new_password(password_file))
    with installation.database.transaction() as session:
        accounts.set_password(session, name, password_hash)
    click.echo(f"The user {name} has a new password.", err=True)


@command.command("mark-machine")
@click.argument("name")
@machine_options
@on_installation
def mark_machine(
    installation: Installation, name: str, model: str, prompt_file: str | None, labelled_on: datetime | None
) -> None:
    """Say that a judge is a machine: its labels are never mixed with people's, unless a collection counts them.

    The documents it has labelled want a person again.
    """
    facts = machine_facts(model, prompt_file, labelled_on)
    with installation.database.transaction() as session:
        machine_judges.mark_machine(session, name, facts)
    click.echo(f"The judge {name} is a machine.", err=True)


@command.command("mark-person")
@click.argument("name")
@on_installation
def mark_person(installation: Installation, name: str) -> None:
    """Take it back that a judge is a machine."""
    with installation.database.transaction() as session:
        machine_judges.mark_person(session, name)
    click.echo(f"The judge {name} is a person.", err=True)


def _machine(user: accounts.AccountRow) -> str | None:
    """What a machine is, None for a person."""
    return user.machine if user.machine is None else user.machine or "yes"


def _new_password(file: str | None) -> str:
    if file is None and sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return next(iter(read_text(file or "-").splitlines()), "")
