"""Webhooks of a collection: add, list, test and remove them, list their deliveries."""

import base64
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Event, User, Webhook, WebhookDelivery
from annotator.storage.collections.collection import find_collection, lock_collection
from annotator.storage.site.webhooks import queue_deliveries
from annotator.workflows.site.outgoing import check_address

# What can be asked for; a test is sent in any case.
EVENTS = (Event.RUN_RECEIVED, Event.TOPIC_FINISHED, Event.JOB_FINISHED, Event.QRELS_KEPT)
MOST_WEBHOOKS = 20
DELIVERIES_SHOWN = 100
SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix that Standard Webhooks gives secrets


@dataclass(frozen=True)
class WebhookView:
    """A webhook without its secret, and how its deliveries went."""

    number: int
    address: str
    events: tuple[str, ...]
    made_by: str | None
    made_at: datetime
    delivered: int
    waiting: int
    given_up: int


@dataclass(frozen=True)
class DeliveryView:
    """A delivery with the outcome of its last attempt; `next_at` is None when there is no further one."""

    message: str
    event: str
    happened_at: datetime
    attempts: int
    next_at: datetime | None
    delivered_at: datetime | None
    status: int | None
    problem: str


@dataclass(frozen=True)
class NewWebhook:
    """A webhook that was added, with its secret, which is shown once."""

    number: int
    secret: str


def add_webhook(
    session: Session,
    slug: str,
    address: str,
    events: Collection[Event],
    *,
    allowed: Sequence[str],
    by_id: int | None,
    at: datetime,
) -> NewWebhook:
    """Add a webhook for these events.

    Raises as `check_address`, `InvalidValueError` without events, and `ConflictError` when there are many already.
    """
    check_address(address, allowed)
    wanted = [event for event in EVENTS if event in events]
    if not wanted:
        raise InvalidValueError("Choose at least one event: %(events)s.", events=", ".join(EVENTS))
    collection = lock_collection(session, slug)
    count = session.scalar(select(func.count()).where(Webhook.collection_id == collection.id)) or 0
    if count >= MOST_WEBHOOKS:
        raise ConflictError("A collection has at most %(most)d webhooks. Remove one first.", most=MOST_WEBHOOKS)
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    hook = Webhook(collection_id=collection.id, address=address, secret=secret, events=" ".join(wanted))
    hook.made_by_id, hook.made_at = by_id, at
    session.add(hook)
    session.flush()
    return NewWebhook(hook.id, secret)


def remove_webhook(session: Session, slug: str, number: int) -> str:
    """Remove a webhook with its deliveries, and return its address. Raises `NotFoundError`."""
    hook = _found(session, slug, number)
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.webhook_id == hook.id))
    session.delete(hook)
    return hook.address


def send_test(session: Session, slug: str, number: int, *, at: datetime) -> None:
    """Queue a test for a webhook. Raises `NotFoundError`."""
    hook = _found(session, slug, number)
    queue_deliveries(session, [hook.id], Event.TEST, [{"collection": slug}], at=at)


def show_webhook(session: Session, slug: str, number: int) -> WebhookView:
    """A webhook. Raises `NotFoundError`."""
    _found(session, slug, number)
    return next(one for one in list_webhooks(session, slug) if one.number == number)


def list_webhooks(session: Session, slug: str) -> list[WebhookView]:
    """The webhooks of a collection, oldest first."""
    ended = WebhookDelivery.next_at.is_(None)
    delivered = WebhookDelivery.delivered_at.is_not(None)
    rows = session.execute(
        select(
            Webhook,
            User.name,
            func.count(WebhookDelivery.id).filter(delivered),
            func.count(WebhookDelivery.id).filter(~ended),
            func.count(WebhookDelivery.id).filter(ended, ~delivered),
        )
        .outerjoin(User, User.id == Webhook.made_by_id)
        .outerjoin(WebhookDelivery, WebhookDelivery.webhook_id == Webhook.id)
        .where(Webhook.collection_id == find_collection(session, slug).id)
        .group_by(Webhook.id, User.name)
        .order_by(Webhook.id)
    )
    return [
        WebhookView(hook.id, hook.address, tuple(hook.events.split()), name, hook.made_at, *counts)
        for hook, name, *counts in rows
    ]


def list_deliveries(session: Session, slug: str, number: int) -> list[DeliveryView]:
    """The newest deliveries of a webhook. Raises `NotFoundError`."""
    hook = _found(session, slug, number)
    rows = session.scalars(
        select(WebhookDelivery)
        .where(WebhookDelivery.webhook_id == hook.id)
        .order_by(WebhookDelivery.id.desc())
        .limit(DELIVERIES_SHOWN)
    )
    return [
        DeliveryView(
            row.message,
            row.event,
            row.happened_at,
            row.attempts,
            row.next_at,
            row.delivered_at,
            row.status,
            row.problem,
        )
        for row in rows
    ]


def _found(session: Session, slug: str, number: int) -> Webhook:
    hook = session.scalar(
        select(Webhook).where(Webhook.collection_id == find_collection(session, slug).id, Webhook.id == number)
    )
    if hook is None:
        raise NotFoundError("There is no webhook %(number)d in this collection.", number=number)
    return hook
