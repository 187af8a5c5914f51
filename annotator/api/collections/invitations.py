"""Members by program, continued: remove roles, invite people by links, list and withdraw invitations."""

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.collections.members import ROLES, resource
from annotator.api.site.access import ORGANISE, caller
from annotator.api.site.door import Call, Gives, Takes, operation, text
from annotator.api.site.values import Moment, Text, counted, one_of, whole
from annotator.errors import NotFoundError
from annotator.files import InputFile
from annotator.mail_values import refuse_unsent
from annotator.storage import MailKind, Role
from annotator.web.people.links import link_to
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import CSV
from annotator.workflows.people import invitations, members
from annotator.workflows.people.invitations import LANGUAGES, MOST_DAYS, USUAL_DAYS, InvitationRequest

DAYS = {"description": "The number of days until the link expires."}


class RemovalQuery(Schema):
    """The role to remove."""

    role = one_of(Role, required=True, metadata={"description": ROLES})


class RemovedMemberView(Schema):
    """The role that was removed, and what became of the person's work."""

    name = fields.String(required=True, metadata={"description": "The name of the account."})
    role = fields.String(required=True, metadata={"description": ROLES})
    returned = fields.Integer(
        required=True, metadata={"description": "The number of documents they held, which are in the queue again."}
    )
    judgements = fields.Integer(required=True, metadata={"description": "The number of their judgements, which stay."})
    owned = fields.Integer(required=True, metadata={"description": "The number of topics that need another owner now."})


class InvitationBody(Schema):
    """Whom to invite."""

    role = one_of(Role, required=True, metadata={"description": ROLES})
    team = Text(load_default=None, metadata={"description": "The team of a participant; created if it is new."})
    note = Text(load_default="", metadata={"description": "For whom the link is; shown in the list only."})
    days = whole(1, MOST_DAYS, load_default=USUAL_DAYS, metadata=DAYS)
    email = Text(
        load_default="", metadata={"description": "The e-mail address to which the link is sent, too; empty: none."}
    )
    language = fields.String(
        load_default=LANGUAGES[0],
        validate=validate.OneOf(LANGUAGES),
        metadata={"description": "The language of the e-mail: en or ko."},
    )


class InvitationView(Schema):
    """An invitation; its link is in the answer that created it, and never again."""

    number = fields.Integer(required=True, metadata={"description": "The number of the invitation."})
    note = fields.String(required=True, metadata={"description": "For whom the link is."})
    role = fields.String(
        required=True, allow_none=True, metadata={"description": f"{ROLES} null for a link to a password."}
    )
    team = fields.String(required=True, allow_none=True, metadata={"description": "The team of a participant."})
    state = fields.String(required=True, metadata={"description": "open, used, withdrawn or expired."})
    made_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that invited; null: by command."}
    )
    made_at = Moment(required=True, metadata={"description": "When it was made, in UTC."})
    expires_at = Moment(required=True, metadata={"description": "When the link expires, in UTC."})
    used_by = fields.String(required=True, allow_none=True, metadata={"description": "The account that used it."})
    used_at = Moment(required=True, allow_none=True, metadata={"description": "When it was used, in UTC."})
    mail = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Of the e-mail with the link: waiting, sent or given-up; null: there is none."},
    )
    problem = fields.String(
        required=True, metadata={"description": "Why the e-mail was not sent yet, or never; empty: nothing is wrong."}
    )


class NewInvitation(InvitationView):
    """A new invitation with its link."""

    link = fields.String(required=True, metadata={"description": "The link for the invited person; used once."})


class PeopleQuery(Schema):
    """How the file of people is read."""

    name = Text(load_default="people", metadata={"description": "The file's name, used in the problems."})
    days = counted(1, MOST_DAYS, load_default=USUAL_DAYS, metadata=DAYS)


@operation(
    resource,
    "DELETE",
    "/collections/<slug>/members/<path:name>",
    ORGANISE,
    Gives(RemovedMemberView),
    Takes(query=RemovalQuery),
)
def remove_member(call: Call) -> object:
    """Remove a role from a member: documents they hold return to the queue, their judgements stay and count."""
    name, role = call.path["name"], Role(call.query["role"])
    with database().transaction() as session:
        removal = members.remove_member(session, call.slug, name, role, at=now())
        note(session, "members.remove", call.slug, subject=name, details={"role": role})
    return {"name": name, "role": role, **vars(removal)}


@operation(
    resource, "GET", "/collections/<slug>/invitations", ORGANISE, Gives(InvitationView, many=True), Takes(pages=True)
)
def list_invitations(call: Call) -> object:
    """List the invitations, without their links."""
    return _listed(call.slug)


@operation(resource, "GET", "/collections/<slug>/invitations/<row:number>", ORGANISE, Gives(InvitationView))
def show_invitation(call: Call) -> object:
    """Show an invitation, without its link."""
    return _numbered(call.slug, int(call.path["number"]))


@operation(
    resource,
    "POST",
    "/collections/<slug>/invitations",
    ORGANISE,
    Gives(NewInvitation, 201, has_secret=True),
    Takes(body=InvitationBody),
)
def invite(call: Call) -> object:
    """Invite a person by a link, which works once; it is answered here and never shown again.

    With an e-mail address the link is sent there, too, where the site sends e-mail.
    """
    role, team = Role(call.body["role"]), call.body["team"] or None
    email = call.body["email"].strip()
    wanted = InvitationRequest(role, team, call.body["note"], call.body["days"], email, call.body["language"])
    if email:
        refuse_unsent(is_sent=settings().sends(MailKind.INVITATION))
    with database().transaction() as session:
        made = invitations.invite(session, call.slug, wanted, made_by_id=caller().id, at=now())
        # The note may contain a name, which the audit log would keep permanently.
        details = {"role": role, "team": team, "mailed": bool(email) or None}
        note(session, "invitations.add", call.slug, subject=made.number, details=details)
    return {**_numbered(call.slug, made.number), "link": link_to(made.secret)}


@operation(
    resource,
    "POST",
    "/collections/<slug>/invitations/many",
    ORGANISE,
    Gives(media=[CSV], has_secret=True),
    Takes(query=PeopleQuery, file=True),
)
def invite_many(call: Call) -> Response:
    """Give roles to all people of a CSV file (name,role,team), and answer the file with links for new accounts.

    The links are answered here and never shown again.
    """
    people = members.read_people(InputFile(call.query["name"], call.content), unpacked_limit=settings().unpacked_limit)
    with database().transaction() as session:
        added = members.add_people(
            session, call.slug, people, days=call.query["days"], made_by_id=caller().id, at=now()
        )
        note(session, "members.import", call.slug, subject=people.name, details={"people": len(added)})
    return text(members.links_csv(added, link_to("")), CSV)


@operation(resource, "DELETE", "/collections/<slug>/invitations/<row:number>", ORGANISE, Gives(InvitationView))
def withdraw_invitation(call: Call) -> object:
    """Withdraw an invitation: its link is not valid any more."""
    number = int(call.path["number"])
    with database().transaction() as session:
        invitations.withdraw_invitation(session, call.slug, number, at=now())
        note(session, "invitations.withdraw", call.slug, subject=number)
    return _numbered(call.slug, number)


def _listed(slug: str) -> list[dict[str, object]]:
    rows = database().read(invitations.list_invitations, slug, now=now())
    return [{**vars(one), "number": one.id} for one in rows]


def _numbered(slug: str, number: int) -> dict[str, object]:
    found = next((one for one in _listed(slug) if one["number"] == number), None)
    if found is None:
        raise NotFoundError("There is no such invitation.")
    return found
