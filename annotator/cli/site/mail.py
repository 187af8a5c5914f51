"""`annotator mail`: what waits to be sent, and a message to try the mail server with."""

from datetime import UTC, datetime
from secrets import token_hex

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.errors import NotAllowedError
from annotator.mail_values import checked_mail_address
from annotator.settings import Settings, refuse_incomplete_mail
from annotator.worker.mailing import server_of
from annotator.workflows.site import mail
from annotator.workflows.site.mail import MailState
from annotator.workflows.site.mail_server import MailProblem, Post


@click.group
def command() -> None:
    """E-mail that the site sends: list it, send it again, remove it, try the mail server."""


@command.command("list")
@click.option(
    "--state", type=click.Choice([state.value for state in MailState]), help="Only e-mails in this state. [all]"
)
@format_option()
@on_installation
def show(installation: Installation, state: str | None, format_: str) -> None:
    """List the newest hundred e-mails: what waits, what was sent, and what was given up, with the reason."""
    rows = installation.database.read(mail.list_mail, MailState(state) if state else None)
    show_rows(
        format_,
        ["NUMBER", "KIND", "TO", "WRITTEN", "STATE", "ATTEMPTS", "NEXT", "SENT", "PROBLEM"],
        [
            [
                one.number,
                one.kind.value,
                one.address,
                one.asked_at,
                one.state.value,
                one.attempts,
                one.next_at,
                one.sent_at,
                one.problem or None,
            ]
            for one in rows
        ],
    )


@command.command("retry")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def retry(installation: Installation, number: int) -> None:
    """Have the e-mail NUMBER of `mail list` sent at once, also one that was given up; a worker sends it."""
    with installation.database.transaction() as session:
        mail.retry_mail(session, number, at=datetime.now(UTC))
        note(session, "mail.retry", subject=number)
    click.echo(f"The e-mail {number} waits for a worker.", err=True)


@command.command("remove")
@click.argument("number", type=click.IntRange(1, 999_999_999))
@on_installation
def remove(installation: Installation, number: int) -> None:
    """Remove the e-mail NUMBER of `mail list`. If it waits, it is given up and its text deleted."""
    with installation.database.transaction() as session:
        mail.remove_mail(session, number)
        note(session, "mail.remove", subject=number)
    click.echo(f"Removed the e-mail {number}.", err=True)


@command.command("test")
@click.argument("address")
@click.pass_obj
def test(settings: Settings, address: str) -> None:
    """Send a test message to ADDRESS now, without a worker, and print what the mail server says."""
    refuse_incomplete_mail(settings)
    if not settings.sends_mail:
        raise NotAllowedError("This site sends no e-mail: set ANNOTATOR_MAIL_HOST.")
    address = checked_mail_address(address)
    text = f"This is a test. The site {settings.site_address} can send e-mail.\n"
    try:
        server_of(settings).send(Post(address, "Test", text, token_hex(), datetime.now(UTC)))
    except MailProblem as problem:
        raise NotAllowedError("The mail server did not accept the message: %(problem)s", problem=problem) from problem
    click.echo(f"The mail server accepted a message for {address}.", err=True)
