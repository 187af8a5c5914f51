"""Notes for the audit log what a command did, in the transaction of the deed itself."""

from collections.abc import Mapping
from datetime import UTC, datetime
from getpass import getuser
from typing import Any

from annotator.cli.site.installation import Installation
from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door


def note(
    session: Transaction,
    action: str,
    slug: str | None = None,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add a line: whom the system knows by this name did this to the collection, or to the site when none is named."""
    actor = Actor(Door.COMMAND, _system_name())
    record_in(session, actor, action, slug, at=datetime.now(UTC), subject=subject, details=details)


def note_export(
    installation: Installation,
    action: str,
    slug: str,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """The same of what is handed out, in a transaction of its own: what cannot be noted is not handed out."""
    with installation.database.transaction() as session:
        note(session, action, slug, subject=subject, details=details)


def _system_name() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # nobody in particular, such as in a container
        return ""
