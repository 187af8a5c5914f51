"""Webhooks of a collection: list, add, test and remove them, and list their deliveries."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.collections.collection import resource
from annotator.api.site.access import ORGANISE, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, one_of
from annotator.storage import Event
from annotator.web.site.context import database, now, settings
from annotator.workflows.collections import webhooks
from annotator.workflows.collections.webhooks import EVENTS

NUMBER = {"description": "The number of the webhook."}
EVENT_NAMES = {"description": "run.received, topic.finished, job.finished, qrels.kept."}


class WebhookBody(Schema):
    """A new webhook."""

    address = Text(required=True, metadata={"description": "Where each event is sent by POST as JSON."})
    events = fields.List(one_of(EVENTS), required=True, metadata={"description": "What is sent."})


class WebhookRow(Schema):
    """A webhook without its secret, and how its deliveries went."""

    number = fields.Integer(required=True, metadata=NUMBER)
    address = fields.String(required=True, metadata={"description": "Where the events are sent."})
    events = fields.List(fields.String, required=True, metadata=EVENT_NAMES)
    made_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that added it; null: by command."}
    )
    made_at = Moment(required=True, metadata={"description": "When it was added, in UTC."})
    delivered = fields.Integer(required=True, metadata={"description": "The number of delivered events."})
    waiting = fields.Integer(required=True, metadata={"description": "The number of events to be sent, or sent again."})
    given_up = fields.Integer(required=True, metadata={"description": "The number of events that are not sent again."})


class AddedWebhook(WebhookRow):
    """A new webhook with its secret."""

    secret = fields.String(required=True, metadata={"description": "The key of the signatures; it is not shown again."})


class Delivery(Schema):
    """An event that was or will be sent to a webhook."""

    message = fields.String(required=True, metadata={"description": "The webhook-id of the request."})
    event = fields.String(required=True, metadata=EVENT_NAMES)
    happened_at = Moment(required=True, metadata={"description": "When it happened, in UTC."})
    attempts = fields.Integer(required=True, metadata={"description": "How often it was sent."})
    next_at = Moment(required=True, allow_none=True, metadata={"description": "When it is sent next; null: never."})
    delivered_at = Moment(required=True, allow_none=True, metadata={"description": "When it was accepted."})
    status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The HTTP status that the receiver answered last."}
    )
    problem = fields.String(required=True, metadata={"description": "What went wrong in the last attempt."})


@operation(resource, "GET", "/collections/<slug>/webhooks", ORGANISE, Gives(WebhookRow, many=True), Takes(pages=True))
def list_webhooks(call: Call) -> object:
    """List the webhooks, without their secrets."""
    return database().read(webhooks.list_webhooks, call.slug)


@operation(resource, "GET", "/collections/<slug>/webhooks/<row:number>", ORGANISE, Gives(WebhookRow))
def show_webhook(call: Call) -> object:
    """Show a webhook, without its secret."""
    return database().read(webhooks.show_webhook, call.slug, int(call.path["number"]))


@operation(
    resource,
    "POST",
    "/collections/<slug>/webhooks",
    ORGANISE,
    Gives(AddedWebhook, 201, has_secret=True),
    Takes(body=WebhookBody),
)
def add_webhook(call: Call) -> object:
    """Add a webhook to an address of a host that an administrator has named; its secret is answered here only."""
    events, at = frozenset(map(Event, call.body["events"])), now()
    with database().transaction() as session:
        added = webhooks.add_webhook(
            session,
            call.slug,
            call.body["address"],
            events,
            allowed=settings().outgoing_hosts,
            by_id=caller().id,
            at=at,
        )
        note(session, "webhooks.add", call.slug, subject=added.number, details={"events": sorted(events)})
    return {**vars(database().read(webhooks.show_webhook, call.slug, added.number)), "secret": added.secret}


@operation(resource, "POST", "/collections/<slug>/webhooks/<row:number>/test", ORGANISE, Gives(WebhookRow))
def test_webhook(call: Call) -> object:
    """Send a test to a webhook; its deliveries show what came of it."""
    number = int(call.path["number"])
    with database().transaction() as session:
        webhooks.send_test(session, call.slug, number, at=now())
        note(session, "webhooks.test", call.slug, subject=number)
    return database().read(webhooks.show_webhook, call.slug, number)


@operation(resource, "DELETE", "/collections/<slug>/webhooks/<row:number>", ORGANISE, Gives(WebhookRow))
def remove_webhook(call: Call) -> object:
    """Remove a webhook with the list of its deliveries."""
    number = int(call.path["number"])
    shown = database().read(webhooks.show_webhook, call.slug, number)
    with database().transaction() as session:
        webhooks.remove_webhook(session, call.slug, number)
        note(session, "webhooks.remove", call.slug, subject=number)
    return shown


@operation(
    resource,
    "GET",
    "/collections/<slug>/webhooks/<row:number>/deliveries",
    ORGANISE,
    Gives(Delivery, many=True),
    Takes(pages=True),
)
def list_webhook_deliveries(call: Call) -> object:
    """List the newest hundred deliveries of a webhook."""
    return database().read(webhooks.list_deliveries, call.slug, int(call.path["number"]))
