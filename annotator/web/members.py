"""Who takes part in a collection."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectChoice, SelectField, StringField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, now
from annotator.web.forms import Form
from annotator.web.language import gettext, lazy_gettext
from annotator.web.words import ROLES
from annotator.workflows import members

blueprint = Blueprint("members", __name__)


def role_choices() -> list[SelectChoice]:
    """The roles by their names."""
    roles = (Role.JUDGE, Role.ADJUDICATOR, Role.ORGANISER, Role.PARTICIPANT)
    return [SelectChoice(role.value, ROLES[role]) for role in roles]


class MemberForm(Form):
    """A role for a person."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        description=lazy_gettext("The name of the account, which an administrator makes."),
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    role = SelectField(
        lazy_gettext("Role"),
        choices=role_choices,
        description=lazy_gettext("An adjudicator decides where judges differ, without seeing who they are."),
    )
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("For participants: whose runs they send."))


class RemovalForm(Form):
    """Which role to take from whom."""

    name = StringField(validators=[InputRequired()])
    role = SelectField(choices=role_choices)


@blueprint.get("/collections/<slug>/members")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Every role in the collection."""
    return _page(slug, MemberForm())


@blueprint.post("/collections/<slug>/members")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Give a person a role."""
    form = MemberForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            members.add_member(
                session, slug, form.name.data, Role(form.role.data), team=form.team.data or None, added_at=now()
            )
    if form.refused:
        return _page(slug, form), form.status
    flash(gettext("“%(name)s” is a member now.", name=form.name.data))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.post("/collections/<slug>/members/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Take a role away; what was judged stays."""
    form = RemovalForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            members.remove_member(session, slug, form.name.data, Role(form.role.data))
    if form.refused:
        blank = MemberForm(formdata=None)
        blank.refusal = form.refusal
        return _page(slug, blank), form.status
    flash(gettext("“%(name)s” has lost that role. What they judged stays.", name=form.name.data))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: MemberForm) -> str:
    with database().reading() as session:
        rows = members.list_members(session, slug)
    return render_template("members/list.html", rows=rows, form=form)
