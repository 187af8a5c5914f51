"""`annotator tokens`: by which programs act for an account."""

from datetime import UTC, datetime

import click

from annotator.cli.site.audit_note import note
from annotator.cli.site.formats import format_option, show_rows
from annotator.cli.site.installation import Installation, on_installation
from annotator.storage.people.accounts import find_user
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import MOST_DAYS, TokenRequest, read_scopes


@click.group
def command() -> None:
    """Tokens: by which programs act for an account, over the API, without its password."""


@command.command("add")
@click.argument("user")
@click.option("--name", required=True, metavar="TEXT", help="What it is for, for the list.")
@click.option("--scopes", required=True, metavar="WORDS", help="Some of read, runs, judge, organise: “read,runs”.")
@click.option("--collection", "slug", metavar="SLUG", help="Open this collection alone.")
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), metavar="N", help="Expire after so many days; otherwise never."
)
@on_installation
def add(installation: Installation, user: str, name: str, scopes: str, slug: str | None, days: int | None) -> None:
    """Make a token for an account and print it, this once: only its checksum is stored."""
    wanted = TokenRequest(name, read_scopes(scopes), slug, days)
    with installation.database.transaction() as session:
        secret = tokens.make_token(session, user, wanted, at=datetime.now(UTC))
        details = {"account": find_user(session, user).id, "scopes": sorted(wanted.scopes), "days": days}
        note(session, "tokens.add", slug, subject=name, details=details)
    click.echo(secret)


@command.command("list")
@click.argument("user", required=False)
@format_option()
@on_installation
def show(installation: Installation, user: str | None, format_: str) -> None:
    """List the tokens of an account, or of all; the latest first."""
    with installation.database.reading() as session:
        rows = tokens.list_tokens(session, user, now=datetime.now(UTC))
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


@command.command("remove")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove(installation: Installation, number: int) -> None:
    """End a token, by its number in the list."""
    with installation.database.transaction() as session:
        name = tokens.revoke_token(session, number, at=datetime.now(UTC))
        note(session, "tokens.revoke", subject=name)
    click.echo(f"The token {name} opens nothing any more.", err=True)
