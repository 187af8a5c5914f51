"""`annotator members` and `annotator invitations`: members of a collection, and invitation links."""

from datetime import UTC, datetime

import click

from annotator.cli.people.options import at_address, link_to
from annotator.cli.site.files import FILE, read_file, write_or_print
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import confirm, is_asked, yes_at_terminal
from annotator.cli.site.tables import format_option, show_rows, show_values
from annotator.mail_values import refuse_unsent
from annotator.settings import refuse_incomplete_mail
from annotator.storage import MailKind, Role
from annotator.workflows.people import invitations, members
from annotator.workflows.people import registration as registrations
from annotator.workflows.people.invitations import LANGUAGES, MOST_DAYS, USUAL_DAYS, InvitationRequest
from annotator.workflows.people.members import Removal
from annotator.workflows.people.registration import RegistrationChange
from annotator.workflows.runs.submissions import read_end

note_option = click.option(
    "--note", "for_whom", default="", metavar="TEXT", help="A name for the list of invitations, such as the recipient."
)
days_option = click.option(
    "--days",
    default=USUAL_DAYS,
    show_default=True,
    type=click.IntRange(1, MOST_DAYS),
    metavar="N",
    help="The link expires after this many days.",
)
mail_options = (
    click.option("--email", metavar="ADDRESS", default="", help="Send the link to this e-mail address, too."),
    click.option(
        "--email-language",
        "language",
        type=click.Choice(LANGUAGES),
        default=LANGUAGES[0],
        show_default=True,
        help="The language of that e-mail.",
    ),
)
as_role = click.option("--role", required=True, type=click.Choice([role.value for role in Role]), help="The role.")


@click.group
def command() -> None:
    """Members of a collection and their roles; a person may have several roles."""


@command.command("add")
@click.argument("slug")
@click.argument("name")
@as_role
@click.option("--team", metavar="TEAM", help="The team of a participant; created if it is new.")
@click.option("--force", is_flag=True, help="Allow a judge or an adjudicator to be a participant, who sees scores.")
@on_installation
def add(installation: Installation, slug: str, name: str, role: str, team: str | None, *, force: bool) -> None:
    """Give a person a role in a collection; an adjudicator decides where judges differ, without seeing their names.

    Participants see released scores, and judges must not: a person gets both roles only with --force.
    """
    with installation.database.transaction() as session:
        forced = members.add_member(session, slug, name, Role(role), team=team, added_at=datetime.now(UTC), force=force)
        note(session, "members.add", slug, subject=name, details={"role": role, "team": team, "forced": forced or None})
    click.echo(f"{name} is now {role} of {slug}.", err=True)


@command.command("remove")
@click.argument("slug")
@click.argument("name")
@as_role
@yes_at_terminal
@on_installation
def remove(installation: Installation, slug: str, name: str, role: str, *, yes: bool) -> None:
    """Remove a role; documents drawn by a judge or an adjudicator go back to the queue, judgements stay.

    At a terminal it first shows how many documents and judgements are affected, and asks whether to go on.
    """
    if is_asked(yes=yes):
        with installation.database.transaction(keep=False) as session:
            removal = members.remove_member(session, slug, name, Role(role), at=datetime.now(UTC))
        confirm(f"This takes the role {role} of {slug} from {name}.{_effect(Role(role), removal)}", yes=False)
    with installation.database.transaction() as session:
        members.remove_member(session, slug, name, Role(role), at=datetime.now(UTC))
        note(session, "members.remove", slug, subject=name, details={"role": role})
    click.echo(f"{name} is no longer {role} of {slug}.", err=True)


def _effect(role: Role, removal: Removal) -> str:
    if role not in (Role.JUDGE, Role.ADJUDICATOR):
        return ""
    owned = f" Topics of theirs that wait for another owner: {removal.owned}." if removal.owned else ""
    return (
        f" Documents that go back to the queue: {removal.returned}; judgements that stay: {removal.judgements}.{owned}"
    )


