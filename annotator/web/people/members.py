"""The members of a collection and their roles."""

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectChoice, SelectField, StringField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.people.links import link_to
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, confirmation, done, is_confirmed
from annotator.web.site.labels import ROLES
from annotator.web.site.language import format_number, gettext, lazy_gettext
from annotator.workflows.people import invitations, members
from annotator.workflows.people.members import Removal

blueprint = Blueprint("members", __name__)


def role_choices() -> list[SelectChoice]:
    """The roles with their labels."""
    roles = (Role.JUDGE, Role.ADJUDICATOR, Role.ORGANISER, Role.PARTICIPANT, Role.OBSERVER)
    return [SelectChoice(role.value, ROLES[role]) for role in roles]


class MemberForm(Form):
    """The role of a member."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        description=lazy_gettext("The name of an existing account. Invite others by a link."),
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    role = SelectField(
        lazy_gettext("Role"),
        choices=role_choices,
        description=lazy_gettext(
            "Adjudicators decide documents on which judges differ, without seeing names. Observers read "
            "the results, but not run files or names of judges."
        ),
    )
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("For participants: whose runs they send."))
    force = BooleanField(
        lazy_gettext("Allow a judge to be a participant"),
        description=lazy_gettext(
            "Participants see released scores, and judges must not: a person has both roles only if you allow it here. "
            "The audit log records it."
        ),
    )


class RemovalForm(Form):
    """The role to remove from a member."""

    name = StringField(validators=[InputRequired()])
    role = SelectField(choices=role_choices)


class PasswordLinkForm(Form):
    """The member who gets a password link."""

    name = StringField(validators=[InputRequired()])


@blueprint.get("/collections/<slug>/members")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """All members with their roles."""
    return _page(slug, MemberForm())


@blueprint.post("/collections/<slug>/members")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Give a person a role."""
    form = MemberForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            name, role, team = form.name.data, Role(form.role.data), form.team.data or None
            forced = members.add_member(session, slug, name, role, team=team, added_at=now(), force=form.force.data)
            details = {"role": role, "team": team, "forced": forced or None}
            note(session, "members.add", slug, subject=form.name.data, details=details)
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("“%(name)s” is a member now.", name=form.name.data), ".show", slug=slug)


@blueprint.post("/collections/<slug>/members/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Remove a role after confirmation; the judgements remain."""
    form, confirmed = RemovalForm(), is_confirmed()
    if form.validate():
        with form.guard(), database().transaction(keep=confirmed) as session:
            removal = members.remove_member(session, slug, form.name.data, Role(form.role.data), at=now())
            note(session, "members.remove", slug, subject=form.name.data, details={"role": form.role.data})
    if form.refused:
        blank = MemberForm(formdata=None)
        blank.refusal = form.refusal
        return _page(slug, blank), form.status
    if not confirmed:
        return _removal_page(slug, form, removal)
    return done(
        gettext("Role removed from “%(name)s”. Their judgements stay.", name=form.name.data), ".show", slug=slug
    )


@blueprint.post("/collections/<slug>/members/password-link")
@collection_page(Role.ORGANISER)
def password_link(slug: str) -> ResponseReturnValue:
    """Create a password link for a member and show it, only once."""
    form = PasswordLinkForm()
    if form.validate():
        with form.guard():
            with database().transaction() as session:
                secret = invitations.invite_to_password(
                    session, slug, form.name.data, made_by_id=the_person().id, at=now()
                )
                note(session, "users.password-link", slug, subject=form.name.data)
            return _page(slug, MemberForm(formdata=None), link_for=form.name.data, link=link_to(secret))
    blank = MemberForm(formdata=None)
    blank.refusal = form.refusal
    return _page(slug, blank), form.status


def _removal_page(slug: str, form: RemovalForm, removal: Removal) -> str:
    role = Role(form.role.data)
    figures, notes = {}, [gettext("They can be given the role again.")]
    if role in (Role.JUDGE, Role.ADJUDICATOR):
        figures = {
            gettext("Documents they hold"): format_number(removal.returned),
            gettext("Their judgements"): format_number(removal.judgements),
        }
        notes.append(gettext("Documents they hold return to the queue; their judgements stay and count as before."))
    if removal.owned:
        figures[gettext("Topics they own")] = format_number(removal.owned)
        notes.append(gettext("If topics have owners, their topics wait for a new owner."))
    return confirmation(
        gettext("Remove the role %(role)s from “%(name)s”?", role=ROLES[role], name=form.name.data),
        figures=figures,
        notes=notes,
        button=gettext("Remove"),
        back=url_for(".show", slug=slug),
        destroys=True,
    )


def _page(slug: str, form: MemberForm, *, link_for: str | None = None, link: str | None = None) -> str:
    rows = database().read(members.list_members, slug)
    return render_template("people/members.html", rows=rows, form=form, link_for=link_for, link=link)
