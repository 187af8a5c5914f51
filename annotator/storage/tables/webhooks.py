"""Tables of webhooks, of their deliveries, and of the topics that are known to be finished."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base


class Event(StrEnum):
    """What a webhook is sent for."""

    RUN_RECEIVED = "run.received"
    TOPIC_FINISHED = "topic.finished"
    JOB_FINISHED = "job.finished"
    QRELS_KEPT = "qrels.kept"
    TEST = "test"


class Webhook(Base):
    __tablename__ = "webhook"
    __table_args__ = NEVER_REUSED

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    address: Mapped[str]
    # The key of the signatures; the server needs it, so it is no hash.
    secret: Mapped[str]
    # Blank-separated.
    events: Mapped[str]
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]
    # Whether the topics that were finished before it was added are recorded, which are not sent.
    is_current: Mapped[bool] = mapped_column(default=False)


class WebhookDelivery(Base):
    __tablename__ = "webhook_delivery"
    __table_args__ = (Index("ix_webhook_delivery_next_at", "next_at"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"), index=True)
    # The same for every attempt, so that the receiver recognises a repetition.
    message: Mapped[str]
    event: Mapped[str]
    body: Mapped[str]
    happened_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    # When it is sent next; None when it was delivered or given up.
    next_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    # Of the last attempt: the HTTP status, or what went wrong, in English.
    status: Mapped[int | None]
    problem: Mapped[str] = mapped_column(default="")


class FinishedTopic(Base):
    __tablename__ = "finished_topic"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id", ondelete="CASCADE"), primary_key=True)
