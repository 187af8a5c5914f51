"""Registration of teams by program: organisers open and close it; people register on a page."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.collections.members import resource
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, whole
from annotator.web.site.context import database, now
from annotator.workflows.people import registration
from annotator.workflows.people.registration import GREATEST_MOST_TEAMS, RegistrationChange
from annotator.workflows.runs.submissions import read_end

PATH = "/collections/<slug>/registration"


class RegistrationBody(Schema):
    """Until when teams may register, and how many; what is left out stays as it is."""

    until = Text(
        load_default=None,
        metadata={"description": "Until when, such as “2026-05-01 23:59 AoE”.", "example": "2026-05-01 23:59 AoE"},
    )
    most_teams = whole(
        1,
        GREATEST_MOST_TEAMS,
        load_default=None,
        metadata={"description": "No more teams than this, those that were invited included."},
    )


class RegistrationView(Schema):
    """Whether teams may register by themselves."""

    is_open = fields.Boolean(required=True, metadata={"description": "Whether teams can register now."})
    until = Moment(
        required=True, allow_none=True, metadata={"description": "Until when, in UTC; null when it was not opened."}
    )
    most_teams = fields.Integer(required=True, metadata={"description": "The most teams there may be."})
    teams = fields.Integer(required=True, metadata={"description": "The number of teams there are."})


@operation(resource, "GET", PATH, ORGANISE, Gives(RegistrationView))
def show_registration(call: Call) -> object:
    """Show whether teams may register by themselves."""
    return database().read(registration.show_registration, call.slug, now=now())


@operation(resource, "PUT", PATH, ORGANISE, Gives(RegistrationView), Takes(body=RegistrationBody))
def open_registration(call: Call) -> object:
    """Let teams register until a moment, on a page that everybody who reaches the site can open."""
    until = call.body["until"]
    change = RegistrationChange(None if until is None else read_end(until), call.body["most_teams"])
    with database().transaction() as session:
        present = registration.open_registration(session, call.slug, change, at=now())
        note(session, "registration.open", call.slug, details={"until": present.until, "teams": present.most_teams})
    return present


@operation(resource, "DELETE", PATH, ORGANISE, Gives(RegistrationView))
def close_registration(call: Call) -> object:
    """Let no further team register; those that did remain."""
    with database().transaction() as session:
        registration.close_registration(session, call.slug)
        note(session, "registration.close", call.slug)
    return database().read(registration.show_registration, call.slug, now=now())
