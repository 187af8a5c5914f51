"""Add audit entries of programs, in the transaction of the action itself."""

from collections.abc import Mapping
from typing import Any

from annotator.api.site.access import caller
from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import database, now


def note(
    session: Transaction, action: str, slug: str, *, subject: object = "", details: Mapping[str, Any] | None = None
) -> None:
    """Add a line: the caller did this to the collection."""
    person = caller()
    record_in(
        session, Actor(Door.API, person.name, person.id), action, slug, at=now(), subject=subject, details=details
    )


def note_export(action: str, slug: str, *, subject: object = "", details: Mapping[str, object] | None = None) -> None:
    """The same of what is handed out, in a transaction of its own: what cannot be noted is not handed out."""
    with database().transaction() as session:
        note(session, action, slug, subject=subject, details=details)
