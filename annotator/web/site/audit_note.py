"""Adds audit entries for actions on pages, in the transaction of the action."""

from collections.abc import Mapping
from typing import Any

from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import current_person, database, now


def actor() -> Actor:
    """The signed-in person, for workflows that add audit entries themselves; unnamed for a guest."""
    person = current_person()
    return Actor(Door.PAGE, person.name, person.id) if person is not None else Actor(Door.PAGE, "")


def note(
    session: Transaction,
    action: str,
    slug: str | None = None,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an audit entry for the collection, or for the site without a `slug`; the signed-in person is the actor."""
    record_in(session, actor(), action, slug, at=now(), subject=subject, details=details)


def note_export(action: str, slug: str, *, subject: object = "", details: Mapping[str, Any] | None = None) -> None:
    """Add an audit entry for an export in a transaction of its own; when that fails, nothing is exported."""
    with database().transaction() as session:
        note(session, action, slug, subject=subject, details=details)
