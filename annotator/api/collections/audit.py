"""The audit log of a collection, and the functions by which API operations add entries to it."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from annotator.api.site.access import READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.values import GREATEST, Moment, Text, counted
from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import database, now
from annotator.workflows.collections import audit
from annotator.workflows.collections.audit import ENTRIES_PER_PAGE, AuditFilter

resource = resource_of("audit", "The audit log: who did what, when, and by which way; for organisers.")

MOST_A_PAGE = 1_000


class AuditQuery(Schema):
    """Filters of the log, and the page: entries older than `before`, newest first."""

    actor = Text(load_default=None, metadata={"description": "Only actions of this account."})
    action = Text(load_default=None, metadata={"description": "Such as “pool.build”, or “pool” for all of them."})
    since = Moment(load_default=None, metadata={"description": "ISO 8601 with a time zone."})
    until = Moment(load_default=None)
    before = counted(0, GREATEST, load_default=None)
    page_size = counted(1, MOST_A_PAGE, load_default=ENTRIES_PER_PAGE)


class AuditEntryView(Schema):
    """An entry of the log."""

    id = fields.Integer(required=True)
    at = Moment(required=True)
    name = fields.String(required=True)
    door = fields.String(required=True, metadata={"description": "page, command or api."})
    action = fields.String(required=True)
    subject = fields.String(required=True)
    details = fields.Dict(required=True)


class AuditEntries(Schema):
    """Entries of the log; `older` is the value of `before` for the next page, null on the last."""

    entries = fields.List(fields.Nested(AuditEntryView), required=True)
    older = fields.Integer(required=True, allow_none=True)


@operation(resource, "GET", "/collections/<slug>/audit", READ, Gives(AuditEntries), Takes(query=AuditQuery))
def list_audit_entries(call: Call) -> object:
    """List the audit log of the collection, newest first."""
    asked = call.query
    wanted = AuditFilter(asked["actor"], asked["action"], asked["since"], asked["until"])
    return database().read(audit.audit_page, call.slug, wanted, before=asked["before"], most=asked["page_size"])


def actor() -> Actor:
    """The caller, for workflows that add audit entries themselves."""
    person = caller()
    return Actor(Door.API, person.name, person.id)


def note(
    session: Transaction,
    action: str,
    slug: str | None,
    *,
    subject: object = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an audit entry of the collection, or of the site without a `slug`, with the caller as the actor."""
    record_in(session, actor(), action, slug, at=now(), subject=subject, details=details)


def note_export(action: str, slug: str, *, subject: object = "", details: Mapping[str, object] | None = None) -> None:
    """Add an audit entry for an export in a transaction of its own; when that fails, nothing is exported."""
    with database().transaction() as session:
        note(session, action, slug, subject=subject, details=details)
