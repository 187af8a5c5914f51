"""Invitations to a collection, single or from a file, and invitations to the site."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import IntegerField, SelectField, StringField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.mail_values import refuse_unsent
from annotator.storage import MailKind, Role
from annotator.web.people.links import link_to
from annotator.web.people.members import role_choices
from annotator.web.site.access import administrator_page, collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form
from annotator.web.site.language import chosen_language, gettext, language_choices, lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.people import invitations, members
from annotator.workflows.people.invitations import MOST_DAYS, USUAL_DAYS, InvitationRequest

blueprint = Blueprint("invitations", __name__)


class AccountInvitationForm(Form):
    """An invitation to create an account."""

    note = StringField(
        lazy_gettext("For whom"),
        description=lazy_gettext("A note for the list below. The invited person chooses their own name."),
        render_kw={"autocomplete": "off"},
    )
    days = IntegerField(
        lazy_gettext("Days until it expires"),
        [InputRequired(), NumberRange(1, MOST_DAYS)],
        default=USUAL_DAYS,
        render_kw={"min": 1, "max": MOST_DAYS},
    )

    email = StringField(
        lazy_gettext("Send it to this e-mail address"),
        [Optional()],
        render_kw={"type": "email", "autocomplete": "off", "inputmode": "email"},
    )
    language = SelectField(lazy_gettext("Language of the e-mail"), choices=language_choices(), default=chosen_language)


class InvitationForm(AccountInvitationForm):
    """An invitation with a role."""

    role = SelectField(lazy_gettext("Role"), choices=role_choices)
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("For participants: whose runs they send."))


class PeopleForm(Form):
    """A file of people to invite."""

    file = FileField(
        lazy_gettext("File of people"),
        [FileRequired()],
        description=lazy_gettext(
            "Comma-separated, the first line being name,role,team. Roles are organiser, judge, adjudicator, "
            "participant and observer; only participants have a team."
        ),
    )
    days = IntegerField(
        lazy_gettext("Days until the links expire"),
        [InputRequired(), NumberRange(1, MOST_DAYS)],
        default=USUAL_DAYS,
        render_kw={"min": 1, "max": MOST_DAYS},
    )


class WithdrawalForm(Form):
    """The invitation to withdraw."""

    number = IntegerField(validators=[InputRequired(), NumberRange(1, 10**9)])


@blueprint.get("/collections/<slug>/invitations")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """All invitations of the collection."""
    return _page(slug)


@blueprint.post("/collections/<slug>/invitations")
@collection_page(Role.ORGANISER)
def invite(slug: str) -> ResponseReturnValue:
    """Create an invitation and show its link, only once."""
    form = InvitationForm()
    secret = _invite(slug, form, Role(form.role.data), form.team.data or None) if form.validate() else None
    if secret is None:
        return _page(slug, form), form.status
    return _page(slug, link=link_to(secret))


@blueprint.post("/collections/<slug>/invitations/many")
@collection_page(Role.ORGANISER)
def invite_many(slug: str) -> ResponseReturnValue:
    """Create invitations from a file and return the file with links, only once."""
    form = PeopleForm()
    if form.validate():
        with form.guard():
            people = members.read_people(input_files([form.file.data])[0], unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                added = members.add_people(
                    session, slug, people, days=form.days.data, made_by_id=the_person().id, at=now()
                )
                note(session, "members.import", slug, subject=people.name, details={"people": len(added)})
            return download(members.links_csv(added, link_to("")), f"{slug}-links.csv", CSV)
    return _page(slug, people=form), form.status


@blueprint.post("/collections/<slug>/invitations/withdraw")
@collection_page(Role.ORGANISER)
def withdraw(slug: str) -> ResponseReturnValue:
    """Withdraw an invitation of the collection."""
    form = WithdrawalForm()
    if _withdrawn(slug, form):
        return redirect(url_for(".show", slug=slug), 303)
    blank = InvitationForm(formdata=None)
    blank.refusal = form.refusal
    return _page(slug, blank), form.status


@blueprint.get("/people/invitations")
@administrator_page
def show_all() -> ResponseReturnValue:
    """All invitations to an account without a role."""
    return _administrators_page()


@blueprint.post("/people/invitations")
@administrator_page
def invite_to_account() -> ResponseReturnValue:
    """Create an invitation to an account and show its link, only once."""
    form = AccountInvitationForm()
    secret = _invite(None, form, None, None) if form.validate() else None
    if secret is None:
        return _administrators_page(form), form.status
    return _administrators_page(link=link_to(secret))


@blueprint.post("/people/invitations/withdraw")
@administrator_page
def withdraw_any() -> ResponseReturnValue:
    """Withdraw an invitation to an account."""
    form = WithdrawalForm()
    if _withdrawn(None, form):
        return redirect(url_for(".show_all"), 303)
    blank = AccountInvitationForm(formdata=None)
    blank.refusal = form.refusal
    return _administrators_page(blank), form.status


def _invite(slug: str | None, form: AccountInvitationForm, role: Role | None, team: str | None) -> str | None:
    """The secret of a new invitation, None when the form is rejected."""
    email = (form.email.data or "").strip()
    wanted = InvitationRequest(role, team, form.note.data or "", form.days.data, email, form.language.data)
    made = None
    with form.guard():
        if email:
            refuse_unsent(is_sent=settings().sends(MailKind.INVITATION))
        with database().transaction() as session:
            made = invitations.invite(session, slug, wanted, made_by_id=the_person().id, at=now())
            # The note may contain a name, which the audit log would keep permanently.
            details = {"role": role, "team": team, "mailed": bool(email) or None}
            note(session, "invitations.add", slug, subject=made.number, details=details)
    return made.secret if made else None


def _withdrawn(slug: str | None, form: WithdrawalForm) -> bool:
    if form.validate():
        with form.guard(), database().transaction() as session:
            invitations.withdraw_invitation(session, slug, form.number.data, at=now())
            note(session, "invitations.withdraw", slug, subject=form.number.data)
    if form.refused:
        return False
    flash(gettext("The link is not valid any more."))
    return True


def _page(
    slug: str, form: InvitationForm | None = None, people: PeopleForm | None = None, link: str | None = None
) -> str:
    rows = database().read(invitations.list_invitations, slug, now=now())
    return render_template(
        "people/invitations/show.html",
        rows=rows,
        link=link,
        form=form or InvitationForm(formdata=None),
        people=people or PeopleForm(formdata=None),
        sends_mail=settings().sends(MailKind.INVITATION),
    )


def _administrators_page(form: AccountInvitationForm | None = None, link: str | None = None) -> str:
    rows = database().read(invitations.list_invitations, None, now=now())
    return render_template(
        "people/invitations/to_accounts.html",
        rows=rows,
        link=link,
        form=form or AccountInvitationForm(formdata=None),
        sends_mail=settings().sends(MailKind.INVITATION),
    )
