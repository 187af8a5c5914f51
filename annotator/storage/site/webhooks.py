"""Deliveries of webhooks: announce an event, take what is due, and record what came of it."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.webhooks import Event, Webhook, WebhookDelivery

# The pauses between the attempts: a receiver may be away for a day and misses nothing.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 600, 3_600, 14_400, 28_800, 43_200))
# An attempt whose worker was lost is made again after this time.
LONGEST_ATTEMPT = timedelta(minutes=2)
KEPT = timedelta(days=30)
GONE = 410


@dataclass(frozen=True)
class DueDelivery:
    """A delivery that a worker sends, with the number of this attempt."""

    id: int
    attempt: int
    address: str
    secret: str
    message: str
    body: str


@dataclass(frozen=True)
class SentDelivery:
    """What came of an attempt: the status of the response, or what went wrong."""

    due: DueDelivery
    status: int | None
    problem: str = ""

    @property
    def is_delivered(self) -> bool:
        """Whether the receiver has accepted it."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 - the range of success

    def next_at(self, at: datetime) -> datetime | None:
        """When it is sent again; None when it was delivered, refused for good, or tried often enough."""
        if self.is_delivered or self.status == GONE or self.due.attempt > len(PAUSES):
            return None
        return at + PAUSES[self.due.attempt - 1]


def announce(
    session: Session, collection_id: int, event: Event, happened: Sequence[Mapping[str, object]], *, at: datetime
) -> None:
    """Queue a delivery of each thing that happened to the webhooks for this event.

    In the transaction that stores what happened, so that neither is there without the other.
    """
    hooks = [
        hook_id
        for hook_id, events in session.execute(
            select(Webhook.id, Webhook.events).where(Webhook.collection_id == collection_id).order_by(Webhook.id)
        )
        if event in events.split()
    ]
    if hooks and happened:
        slug = session.scalar(select(Collection.slug).where(Collection.id == collection_id))
        queue_deliveries(session, hooks, event, [{"collection": slug, **one} for one in happened], at=at)


def queue_deliveries(
    session: Session, hooks: Sequence[int], event: Event, happened: Sequence[Mapping[str, object]], *, at: datetime
) -> None:
    """Queue a delivery of each thing that happened to each of these webhooks."""
    rows = [
        {
            "webhook_id": hook_id,
            "message": f"msg_{secrets.token_hex(16)}",
            "event": event.value,
            "body": json.dumps({"type": event.value, "timestamp": at.isoformat(), "data": one}, ensure_ascii=False),
            "happened_at": at,
            "next_at": at,
            "attempts": 0,
            "problem": "",
        }
        for one in happened
        for hook_id in hooks
    ]
    for some in chunks(rows):
        session.execute(insert(WebhookDelivery), list(some))


def has_due_deliveries(session: Session, *, now: datetime) -> bool:
    """Whether a delivery is due; takes no lock."""
    return session.scalar(select(WebhookDelivery.id).where(WebhookDelivery.next_at <= now).limit(1)) is not None


def take_deliveries(session: Session, *, now: datetime, most: int) -> list[DueDelivery]:
    """Take the deliveries that are due longest; no other worker takes them until an attempt would be over."""
    rows = session.execute(
        select(WebhookDelivery, Webhook.address, Webhook.secret)
        .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .where(WebhookDelivery.next_at <= now)
        .order_by(WebhookDelivery.next_at, WebhookDelivery.id)
        .limit(most)
        .with_for_update(of=WebhookDelivery, skip_locked=True)
    ).all()
    for row, _, _ in rows:
        row.attempts, row.next_at = row.attempts + 1, now + LONGEST_ATTEMPT
    return [DueDelivery(row.id, row.attempts, address, secret, row.message, row.body) for row, address, secret in rows]


def record_deliveries(session: Session, sent: Sequence[SentDelivery], *, at: datetime) -> None:
    """Record attempts; one that another worker has repeated since stays as that one left it."""
    for one in sent:
        session.execute(
            update(WebhookDelivery)
            .where(WebhookDelivery.id == one.due.id, WebhookDelivery.attempts == one.due.attempt)
            .values(
                status=one.status,
                problem=one.problem,
                next_at=one.next_at(at),
                delivered_at=at if one.is_delivered else None,
            )
        )


def forget_deliveries(session: Session, *, now: datetime) -> None:
    """Delete deliveries that ended, one way or the other, long ago."""
    session.execute(
        delete(WebhookDelivery).where(WebhookDelivery.next_at.is_(None), WebhookDelivery.happened_at < now - KEPT)
    )
