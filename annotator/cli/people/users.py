"""`annotator users` and `annotator tokens`: accounts and their API tokens."""

import sys
from datetime import UTC, datetime

import click

from annotator.cli.people.members import account_invitations
from annotator.cli.people.options import at_address, link_to, machine_facts, machine_options
from annotator.cli.people.passkeys import passkeys_group
from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.passwords import hash_password
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.audit import Transaction
from annotator.storage.people.accounts import find_user
from annotator.workflows.agreement import machine_judges
from annotator.workflows.people import accounts, erasure, identities, invitations, passkeys, second_factor, tokens
from annotator.workflows.people.tokens import MOST_DAYS as MOST_TOKEN_DAYS
from annotator.workflows.people.tokens import TokenRequest, read_scopes

password_file = click.option(
    "--password-file",
    type=FILE,
    metavar="FILE",
    help="Read the password from the first line of this file; - is standard input.",
)


@click.group
def command() -> None:
    """Accounts: add, invite, list, set a new password, sign out, mark as a machine.

    On a terminal the password is asked for twice; elsewhere it is one line of standard input.
    """


command.add_command(account_invitations, "invitations")
command.add_command(passkeys_group, "passkeys")


@command.command("add")
@click.argument("name")
@click.option("--administrator", is_flag=True, help="May add users and collections, and everything in each collection.")
@password_file
@on_installation
def add(installation: Installation, name: str, password_file: str | None, *, administrator: bool) -> None:
    """Add an account."""
    password_hash = hash_password(_new_password(password_file), [name])
    with installation.database.transaction() as session:
        accounts.add_user(
            session, name, password_hash=password_hash, administrator=administrator, added_at=datetime.now(UTC)
        )
        note(session, "users.add", subject=name, details={"administrator": administrator})
    click.echo(f"Added the user {name}.", err=True)


@command.command("list")
@format_option()
@on_installation
def show(installation: Installation, format_: str) -> None:
    """List the accounts; those made by an import of labels cannot sign in."""
    users = installation.database.read(accounts.list_users)
    show_rows(
        format_,
        ["NAME", "ADMINISTRATOR", "SIGNS IN", "SECOND FACTOR", "IDENTITIES", "ADDED", "MACHINE"],
        [
            [
                user.name,
                user.administrator,
                user.can_sign_in,
                user.has_second_factor,
                ", ".join(user.identities) or None,
                user.added_at,
                _machine(user),
            ]
            for user in users
        ],
    )


@command.command("reset-password")
@click.argument("name")
@at_address
@on_installation
def reset_password(installation: Installation, name: str, address: str) -> None:
    """Print a link with which the owner of an account sets a new password; it works once and expires after two days."""
    with installation.database.transaction() as session:
        secret = invitations.invite_to_password(session, None, name, made_by_id=None, at=datetime.now(UTC))
        note(session, "users.password-link", subject=name)
    click.echo(link_to(address, secret))


@command.command("sign-out")
@click.argument("name")
@on_installation
def sign_out(installation: Installation, name: str) -> None:
    """End all sessions of an account, revoke its tokens and its password links; its password stays."""
    with installation.database.transaction() as session:
        accounts.sign_out_everywhere(session, name, at=datetime.now(UTC))
        note(session, "users.sign-out", subject=name)
    click.echo(f"{name} is signed out everywhere.", err=True)


@command.command("reset-second-factor")
@click.argument("name")
@on_installation
def reset_second_factor(installation: Installation, name: str) -> None:
    """Turn off the second factor of an account, passkeys included, whose owner has lost it; its password stays."""
    with installation.database.transaction() as session:
        second_factor.reset(session, name)
        note(session, "users.second-factor-reset", subject=name)
    click.echo(f"{name} signs in without a second factor now.", err=True)


@command.command("remove")
@click.argument("name")
@click.confirmation_option(prompt="What is known of this person cannot be brought back. Forget them?")
@on_installation
def remove(installation: Installation, name: str) -> None:
    """Delete the personal data of an account; its judgements stay, under a pseudonym.

    The account loses its password, its roles, its tokens and its name, also in the audit log and in the manifests of
    kept qrels. The text of its notes and questions stays: check it with `judgements export`.
    """
    with installation.database.transaction() as session:
        other = erasure.forget_user(session, name)
        note(session, "users.forget", subject=other)
    click.echo(f"Forgotten. The judgements stay as those of {other}.", err=True)


