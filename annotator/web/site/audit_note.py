"""Add audit entries of actions on pages, in the transaction of the action itself."""

from collections.abc import Mapping
from typing import Any

from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import current_person, database, now


def actor() -> Actor:
    """Who is signed in, for a workflow that adds lines itself; without a name when nobody is."""
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
    """Add a line: who is signed in did this to the collection, or to the site when no collection is named."""
    record_in(session, actor(), action, slug, at=now(), subject=subject, details=details)


def note_export(action: str, slug: str, *, subject: object = "", details: Mapping[str, Any] | None = None) -> None:
    """The same of what is handed out, in a transaction of its own: what cannot be noted is not handed out."""
    with database().transaction() as session:
        note(session, action, slug, subject=subject, details=details)
