"""The members of a collection and their roles; for organisers."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.values import Moment, Text, one_of
from annotator.storage import Role
from annotator.web.site.context import database, now
from annotator.workflows.people import members

resource = resource_of("members", "The members of a collection and their roles; for organisers.")

ROLES = "organiser, judge, adjudicator, participant or observer."


class MemberView(Schema):
    """One role of one person."""

    name = fields.String(required=True, metadata={"description": "The name of the account."})
    role = fields.String(required=True, metadata={"description": ROLES})
    team = fields.String(required=True, allow_none=True, metadata={"description": "The team of a participant."})
    terms_accepted_at = Moment(
        required=True, allow_none=True, metadata={"description": "When they accepted the terms; null before that."}
    )


class MemberBody(Schema):
    """The role to give to an existing account."""

    name = Text(required=True, metadata={"description": "The name of an existing account."})
    role = one_of(Role, required=True, metadata={"description": ROLES})
    team = Text(load_default=None, metadata={"description": "The team of a participant; created if it is new."})
    force = fields.Boolean(
        load_default=False,
        metadata={"description": "Allow a judge or an adjudicator to be a participant, who sees released scores."},
    )


class AddedMemberView(Schema):
    """The role that was given."""

    name = fields.String(required=True, metadata={"description": "The name of the account."})
    role = fields.String(required=True, metadata={"description": ROLES})
    team = fields.String(required=True, allow_none=True, metadata={"description": "The team of a participant."})
    forced = fields.Boolean(
        required=True, metadata={"description": "Whether they are both judge or adjudicator and participant now."}
    )


@operation(resource, "GET", "/collections/<slug>/members", ORGANISE, Gives(MemberView, many=True), Takes(pages=True))
def list_members(call: Call) -> object:
    """List every role of every member, by name."""
    return database().read(members.list_members, call.slug)


@operation(
    resource, "POST", "/collections/<slug>/members", ORGANISE, Gives(AddedMemberView, 201), Takes(body=MemberBody)
)
def add_member(call: Call) -> object:
    """Give an account a role; a judge becomes a participant, or the reverse, only with `force`."""
    name, role, team = call.body["name"], Role(call.body["role"]), call.body["team"] or None
    with database().transaction() as session:
        forced = members.add_member(session, call.slug, name, role, team=team, added_at=now(), force=call.body["force"])
        details = {"role": role, "team": team, "forced": forced or None}
        note(session, "members.add", call.slug, subject=name, details=details)
    return {"name": name, "role": role.value, "team": team, "forced": forced}
