"""The audit log: who did what in a collection."""

from marshmallow import Schema, fields

from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.door import resource as resource_of
from annotator.api.site.values import GREATEST, Moment, Text, counted
from annotator.storage import Role
from annotator.web.site.context import database
from annotator.workflows.collections import audit
from annotator.workflows.collections.audit import DEEDS_A_PAGE, DeedsWanted
from annotator.workflows.people.tokens import Scope

resource = resource_of("audit", "Who did what, when, and by which way; for organisers.")

MOST_A_PAGE = 1_000


class DeedsQuery(Schema):
    """Which deeds; the newest come first, and those before the line `before` on the next page."""

    actor = Text(load_default=None, metadata={"description": "Only what this account did."})
    action = Text(load_default=None, metadata={"description": "Such as “pool.build”, or “pool” for all of them."})
    since = Moment(load_default=None, metadata={"description": "ISO 8601 with a time zone."})
    until = Moment(load_default=None)
    before = counted(0, GREATEST, load_default=None)
    page_size = counted(1, MOST_A_PAGE, load_default=DEEDS_A_PAGE)


class DeedView(Schema):
    """A line of the log."""

    id = fields.Integer(required=True)
    at = Moment(required=True)
    name = fields.String(required=True)
    door = fields.String(required=True, metadata={"description": "page, command or api."})
    action = fields.String(required=True)
    subject = fields.String(required=True)
    details = fields.Dict(required=True)


class Deeds(Schema):
    """Lines of the log; `older` is what to ask for as `before`, null on the last page."""

    deeds = fields.List(fields.Nested(DeedView), required=True)
    older = fields.Integer(required=True, allow_none=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/audit",
    scopes=[Scope.READ],
    roles=[Role.ORGANISER],
    takes=Takes(query=DeedsQuery),
    gives=Gives(Deeds),
)
def list_deeds(call: Call) -> object:
    """List who did what in the collection, newest first."""
    asked = call.query
    wanted = DeedsWanted(asked["actor"], asked["action"], asked["since"], asked["until"])
    with database().reading() as session:
        return audit.page_of_deeds(session, call.slug, wanted, before=asked["before"], most=asked["page_size"])
