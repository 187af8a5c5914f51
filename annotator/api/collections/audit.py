"""The audit log of a collection, and the functions by which API operations add entries to it."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from annotator.api.site.access import READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.pagination import LongList
from annotator.api.site.values import Moment, Text
from annotator.storage.collections.audit import Actor, Transaction, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import database, now
from annotator.workflows.collections import audit
from annotator.workflows.collections.audit import AuditFilter

resource = resource_of("audit", "The audit log: who did what, when, and by which way; for organisers.")


class AuditQuery(Schema):
    """Filters of the log."""

    actor = Text(load_default=None, metadata={"description": "Only actions of this account."})
    action = Text(load_default=None, metadata={"description": "Such as “pool.build”, or “pool” for all of them."})
    since = Moment(load_default=None, metadata={"description": "ISO 8601 with a time zone."})
    until = Moment(load_default=None)


class AuditEntryView(Schema):
    """An entry of the log."""

    number = fields.Integer(required=True, attribute="id")
    at = Moment(required=True)
    name = fields.String(required=True)
    door = fields.String(required=True, metadata={"description": "page, command, api or worker."})
    action = fields.String(required=True)
    subject = fields.String(required=True)
    details = fields.Dict(required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/audit",
    READ,
    Gives(AuditEntryView, many=True),
    Takes(query=AuditQuery, pages=True),
)
def list_audit_entries(call: Call) -> object:
    """List the audit log of the collection, newest first; with `until`, its pages stay as they are."""
    asked = call.query
    wanted = AuditFilter(asked["actor"], asked["action"], asked["since"], asked["until"])
    return LongList(
        lambda: database().read(audit.count_audit_entries, call.slug, wanted),
        lambda first, most: database().read(audit.entries_from, call.slug, wanted, first, most),
    )


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
