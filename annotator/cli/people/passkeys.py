"""`annotator users passkeys`: list and remove the passkeys of accounts."""

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.workflows.people import passkeys


@click.group
def passkeys_group() -> None:
    """Passkeys: with which people sign in, alone or after the password; they add them on the page of their account."""


@passkeys_group.command("list")
@click.argument("name", required=False)
@format_option()
@on_installation
def show(installation: Installation, name: str | None, format_: str) -> None:
    """List the passkeys of an account, or of all accounts."""
    rows = installation.database.read(passkeys.list_all_passkeys, name)
    show_rows(
        format_,
        ["NUMBER", "USER", "NAME", "HOST", "SIGNS IN ALONE", "ADDED", "LAST USED"],
        [
            [row.number, row.account, row.name, row.host, row.signs_in_alone, row.added_at, row.last_used_at]
            for row in rows
        ],
    )


@passkeys_group.command("remove")
@click.argument("name")
@click.argument("number", type=click.IntRange(1, 999_999_999), required=False)
@on_installation
def remove(installation: Installation, name: str, number: int | None) -> None:
    """Remove all passkeys of an account, or the one with this NUMBER in the list; the sessions of the account end."""
    with installation.database.transaction() as session:
        count = passkeys.remove_passkeys(session, name, number)
        note(session, "users.passkey-remove", subject=name, details={"passkeys": count})
    click.echo(f"Passkeys removed: {count}. {name} is signed out everywhere.", err=True)
