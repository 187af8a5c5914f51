"""The accounts of the site, for administrators, and which of them are machine judges."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, DateField, PasswordField, StringField, TextAreaField
from wtforms.validators import InputRequired, Optional

from annotator.errors import ConflictError
from annotator.passwords import hash_password
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.audit import Transaction
from annotator.web.people.links import link_to
from annotator.web.site.access import administrator_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, confirmation, done, is_confirmed, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.agreement import machine_judges
from annotator.workflows.people import accounts, erasure, identities, invitations, passkeys, second_factor

blueprint = Blueprint("people", __name__)

NEW_PASSWORD = {"autocomplete": "new-password"}
NO_GUESS = {"autocomplete": "off", "autocapitalize": "none"}


class MachineFields(Form):
    """The fields that describe a machine judge."""

    model = StringField(
        lazy_gettext("Model"), description=lazy_gettext("With its version."), render_kw={"autocomplete": "off"}
    )
    prompt = TextAreaField(lazy_gettext("Prompt"), render_kw={"rows": "4"})
    labelled_on = DateField(lazy_gettext("Date of its labels"), [Optional()])

    @property
    def facts(self) -> MachineFacts:
        """The facts that were entered."""
        return MachineFacts((self.model.data or "").strip(), unix_lines(self.prompt.data) or "", self.labelled_on.data)


class MarkForm(MachineFields):
    """Marks an account as a machine judge, or removes the mark."""

    judge = StringField(
        lazy_gettext("Name of the judge"),
        [InputRequired()],
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )


class AccountForm(Form):
    """A new account."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        description=lazy_gettext("Up to 64 characters without blanks. They sign in with it."),
        render_kw=NO_GUESS,
    )
    password = PasswordField(
        lazy_gettext("First password"),
        [InputRequired()],
        description=lazy_gettext("At least 8 characters. They can change it after signing in."),
        render_kw=NEW_PASSWORD,
    )
    administrator = BooleanField(
        lazy_gettext("Administrator"),
        description=lazy_gettext("May add people and collections, and organise every collection."),
    )


class ResetForm(Form):
    """A new password for another account."""

    account = StringField(lazy_gettext("Name"), [InputRequired()], render_kw=NO_GUESS)
    new_password = PasswordField(
        lazy_gettext("New password"),
        [InputRequired()],
        description=lazy_gettext(
            "At least 8 characters. Every session of the account ends, its tokens are revoked, and its e-mail address "
            "is deleted."
        ),
        render_kw=NEW_PASSWORD,
    )
    remove_passkeys = BooleanField(
        lazy_gettext("Remove its passkeys"),
        description=lazy_gettext("Otherwise they still open the account."),
    )


class AccountNameForm(Form):
    """The account to sign out, or to send a password link to."""

    account = StringField(lazy_gettext("Name"), [InputRequired()], render_kw=NO_GUESS, id="account-name")


@blueprint.get("/people")
@administrator_page
def show() -> ResponseReturnValue:
    """Every account."""
    return _page()


@blueprint.post("/people")
@administrator_page
def add() -> ResponseReturnValue:
    """Create an account."""
    form = AccountForm()
    if form.validate():
        with form.guard():
            password_hash = hash_password(form.password.data, [form.name.data])
            with database().transaction() as session:
                accounts.add_user(
                    session,
                    form.name.data,
                    password_hash=password_hash,
                    administrator=form.administrator.data,
                    added_at=now(),
                )
                details = {"administrator": form.administrator.data}
                note(session, "users.add", subject=form.name.data, details=details)
    if form.refused:
        return _page(form=form), form.status
    return done(gettext("Account “%(name)s” created.", name=form.name.data), ".show")


@blueprint.post("/people/password")
@administrator_page
def reset_password() -> ResponseReturnValue:
    """Set an account's password."""
    form = ResetForm()
    if form.validate():
        with form.guard():
            new_hash = hash_password(form.new_password.data, [form.account.data])
            with database().transaction() as session:
                removed = passkeys.give_password(
                    session, form.account.data, new_hash, removes_passkeys=form.remove_passkeys.data, at=now()
                )
                note(session, "users.password", subject=form.account.data)
                if removed:
                    note(session, "users.passkey-remove", subject=form.account.data, details={"passkeys": removed})
    if form.refused:
        return _page(reset=form), form.status
    if removed:
        flash(gettext("Passkeys removed: %(count)d.", count=removed))
    if count := database().read(passkeys.count_passkeys, form.account.data):
        flash(
            gettext(
                "Passkeys still open the account: %(count)d. After a stolen password, remove them on this page.",
                count=count,
            )
        )
    return done(gettext("“%(name)s” has a new password.", name=form.account.data), ".show")


@blueprint.post("/people/password-link")
@administrator_page
def password_link() -> ResponseReturnValue:
    """Create a password link for an account and show it, only once."""
    form = AccountNameForm()
    if form.validate():
        with form.guard():
            with database().transaction() as session:
                secret = invitations.invite_to_password(
                    session, None, form.account.data, made_by_id=the_person().id, at=now()
                )
                note(session, "users.password-link", subject=form.account.data)
            return _page(link_for=form.account.data, link=link_to(secret))
    return _page(named=form), form.status


