"""Who did what: a line for every deed that changes or gives out more than a judge's own work; only ever added to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, ForeignKey, Index, Table, event
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.collections.audit_actions import plain_details
from annotator.storage.collections.collection import find_collection
from annotator.storage.site.columns import Base

# What a door to the house holds while something is done, and only hands on.
Transaction: TypeAlias = Session

# The migrations make the same by their own words. All that may ever change of a line is the name of a person who was
# forgotten.
SQLITE_GUARDS = (
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE ON audit_event BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event WHEN NOT (
        new.id IS old.id AND new.at IS old.at AND new.user_id IS old.user_id AND new.door IS old.door
        AND new.collection_id IS old.collection_id AND new.action IS old.action AND new.details IS old.details
        AND (new.name IS old.name OR new.name GLOB 'forgotten-*')
        AND (new.subject IS old.subject OR new.subject GLOB 'forgotten-*')
    ) BEGIN
        SELECT RAISE(ABORT, 'the log of deeds is only ever added to');
    END
    """,
)
POSTGRES_GUARDS = (
    """
    CREATE FUNCTION audit_event_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the log of deeds is only ever added to';
    END
    $$
    """,
    """
    CREATE TRIGGER audit_event_stays BEFORE DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuses()
    """,
    """
    CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event FOR EACH ROW WHEN (NOT (
        new.id = old.id AND new.at = old.at AND new.user_id IS NOT DISTINCT FROM old.user_id AND new.door = old.door
        AND new.collection_id IS NOT DISTINCT FROM old.collection_id AND new.action = old.action
        AND new.details::text = old.details::text
        AND (new.name = old.name OR starts_with(new.name, 'forgotten-'))
        AND (new.subject = old.subject OR starts_with(new.subject, 'forgotten-'))
    )) EXECUTE FUNCTION audit_event_refuses()
    """,
)


class Door(StrEnum):
    """By which way somebody came in."""

    PAGE = "page"
    COMMAND = "command"
    API = "api"


@dataclass(frozen=True)
class Actor:
    """Who acts: an account, or by command whoever may open the database, as the system names them."""

    door: Door
    name: str
    user_id: int | None = None


class AuditEvent(Base):
    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_collection_id_id", "collection_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    # None by command, and when an account is gone; the name stays as it was then.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    name: Mapped[str]
    door: Mapped[str]
    # None for what concerns the whole site.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    # A noun and a verb, such as “pool.build”.
    action: Mapped[str]
    # Of what: a tag, a name, a version; "" where the collection itself is meant.
    subject: Mapped[str]
    details: Mapped[dict[str, Any]]


def guard_log(_table: Table, connection: Connection, **_options: object) -> None:
    """Have the database itself refuse that lines are taken out or changed."""
    for statement in SQLITE_GUARDS if connection.dialect.name == "sqlite" else POSTGRES_GUARDS:
        connection.exec_driver_sql(statement)


event.listen(cast("Table", AuditEvent.__table__), "after_create", guard_log)


def record_in(
    session: Session,
    actor: Actor,
    action: str,
    slug: str | None,
    *,
    at: datetime,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add a line of a deed to the collection of that short name, or to the site when there is none."""
    collection_id = find_collection(session, slug).id if slug is not None else None
    record(session, actor, action, at=at, collection_id=collection_id, subject=str(subject), details=details)


def record(
    session: Session,
    actor: Actor,
    action: str,
    *,
    at: datetime,
    collection_id: int | None = None,
    subject: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add a line, in the transaction of the deed itself: what is rolled back was not done.

    Names of people go into the subject and never into the details, which stay as they are when somebody is forgotten.
    Raises what `plain_details` does.
    """
    session.add(
        AuditEvent(
            at=at,
            user_id=actor.user_id,
            name=actor.name,
            door=actor.door,
            collection_id=collection_id,
            action=action,
            subject=subject,
            details=plain_details(action, details or {}),
        )
    )
