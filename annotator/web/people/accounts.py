"""Signing in and out, and the settings of one's own account."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired

from annotator.errors import InvalidValueError, NotAllowedError
from annotator.passwords import KNOWN_PASSWORD, hash_password
from annotator.storage import MailKind
from annotator.web.people.passkey_session import refusal_here
from annotator.web.people.provider_session import provider_name
from annotator.web.people.sign_in_code import enter_or_ask
from annotator.web.people.throttle import against_guessing
from annotator.web.site.access import enter, leave, signed_in_page
from annotator.web.site.addresses import local_path, wanted_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import current_person, database, now, settings, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.sessions import ends_at, key
from annotator.workflows.people import accounts, email_addresses, identities, passkeys, second_factor

blueprint = Blueprint("accounts", __name__)


class SignInForm(Form):
    """Account name and password."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        render_kw={"autocomplete": "username", "autocapitalize": "none", "autofocus": True},
    )
    password = PasswordField(
        lazy_gettext("Password"), [InputRequired()], render_kw={"autocomplete": "current-password"}
    )


class PasswordForm(Form):
    """A change of one's own password."""

    old_password = PasswordField(
        lazy_gettext("Current password"), [InputRequired()], render_kw={"autocomplete": "current-password"}
    )
    new_password = PasswordField(
        lazy_gettext("New password"),
        [InputRequired()],
        description=lazy_gettext("At least 8 characters."),
        render_kw={"autocomplete": "new-password"},
    )
    again = PasswordField(
        lazy_gettext("New password, again"),
        [InputRequired(), EqualTo("new_password", lazy_gettext("The two new passwords differ."))],
        render_kw={"autocomplete": "new-password"},
    )
    end_tokens = BooleanField(
        lazy_gettext("Also revoke my tokens"),
        description=lazy_gettext("Otherwise programs can still use your tokens."),
    )


@blueprint.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """The sign-in page; a person who is signed in is redirected."""
    if current_person() is not None:
        return redirect(wanted_page() or url_for("collection.home"), 303)
    return sign_in_page(SignInForm(), request.args.get("next"))


@blueprint.post("/sign-in")
@against_guessing
def try_to_sign_in() -> ResponseReturnValue:
    """Check name and password and start a session."""
    form = SignInForm()
    if form.validate():
        person = database().read(accounts.sign_in, form.name.data, form.password.data)
        if person is not None and form.password.data == KNOWN_PASSWORD and not settings().demonstration:
            form.refusal = NotAllowedError(
                "This is the password of the demonstration, which everybody knows. Ask an administrator for another."
            )
        elif person is not None:
            if current_person() is not None:
                with database().transaction() as session:
                    accounts.sign_in_again(session, key(), until=ends_at(), at=now())
            return enter_or_ask(person, wanted_page() or url_for("collection.home"))
        else:
            form.refusal = InvalidValueError("Wrong name or password.")
    return sign_in_page(form, request.args.get("next")), form.status


@blueprint.post("/sign-out")
@signed_in_page
def sign_out() -> ResponseReturnValue:
    """End the session; leased documents without a judgement return to the queue."""
    with database().transaction() as session:
        accounts.sign_out(session, the_person().id, key(), until=ends_at(), at=now())
    leave()
    return done(gettext("You have signed out."), ".sign_in")


@blueprint.get("/account")
@signed_in_page
def show() -> ResponseReturnValue:
    """One's own account."""
    return _account(PasswordForm())


@blueprint.post("/account")
@signed_in_page
@against_guessing
def change_password() -> ResponseReturnValue:
    """Change one's own password; the account's other sessions end, and its tokens if requested."""
    form = PasswordForm()
    if form.validate():
        with form.guard():
            # Hashing is slow and must not hold the transaction.
            new_hash = hash_password(form.new_password.data, [the_person().name])
            ends = form.end_tokens.data
            with database().transaction() as session:
                changed = accounts.change_password(
                    session, the_person().id, form.old_password.data, new_hash, end_tokens=ends, at=now()
                )
                note(session, "users.password", subject=changed.name, details={"tokens_revoked": ends or None})
            enter(changed)
    if form.refused:
        return _account(form), form.status
    flash(gettext("Your password has changed. Other browsers are signed out."))
    if form.end_tokens.data:
        flash(gettext("Your tokens are revoked."))
    if count := database().read(passkeys.count_passkeys, the_person().name):
        flash(
            gettext(
                "Passkeys still open your account: %(count)d. Look at them under “Passkeys”, and remove those that are "
                "not yours.",
                count=count,
            )
        )
    return redirect(url_for(".show"), 303)


@blueprint.post("/account/sign-out-everywhere")
@signed_in_page
def sign_out_everywhere() -> ResponseReturnValue:
    """End all sessions of one's account, including this one, and revoke its tokens."""
    with database().transaction() as session:
        accounts.sign_out_everywhere(session, the_person().name, at=now())
        note(session, "users.sign-out", subject=the_person().name)
    leave()
    return done(gettext("You are signed out in every browser, and your tokens are revoked."), ".sign_in")


def sign_in_page(form: SignInForm, to: str | None) -> str:
    """The page for name and password, from which one can go to the provider; then comes the page `to`."""
    return render_template(
        "people/accounts/sign_in.html",
        form=form,
        to=local_path(to),
        provider=provider_name(),
        takes_passkeys=refusal_here() is None,
        sends_links=settings().sends(MailKind.PASSWORD),
    )


def _account(form: PasswordForm) -> str:
    me = the_person().id
    return render_template(
        "people/accounts/account.html",
        form=form,
        factor=database().read(second_factor.show_state, me),
        identities=database().read(identities.list_identities, me),
        provider=provider_name(),
        email=database().read(email_addresses.show_email, me, now=now()).address,
        sends_mail=settings().sends_mail,
    )
