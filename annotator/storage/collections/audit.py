"""Who did what: a line for every deed that changes or gives out more than a judge's own work; only ever added to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, Table, event
from sqlalchemy.orm import Session

from annotator.storage.collections.audit_actions import plain_details
from annotator.storage.collections.collection import find_collection
from annotator.storage.tables.collections import POSTGRES_GUARDS, SQLITE_GUARDS, AuditEvent, Door

# What a door to the house holds while something is done, and only hands on.
Transaction: TypeAlias = Session


@dataclass(frozen=True)
class Actor:
    """Who acts: an account, or by command whoever may open the database, as the system names them."""

    door: Door
    name: str
    user_id: int | None = None


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
