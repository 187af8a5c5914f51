"""The pages of invitation links: a new account with a role, a role for an existing account, or a new password."""

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired

from annotator.errors import InvalidValueError, NotFoundError
from annotator.passwords import hash_password
from annotator.web.people.provider_session import proven, provider_name
from annotator.web.people.sign_in_code import enter_or_ask
from annotator.web.site.access import INVITED, enter, signed_in_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.people import invitations
from annotator.workflows.people.invitations import OpenInvitation

blueprint = Blueprint("joining", __name__)

LONGEST_KEY = 100
NEW_PASSWORD = {"autocomplete": "new-password"}


class NewPasswordForm(Form):
    """A password for the account of the link."""

    password = PasswordField(
        lazy_gettext("Password"),
        [InputRequired()],
        description=lazy_gettext("At least 8 characters."),
        render_kw=NEW_PASSWORD,
    )
    again = PasswordField(
        lazy_gettext("Password, again"),
        [InputRequired(), EqualTo("password", lazy_gettext("The two passwords differ."))],
        render_kw=NEW_PASSWORD,
    )


class NewAccountForm(NewPasswordForm):
    """A new account with its name and password."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        description=lazy_gettext("Up to 64 characters without blanks. You sign in with it."),
        render_kw={"autocomplete": "username", "autocapitalize": "none"},
    )
    link = BooleanField(
        lazy_gettext("Also sign in there from now on"),
        description=lazy_gettext("You can unlink it on the page of your account."),
    )


@blueprint.get("/join")
def show() -> ResponseReturnValue:
    """The invitation; its secret moves from the URL into the session, so that logs and onlookers do not see it."""
    key = request.args.get("key")
    if key is not None:
        session[INVITED] = key[:LONGEST_KEY]
        return redirect(url_for(".show"), 303)
    return _page(_offered())


@blueprint.post("/join/account")
def make_account() -> ResponseReturnValue:
    """Create an account with the role of the link and start its session."""
    offered, form = _offered(), NewAccountForm()
    identity = proven() if form.link.data else None
    if form.validate():
        with form.guard():
            if form.link.data and identity is None:
                raise InvalidValueError(
                    "You signed in there more than 15 minutes ago. No account was created: go on there again, or "
                    "create the account without it and link it later."
                )
            new_hash = hash_password(form.password.data, [form.name.data])
            with database().transaction() as writing:
                person = invitations.accept_with_new_account(
                    writing, _key(), form.name.data, new_hash, identity=identity, at=now()
                )
                note(writing, "invitations.accept", offered.slug, subject=person.name, details={"role": offered.role})
                if identity is not None:
                    note(writing, "users.identity-link", subject=person.name, details={"issuer": identity.issuer})
            session.pop(INVITED)
            enter(person)
            flash(gettext("Account “%(name)s” created. Welcome!", name=person.name))
            return redirect(_next(offered), 303)
    return _page(offered, account=form), form.status


@blueprint.post("/join/accept")
@signed_in_page
def accept() -> ResponseReturnValue:
    """Give the role of the link to the signed-in account."""
    offered = _offered()
    with database().transaction() as writing:
        invitations.accept_as(writing, _key(), the_person().id, at=now())
        note(writing, "invitations.accept", offered.slug, subject=the_person().name, details={"role": offered.role})
    session.pop(INVITED)
    flash(gettext("You have joined “%(title)s”.", title=offered.title or ""))
    return redirect(_next(offered), 303)


@blueprint.post("/join/password")
def choose_password() -> ResponseReturnValue:
    """Set the account's new password and start a session; its other sessions end."""
    offered, form = _offered(), NewPasswordForm()
    if form.validate():
        with form.guard():
            new_hash = hash_password(form.password.data, [offered.account or ""])
            with database().transaction() as writing:
                person = invitations.accept_password(writing, _key(), new_hash, at=now())
                note(writing, "users.password", subject=person.name, details={"by": "link"})
            session.pop(INVITED)
            answer = enter_or_ask(person, _next(offered))
            flash(gettext("“%(name)s” has a new password.", name=person.name))
            return answer
    return _page(offered, password=form), form.status


def _key() -> str:
    return str(session.get(INVITED, ""))


def _offered() -> OpenInvitation:
    """The invitation of the session, checked before anything slow is done."""
    if not _key():
        raise NotFoundError("Open the invitation link again.")
    return database().read(invitations.open_invitation, _key(), now=now())


def _next(offered: OpenInvitation) -> str:
    if offered.slug is None:
        return url_for("collection.home")
    return url_for("collection.show", slug=offered.slug)


def _page(
    offered: OpenInvitation, account: NewAccountForm | None = None, password: NewPasswordForm | None = None
) -> str:
    return render_template(
        "people/joining.html",
        offered=offered,
        account=account or NewAccountForm(formdata=None, link=True),
        password=password or NewPasswordForm(formdata=None),
        provider=provider_name(),
        identity=proven(),
    )
