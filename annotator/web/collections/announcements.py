"""Announcements: organisers publish, change and withdraw them; participants, or all members, read them."""

from typing import Any

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, StringField, TextAreaField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import announcements
from annotator.workflows.collections.announcements import LONGEST_TITLE, AnnouncementRow, NewAnnouncement
from annotator.workflows.runs import team_questions

blueprint = Blueprint("announcements", __name__)

MOST_ON_OVERVIEW = 3


class AnnouncementForm(Form):
    """An announcement."""

    title = StringField(lazy_gettext("Title"), [InputRequired()], render_kw={"maxlength": LONGEST_TITLE})
    text = TextAreaField(
        lazy_gettext("Text in Markdown"), [InputRequired()], filters=[unix_lines], render_kw={"rows": 10}
    )
    for_everyone = BooleanField(
        lazy_gettext("Show it to all members"),
        description=lazy_gettext("Judges, adjudicators and observers see it as well. Otherwise participants only."),
    )

    @property
    def entered(self) -> NewAnnouncement:
        """The announcement as entered."""
        return NewAnnouncement(self.title.data or "", self.text.data or "", for_everyone=self.for_everyone.data)


@blueprint.get("/collections/<slug>/announcements")
@collection_page()
def show(slug: str) -> ResponseReturnValue:
    """The announcements that this person sees, newest first."""
    return _page(slug, AnnouncementForm(formdata=None))


@blueprint.post("/collections/<slug>/announcements")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Publish an announcement."""
    form = AnnouncementForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            number = announcements.announce(
                session, slug, form.entered, published_by_id=the_person().id, published_at=now()
            )
            note(session, "announcements.add", slug, subject=number, details={"everyone": form.for_everyone.data})
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("Announcement published."), ".show", slug=slug)


@blueprint.get("/collections/<slug>/announcements/<row:number>")
@collection_page(Role.ORGANISER)
def edit(slug: str, number: int) -> ResponseReturnValue:
    """The form for changing an announcement."""
    present = database().read(announcements.show_announcement, slug, number)
    return _form_page(present, AnnouncementForm(formdata=None, obj=present))


@blueprint.post("/collections/<slug>/announcements/<row:number>")
@collection_page(Role.ORGANISER)
def change(slug: str, number: int) -> ResponseReturnValue:
    """Change an announcement."""
    form = AnnouncementForm()
    present = database().read(announcements.show_announcement, slug, number)
    if form.validate():
        with form.guard(), database().transaction() as session:
            if announcements.change(session, slug, number, form.entered, changed_at=now()):
                details = {"everyone": form.for_everyone.data}
                note(session, "announcements.change", slug, subject=number, details=details)
    if form.refused:
        return _form_page(present, form), form.status
    return done(gettext("Announcement changed."), ".show", slug=slug)


@blueprint.post("/collections/<slug>/announcements/<row:number>/withdraw")
@collection_page(Role.ORGANISER)
def withdraw(slug: str, number: int) -> ResponseReturnValue:
    """Withdraw an announcement, or make a public answer private."""
    with database().transaction() as session:
        announcements.withdraw(session, slug, number)
        note(session, "announcements.remove", slug, subject=number)
    return done(gettext("Withdrawn. It is not shown any more."), ".show", slug=slug)


def news_for_reader(slug: str) -> dict[str, Any]:
    """For a template, the newest announcements, the number of all if there are more, and new answers to the reader."""
    place, shown = the_place(), _shown(slug)
    new = 0
    if place.participates and place.team is not None:
        new = database().read(team_questions.count_new_answers, slug, the_person().id)
    further = len(shown) if len(shown) > MOST_ON_OVERVIEW else 0
    return {"announced": shown[:MOST_ON_OVERVIEW], "further": further, "team_answers": new}


def _shown(slug: str) -> list[AnnouncementRow]:
    place = the_place()
    sees_all = place.organises or place.participates
    return database().read(announcements.list_announcements, slug, participates=sees_all)


def _page(slug: str, form: AnnouncementForm) -> str:
    return render_template("collections/announcements/list.html", rows=_shown(slug), form=form)


def _form_page(present: AnnouncementRow, form: AnnouncementForm) -> str:
    return render_template("collections/announcements/edit.html", row=present, form=form)
