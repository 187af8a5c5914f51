"""`annotator invitations`: links that let somebody in once."""

from datetime import UTC, datetime

import click

from annotator.cli.people.link_address import at_address, link_to
from annotator.cli.site.audit_note import note
from annotator.cli.site.formats import format_option, show_rows
from annotator.cli.site.installation import Installation, on_installation
from annotator.storage import Role
from annotator.workflows.people import invitations
from annotator.workflows.people.invitations import MOST_DAYS, USUAL_DAYS, InvitationRequest


@click.group
def command() -> None:
    """Links that let somebody in once: to a new account with a role, or to a role for the account they have."""


@command.command("add")
@click.argument("slug")
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]), help="As what they take part.")
@click.option("--team", metavar="TEAM", help="The team of a participant; made when it is new.")
@click.option("--note", "for_whom", default="", metavar="TEXT", help="For whom it is, for the list.")
@click.option(
    "--days",
    default=USUAL_DAYS,
    show_default=True,
    type=click.IntRange(1, MOST_DAYS),
    metavar="N",
    help="The link expires after so many days.",
)
@at_address
@on_installation
def add(
    installation: Installation, slug: str, role: str, team: str | None, for_whom: str, days: int, address: str
) -> None:
    """Make a link to a role and print it, this once: only its checksum is stored."""
    wanted = InvitationRequest(Role(role), team, for_whom, days)
    with installation.database.transaction() as session:
        secret = invitations.invite(session, slug, wanted, made_by_id=None, at=datetime.now(UTC))
        number = invitations.invitation_number(session, secret)
        note(session, "invitations.add", slug, subject=number, details={"role": role, "team": team})
    click.echo(link_to(address, secret))


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the links of a collection, the latest first; those to a new password name the account."""
    with installation.database.reading() as session:
        rows = invitations.list_invitations(session, slug, now=datetime.now(UTC))
    show_rows(
        format_,
        ["NUMBER", "FOR", "ROLE", "TEAM", "STATE", "MADE", "EXPIRES", "USED BY"],
        [
            [
                row.id,
                row.account or row.note or None,
                row.role,
                row.team,
                row.state.value,
                row.made_at,
                row.expires_at,
                row.used_by,
            ]
            for row in rows
        ],
    )


@command.command("remove")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove(installation: Installation, slug: str, number: int) -> None:
    """End a link, by its number in the list; one that was used stays as it is."""
    with installation.database.transaction() as session:
        invitations.withdraw_invitation(session, slug, number, at=datetime.now(UTC))
        note(session, "invitations.withdraw", slug, subject=number)
    click.echo(f"The link {number} is not valid any more.", err=True)