@command.command("set")
@click.argument("name")
@click.option("--password", "asks", is_flag=True, help="Ask for a new password, or read it from standard input.")
@password_file
@click.option("--machine/--person", "is_machine", default=None, help="Whether the account is a machine or a person.")
@click.option(
    "--unlink-identities", "unlinks", is_flag=True, help="Unlink all identities at a provider; the password stays."
)
@click.option(
    "--remove-passkeys", "removes_passkeys", is_flag=True, help="With a new password: remove all passkeys, too."
)
@machine_options
@on_installation
def set_(
    installation: Installation,
    name: str,
    password_file: str | None,
    model: str,
    prompt_file: str | None,
    labelled_on: datetime | None,
    *,
    asks: bool,
    unlinks: bool,
    removes_passkeys: bool,
    is_machine: bool | None,
) -> None:
    """Set a new password for an account, unlink its identities, or change whether it is a machine.

    A new password ends all its sessions and revokes its tokens. Labels of a machine are never mixed with people's,
    unless a collection includes them; documents labelled only by a machine are judged by people as well.
    """
    facts = machine_facts(model, prompt_file, labelled_on)
    if is_machine is not True and (model or prompt_file or labelled_on):
        raise click.UsageError("--model, --prompt and --date are said of a machine: give --machine, too.")
    gives_password = asks or password_file is not None
    if not gives_password and is_machine is None and not unlinks:
        raise click.UsageError(
            "Give at least one of --password, --password-file, --unlink-identities, --machine, --person."
        )
    if removes_passkeys and not gives_password:
        raise click.UsageError(
            "--remove-passkeys goes with --password or --password-file. To remove passkeys alone: annotator users "
            f"passkeys remove {name}"
        )
    if is_machine is not None:
        installation.database.attempt(lambda session: _mark(session, name, facts if is_machine else None))
        click.echo(f"The judge {name} is a {'machine' if is_machine else 'person'}.", err=True)
    if gives_password:
        _set_password(installation, name, password_file, removes_passkeys=removes_passkeys)
    if unlinks:
        _unlink_identities(installation, name)


def _set_password(installation: Installation, name: str, password_file: str | None, *, removes_passkeys: bool) -> None:
    password_hash = hash_password(_new_password(password_file), [name])
    with installation.database.transaction() as session:
        removed = passkeys.give_password(
            session, name, password_hash, removes_passkeys=removes_passkeys, at=datetime.now(UTC)
        )
        note(session, "users.password", subject=name)
        if removed:
            note(session, "users.passkey-remove", subject=name, details={"passkeys": removed})
    click.echo(f"The user {name} has a new password.", err=True)
    if removes_passkeys:
        click.echo(f"Passkeys removed: {removed}.", err=True)
    if count := installation.database.read(passkeys.count_passkeys, name):
        click.echo(
            f"Passkeys that still open the account: {count}. To remove them: annotator users passkeys remove {name}",
            err=True,
        )


def _unlink_identities(installation: Installation, name: str) -> None:
    with installation.database.transaction() as session:
        count = identities.unlink_all(session, name)
        note(session, "users.identity-unlink", subject=name, details={"identities": count})
    click.echo(f"{name} signs in by name and password alone now. Identities unlinked: {count}.", err=True)


def _mark(session: Transaction, name: str, facts: MachineFacts | None) -> None:
    """Mark an account as a machine with these facts, or as a person when there are none."""
    if facts is None:
        machine_judges.mark_person(session, name)
    else:
        machine_judges.mark_machine(session, name, facts)
    note(session, "users.mark-person" if facts is None else "users.mark-machine", subject=name)


def _machine(user: accounts.AccountRow) -> str | None:
    """The model of a machine account, “yes” if unknown; None for a person."""
    return user.machine if user.machine is None else user.machine or "yes"


def _new_password(file: str | None) -> str:
    if file is None and sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return next(iter(read_text(file or "-").splitlines()), "")


@click.group
def tokens_group() -> None:
    """Tokens: let programs use the API for an account, without its password."""


@tokens_group.command("add")
@click.argument("user")
@click.option("--name", required=True, metavar="TEXT", help="A name for the list of tokens, such as the purpose.")
@click.option(
    "--scopes", required=True, metavar="WORDS", help="One or more of read, runs, judge, organise: “read,runs”."
)
@click.option("--collection", "slug", metavar="SLUG", help="Restrict the token to this collection.")
@click.option(
    "--days", type=click.IntRange(1, MOST_TOKEN_DAYS), metavar="N", help="Expire after this many days. [never]"
)
@on_installation
def add_token(
    installation: Installation, user: str, name: str, scopes: str, slug: str | None, days: int | None
) -> None:
    """Create a token for an account and print it; it is printed only once, because only its checksum is stored."""
    wanted = TokenRequest(name, read_scopes(scopes), slug, days)
    with installation.database.reading() as session:
        account_id = find_user(session, user).id
    with installation.database.transaction() as session:
        secret = tokens.make_token(session, user, wanted, at=datetime.now(UTC))
        details = {"account": account_id, "scopes": sorted(wanted.scopes), "days": days}
        note(session, "tokens.add", slug, subject=name, details=details)
    click.echo(secret)


@tokens_group.command("list")
@click.argument("user", required=False)
@format_option()
@on_installation
def list_tokens(installation: Installation, user: str | None, format_: str) -> None:
    """List the tokens of an account, or of all accounts, newest first."""
    rows = installation.database.read(tokens.list_tokens, user, now=datetime.now(UTC))
    show_rows(
        format_,
        ["NUMBER", "USER", "NAME", "SCOPES", "COLLECTION", "IN FORCE", "EXPIRES", "LAST USED"],
        [
            [
                row.id,
                row.owner,
                row.name,
                ",".join(row.scopes),
                row.slug,
                row.in_force,
                row.expires_at,
                row.last_used_at,
            ]
            for row in rows
        ],
    )


@tokens_group.command("remove")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove_token(installation: Installation, number: int) -> None:
    """Revoke a token, by its number in the list."""
    with installation.database.transaction() as session:
        name = tokens.revoke_token(session, number, at=datetime.now(UTC))
        note(session, "tokens.revoke", subject=name)
    click.echo(f"The token {name} opens nothing any more.", err=True)