@blueprint.post("/people/sign-out")
@administrator_page
def sign_out() -> ResponseReturnValue:
    """End all sessions of an account and revoke its tokens."""
    form = AccountNameForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            person = accounts.sign_out_everywhere(session, form.account.data, at=now())
            note(session, "users.sign-out", subject=person.name)
    if form.refused:
        return _page(named=form), form.status
    return done(
        gettext("“%(name)s” is signed out everywhere; the tokens of the account are revoked.", name=form.account.data),
        ".show",
    )


@blueprint.post("/people/second-factor")
@administrator_page
def reset_second_factor() -> ResponseReturnValue:
    """Turn off the second factor of an account whose owner has lost it."""
    form = AccountNameForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            second_factor.reset(session, form.account.data)
            note(session, "users.second-factor-reset", subject=form.account.data)
    if form.refused:
        return _page(named=form), form.status
    return done(gettext("“%(name)s” signs in without a second factor now.", name=form.account.data), ".show")


@blueprint.post("/people/passkeys")
@administrator_page
def remove_passkeys() -> ResponseReturnValue:
    """Remove every passkey of an account; all of its sessions end."""
    form = AccountNameForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            count = passkeys.remove_passkeys(session, form.account.data)
            note(session, "users.passkey-remove", subject=form.account.data, details={"passkeys": count})
    if form.refused:
        return _page(named=form), form.status
    return done(
        gettext("“%(name)s” has no passkeys now, and is signed out everywhere.", name=form.account.data), ".show"
    )


@blueprint.post("/people/identities")
@administrator_page
def unlink_identities() -> ResponseReturnValue:
    """Unlink every identity at a provider from an account."""
    form = AccountNameForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            count = identities.unlink_all(session, form.account.data)
            note(session, "users.identity-unlink", subject=form.account.data, details={"identities": count})
    if form.refused:
        return _page(named=form), form.status
    return done(gettext("“%(name)s” signs in by name and password alone now.", name=form.account.data), ".show")


@blueprint.post("/people/forget")
@administrator_page
def forget() -> ResponseReturnValue:
    """Delete the personal data of an account, after confirmation; its judgements stay under a pseudonym."""
    form, confirmed = AccountNameForm(), is_confirmed()
    other = ""
    if form.validate():
        with form.guard(), database().transaction(keep=confirmed) as session:
            if form.account.data == the_person().name:
                raise ConflictError("Another administrator must delete your data.")
            other = erasure.forget_user(session, form.account.data)
            note(session, "users.forget", subject=other)
    if form.refused:
        return _page(named=form), form.status
    if not confirmed:
        return confirmation(
            gettext("Delete the personal data of “%(name)s”?", name=form.account.data),
            notes=[
                gettext(
                    "The account loses its name, password, roles and tokens, also in the audit log and in the "
                    "manifests of kept qrels. This cannot be undone."
                ),
                gettext("The judgements stay, under a pseudonym. The text of notes and questions is not changed."),
            ],
            button=gettext("Delete the personal data"),
            back=url_for(".show"),
            destroys=True,
        )
    return done(gettext("Personal data deleted. The judgements stay as those of “%(name)s”.", name=other), ".show")


@blueprint.post("/people/machine")
@administrator_page
def mark_machine() -> ResponseReturnValue:
    """Mark an account as a machine judge, or remove the mark."""
    form = MarkForm()
    is_machine = "person" not in request.form
    if form.validate():
        name, facts = form.judge.data, form.facts if is_machine else None
        with form.guard():
            database().attempt(lambda session: _mark(session, name, facts))
    if form.refused:
        return _page(mark=form), form.status
    if is_machine:
        flash(gettext("“%(name)s” is a machine.", name=form.judge.data))
    else:
        flash(gettext("“%(name)s” is a person.", name=form.judge.data))
    return redirect(url_for(".show"), 303)


def _mark(session: Transaction, name: str, facts: MachineFacts | None) -> None:
    """Mark an account as a machine with these facts, or as a person without."""
    if facts is None:
        machine_judges.mark_person(session, name)
    else:
        machine_judges.mark_machine(session, name, facts)
    note(session, "users.mark-person" if facts is None else "users.mark-machine", subject=name)


def _page(
    form: AccountForm | None = None,
    reset: ResetForm | None = None,
    mark: MarkForm | None = None,
    named: AccountNameForm | None = None,
    *,
    link_for: str | None = None,
    link: str | None = None,
) -> str:
    rows = database().read(accounts.list_users)
    return render_template(
        "people/list.html",
        rows=rows,
        form=form or AccountForm(formdata=None),
        reset=reset or ResetForm(formdata=None),
        mark=mark or MarkForm(formdata=None),
        named=named or AccountNameForm(formdata=None),
        link_for=link_for,
        link=link,
    )
