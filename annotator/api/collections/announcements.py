"""Announcements by program: members read what is for them, organisers publish, change and withdraw."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.collections.collection import resource
from annotator.api.site.access import ORGANISE, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text
from annotator.web.site.context import database, now, the_place
from annotator.workflows.collections import announcements
from annotator.workflows.collections.announcements import AnnouncementRow, NewAnnouncement
from annotator.workflows.people.tokens import Scope

PATH = "/collections/<slug>/announcements"
MEMBERS = gate_of([Scope.READ, Scope.RUNS, Scope.JUDGE])


class AnnouncementView(Schema):
    """An announcement, or the answer to a question of a participant that all participants see."""

    number = fields.Integer(required=True, metadata={"description": "The number of the announcement."})
    title = fields.String(required=True, metadata={"description": "The title; empty for an answer."})
    text = fields.String(required=True, metadata={"description": "The text in Markdown, or the answer as plain text."})
    question = fields.String(
        required=True, allow_none=True, metadata={"description": "The question that it answers; null: none."}
    )
    for_everyone = fields.Boolean(
        required=True, metadata={"description": "Whether all members see it, not only participants."}
    )
    published_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The account that published it; null: by command, or the caller does not organise."},
    )
    published_at = Moment(required=True, metadata={"description": "When it was published, in UTC."})
    changed_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was changed, in UTC; null: never."}
    )


class AnnouncementBody(Schema):
    """What is announced."""

    title = Text(required=True, metadata={"description": "The title, one line."})
    text = Text(required=True, metadata={"description": "The text in Markdown."})
    for_everyone = fields.Boolean(
        load_default=False, metadata={"description": "Whether all members see it, not only participants."}
    )


class RemovedAnnouncement(Schema):
    """An announcement that is not shown any more."""

    number = fields.Integer(required=True, metadata={"description": "The number of the announcement."})


@operation(resource, "GET", PATH, MEMBERS, Gives(AnnouncementView, many=True), Takes(pages=True))
def list_announcements(call: Call) -> object:
    """List the announcements that the caller sees, newest first."""
    place = the_place()
    sees_all = place.organises or place.participates
    rows = database().read(announcements.list_announcements, call.slug, participates=sees_all)
    return [_shown(one) for one in rows]


@operation(resource, "GET", f"{PATH}/<row:number>", ORGANISE, Gives(AnnouncementView))
def show_announcement(call: Call) -> object:
    """Show an announcement."""
    return _shown(database().read(announcements.show_announcement, call.slug, int(call.path["number"])))


@operation(resource, "POST", PATH, ORGANISE, Gives(AnnouncementView, 201), Takes(body=AnnouncementBody))
def announce(call: Call) -> object:
    """Publish an announcement, which those who want it also get by e-mail."""
    with database().transaction() as session:
        number = announcements.announce(
            session, call.slug, _entered(call), published_by_id=caller().id, published_at=now()
        )
        note(session, "announcements.add", call.slug, subject=number, details={"everyone": call.body["for_everyone"]})
    return _shown(database().read(announcements.show_announcement, call.slug, number))


@operation(resource, "PUT", f"{PATH}/<row:number>", ORGANISE, Gives(AnnouncementView), Takes(body=AnnouncementBody))
def change_announcement(call: Call) -> object:
    """Change an announcement, without another e-mail; an answer is changed where it was given."""
    number = int(call.path["number"])
    with database().transaction() as session:
        if announcements.change(session, call.slug, number, _entered(call), changed_at=now()):
            details = {"everyone": call.body["for_everyone"]}
            note(session, "announcements.change", call.slug, subject=number, details=details)
    return _shown(database().read(announcements.show_announcement, call.slug, number))


@operation(resource, "DELETE", f"{PATH}/<row:number>", ORGANISE, Gives(RemovedAnnouncement))
def withdraw_announcement(call: Call) -> object:
    """Withdraw an announcement; a public answer becomes private again."""
    number = int(call.path["number"])
    with database().transaction() as session:
        announcements.withdraw(session, call.slug, number)
        note(session, "announcements.remove", call.slug, subject=number)
    return {"number": number}


def _entered(call: Call) -> NewAnnouncement:
    return NewAnnouncement(call.body["title"], call.body["text"], for_everyone=call.body["for_everyone"])


def _shown(row: AnnouncementRow) -> dict[str, object]:
    named = {} if the_place().organises else {"published_by": None}
    return {**vars(row), "number": row.id, **named}