@command.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@click.option(
    "--days",
    default=USUAL_DAYS,
    show_default=True,
    type=click.IntRange(1, MOST_DAYS),
    metavar="N",
    help="The links expire after this many days.",
)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@at_address
@on_installation
def import_people(
    installation: Installation, slug: str, file: str, days: int, output: str | None, address: str
) -> None:
    """Give roles to many people, from a CSV file with the header name,role,team; - is standard input.

    Missing accounts are created. The output is the same CSV with a link for each new account, with which its owner sets
    a password; the links are printed only once, and a new file is readable only by you.
    """
    people = members.read_people(read_file(file), unpacked_limit=installation.settings.unpacked_limit)
    with installation.database.transaction() as session:
        added = members.add_people(session, slug, people, days=days, made_by_id=None, at=datetime.now(UTC))
        note(session, "members.import", slug, subject=people.name, details={"people": len(added)})
    # A person who can read the link can set the password of the account.
    write_or_print(output, members.links_csv(added, link_to(address, "")).encode(), private=True)
    click.echo(f"Roles given: {len(added)}; links: {sum(one.secret is not None for one in added)}.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the members of a collection, one role per line."""
    rows = installation.database.read(members.list_members, slug)
    show_rows(
        format_,
        ["NAME", "ROLE", "TEAM", "ACCEPTED TERMS"],
        [[row.name, row.role.value, row.team, row.terms_accepted_at] for row in rows],
    )


@command.group("registration")
def registration() -> None:
    """Registration of teams: while it is open, anybody who reaches the site joins by themselves, with a new team."""


@registration.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show_registration(installation: Installation, slug: str, format_: str) -> None:
    """Show whether teams may register, and on which page of the site."""
    row = installation.database.read(registrations.show_registration, slug, now=datetime.now(UTC))
    show_values(
        format_,
        ("SETTING", "VALUE"),
        {
            "open": row.is_open,
            "until": row.until,
            "most teams": row.most_teams,
            "teams": row.teams,
            "page": f"/tasks/{slug}/registration" if row.is_open else None,
        },
    )


@registration.command("set")
@click.argument("slug")
@click.option("--until", metavar="WHEN", help="Until when, such as “2026-05-01 23:59 AoE”. [as before]")
@click.option("--most-teams", type=int, metavar="N", help="No more teams than this, invited ones included. [as before]")
@on_installation
def set_registration(installation: Installation, slug: str, until: str | None, most_teams: int | None) -> None:
    """Let teams register until a moment, on a page of the site that you may publish."""
    change = RegistrationChange(None if until is None else read_end(until), most_teams)
    with installation.database.transaction() as session:
        row = registrations.open_registration(session, slug, change, at=datetime.now(UTC))
        note(session, "registration.open", slug, details={"until": row.until, "teams": row.most_teams})
    click.echo(f"Teams can register on the page /tasks/{slug}/registration. Teams so far: {row.teams}.", err=True)


@registration.command("remove")
@click.argument("slug")
@on_installation
def close_registration(installation: Installation, slug: str) -> None:
    """Let no further team register; teams that have registered remain."""
    with installation.database.transaction() as session:
        registrations.close_registration(session, slug)
        note(session, "registration.close", slug)
    click.echo(f"No further team can register for {slug}.", err=True)


@click.group
def invitations_group() -> None:
    """Invitations: links that work once, for a new account with a role, or for a role of an existing account."""


@invitations_group.command("add")
@click.argument("slug")
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]), help="The role.")
@click.option("--team", metavar="TEAM", help="The team of a participant; created if it is new.")
@note_option
@days_option
@mail_options[0]
@mail_options[1]
@at_address
@on_installation
def add_invitation(
    installation: Installation,
    slug: str,
    role: str,
    team: str | None,
    for_whom: str,
    days: int,
    address: str,
    email: str,
    language: str,
) -> None:
    """Create an invitation to a role and print its link; printed only once, because only its checksum is stored."""
    wanted = InvitationRequest(Role(role), team, for_whom, days, email, language)
    _refuse_unsent(installation, email)
    with installation.database.transaction() as session:
        made = invitations.invite(session, slug, wanted, made_by_id=None, at=datetime.now(UTC))
        details = {"role": role, "team": team, "mailed": bool(email) or None}
        note(session, "invitations.add", slug, subject=made.number, details=details)
    click.echo(link_to(address, made.secret))


@invitations_group.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_invitations(installation: Installation, slug: str, format_: str) -> None:
    """List the invitations of a collection, newest first; password links name the account."""
    rows = installation.database.read(invitations.list_invitations, slug, now=datetime.now(UTC))
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


@invitations_group.command("remove")
@click.argument("slug")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove_invitation(installation: Installation, slug: str, number: int) -> None:
    """Revoke an invitation, by its number in the list; a used one is not changed."""
    with installation.database.transaction() as session:
        invitations.withdraw_invitation(session, slug, number, at=datetime.now(UTC))
        note(session, "invitations.withdraw", slug, subject=number)
    click.echo(f"The link {number} is not valid any more.", err=True)


@click.group
def account_invitations() -> None:
    """Invitations to an account without a role in a collection: links that work once."""


@account_invitations.command("add")
@note_option
@days_option
@mail_options[0]
@mail_options[1]
@at_address
@on_installation
def add_account_invitation(
    installation: Installation, for_whom: str, days: int, address: str, email: str, language: str
) -> None:
    """Create an invitation to an account and print its link; printed only once, because only its checksum is stored."""
    wanted = InvitationRequest(None, None, for_whom, days, email, language)
    _refuse_unsent(installation, email)
    with installation.database.transaction() as session:
        made = invitations.invite(session, None, wanted, made_by_id=None, at=datetime.now(UTC))
        details = {"role": None, "team": None, "mailed": bool(email) or None}
        note(session, "invitations.add", subject=made.number, details=details)
    click.echo(link_to(address, made.secret))


@account_invitations.command("list")
@format_option()
@on_installation
def list_account_invitations(installation: Installation, format_: str) -> None:
    """List the invitations to an account, newest first; password links name the account."""
    rows = installation.database.read(invitations.list_invitations, None, now=datetime.now(UTC))
    show_rows(
        format_,
        ["NUMBER", "FOR", "STATE", "MADE", "EXPIRES", "USED BY"],
        [
            [row.id, row.account or row.note or None, row.state.value, row.made_at, row.expires_at, row.used_by]
            for row in rows
        ],
    )


@account_invitations.command("remove")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove_account_invitation(installation: Installation, number: int) -> None:
    """Revoke an invitation to an account, by its number in the list; a used one is not changed."""
    with installation.database.transaction() as session:
        invitations.withdraw_invitation(session, None, number, at=datetime.now(UTC))
        note(session, "invitations.withdraw", subject=number)
    click.echo(f"The link {number} is not valid any more.", err=True)


def _refuse_unsent(installation: Installation, email: str) -> None:
    if email:
        refuse_incomplete_mail(installation.settings)
        refuse_unsent(is_sent=installation.settings.sends(MailKind.INVITATION))
