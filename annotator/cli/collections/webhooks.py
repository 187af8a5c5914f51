"""`annotator webhooks`: addresses to which the events of a collection are sent."""

from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows
from annotator.storage import Event
from annotator.workflows.collections import webhooks
from annotator.workflows.collections.webhooks import EVENTS


@click.group
def command() -> None:
    """Webhooks: send the events of a collection to other programs."""


@command.command("add")
@click.argument("slug")
@click.argument("address")
@click.option(
    "--when",
    "events",
    type=click.Choice([event.value for event in EVENTS]),
    multiple=True,
    help="An event to send; repeatable. By default all of them.",
)
@on_installation
def add(installation: Installation, slug: str, address: str, events: tuple[str, ...]) -> None:
    """Add a webhook, and print its secret, with which the receiver checks the signatures.

    The host must be one of ANNOTATOR_OUTGOING_HOSTS. The secret is not shown again.
    """
    wanted, at = frozenset(map(Event, events or EVENTS)), datetime.now(UTC)
    hosts = installation.settings.outgoing_hosts
    with installation.database.transaction() as session:
        added = webhooks.add_webhook(session, slug, address, wanted, allowed=hosts, by_id=None, at=at)
        note(session, "webhooks.add", slug, subject=added.number, details={"events": sorted(wanted)})
    click.echo(f"Added webhook {added.number}. Its secret:", err=True)
    click.echo(added.secret)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the webhooks, and how many of their deliveries were accepted, wait, and were given up."""
    rows = installation.database.read(webhooks.list_webhooks, slug)
    show_rows(
        format_,
        ["NUMBER", "ADDRESS", "EVENTS", "ADDED BY", "ADDED", "DELIVERED", "WAITING", "GIVEN UP"],
        [
            [
                one.number,
                one.address,
                " ".join(one.events),
                one.made_by,
                one.made_at,
                one.delivered,
                one.waiting,
                one.given_up,
            ]
            for one in rows
        ],
    )


@command.command("remove")
@click.argument("slug")
@click.argument("number", type=int)
@on_installation
def remove(installation: Installation, slug: str, number: int) -> None:
    """Remove the webhook NUMBER of `webhooks list SLUG`, and what waits to be sent to it."""
    with installation.database.transaction() as session:
        address = webhooks.remove_webhook(session, slug, number)
        note(session, "webhooks.remove", slug, subject=number)
    click.echo(f"Removed webhook {number}, to {address}.", err=True)


@command.command("test")
@click.argument("slug")
@click.argument("number", type=int)
@on_installation
def test(installation: Installation, slug: str, number: int) -> None:
    """Send a test to the webhook NUMBER; a worker sends it, and `webhooks deliveries list` shows what came of it."""
    with installation.database.transaction() as session:
        webhooks.send_test(session, slug, number, at=datetime.now(UTC))
        note(session, "webhooks.test", slug, subject=number)
    click.echo(f"A test for webhook {number} waits for a worker.", err=True)


@command.group("deliveries")
def deliveries_group() -> None:
    """Deliveries of a webhook: what was sent, and what the receiver answered."""


@deliveries_group.command("list")
@click.argument("slug")
@click.argument("number", type=int)
@format_option()
@on_installation
def list_deliveries(installation: Installation, slug: str, number: int, format_: str) -> None:
    """List the newest hundred deliveries of the webhook NUMBER."""
    rows = installation.database.read(webhooks.list_deliveries, slug, number)
    show_rows(
        format_,
        ["MESSAGE", "EVENT", "HAPPENED", "ATTEMPTS", "NEXT", "DELIVERED", "STATUS", "PROBLEM"],
        [
            [
                one.message,
                one.event,
                one.happened_at,
                one.attempts,
                one.next_at,
                one.delivered_at,
                one.status,
                one.problem or None,
            ]
            for one in rows
        ],
    )
