"""Identities at a provider with which one's own account is opened: link and unlink them."""

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import PasswordField, RadioField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.web.people.provider_session import (
    forget_proven,
    keep_begun,
    keep_proven,
    proven,
    provider_name,
    return_address,
    status_of_refusal,
    the_provider,
)
from annotator.web.people.throttle import against_guessing
from annotator.web.site.access import signed_in_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import current_person, database, now, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.people import accounts, identities
from annotator.workflows.people.identities import IdentityRow, ProvenIdentity

blueprint = Blueprint("identities", __name__)


class LinkForm(Form):
    """One's own password, before an identity is linked."""

    password = PasswordField(
        lazy_gettext("Current password"), [InputRequired()], render_kw={"autocomplete": "current-password"}
    )


class UnlinkForm(LinkForm):
    """One's own password, and the identity to unlink."""

    number = RadioField(lazy_gettext("Identity"), [InputRequired()], coerce=int)


@blueprint.get("/account/identities")
@signed_in_page
def show() -> ResponseReturnValue:
    """The identities of one's own account."""
    return _page()


@blueprint.get("/account/identities/begin")
@signed_in_page
def begin() -> ResponseReturnValue:
    """Lead the browser to the provider, to come back with an identity to link."""
    provider = the_provider()
    try:
        begun = provider.begin(return_address(), at=now())
    except AnnotatorError as refusal:
        return refused_link(refusal)
    keep_begun(begun, url_for(".show"), account=the_person().id)
    return redirect(begun.address, 303)


@blueprint.get("/account/identities/link")
@signed_in_page
def confirm() -> ResponseReturnValue:
    """The identity that would be linked, with a form for the password."""
    the_provider()
    identity = proven(account=the_person().id)
    return redirect(url_for(".show"), 303) if identity is None else _confirmation(identity, LinkForm(formdata=None))


@blueprint.post("/account/identities/link")
@signed_in_page
@against_guessing
def link() -> ResponseReturnValue:
    """Link the identity with which one has just signed in at the provider."""
    the_provider()
    identity, form = proven(account=the_person().id), LinkForm()
    if identity is None:
        return refused_link(InvalidValueError("You signed in there too long ago. Nothing was linked: begin again."))
    if form.validate():
        with form.guard():
            # Hashing is slow and must not hold the transaction.
            database().read(accounts.check_password, the_person().id, form.password.data)
            with database().transaction() as session:
                identities.link_identity(
                    session, the_person().id, identity, generation=the_person().generation, at=now()
                )
                note(session, "users.identity-link", subject=the_person().name, details={"issuer": identity.issuer})
    if form.refused:
        return _confirmation(identity, form), form.status
    forget_proven()
    return done(gettext("“%(label)s” opens your account now.", label=identity.label), ".show")


@blueprint.post("/account/identities/unlink")
@signed_in_page
@against_guessing
def unlink() -> ResponseReturnValue:
    """Unlink an identity; name and password open the account as before."""
    rows = database().read(identities.list_identities, the_person().id)
    form = _unlinking(rows, UnlinkForm())
    if form.validate():
        with form.guard():
            database().read(accounts.check_password, the_person().id, form.password.data)
            with database().transaction() as session:
                issuer = identities.unlink_identity(session, the_person().id, form.number.data)
                note(session, "users.identity-unlink", subject=the_person().name, details={"issuer": issuer})
    if form.refused:
        return _page(form), form.status
    return done(gettext("The identity no longer opens your account."), ".show")


def to_confirmation(identity: ProvenIdentity, account: int) -> ResponseReturnValue:
    """Keep an identity for the account that began, and lead to the page that asks for the password.

    Raises `InvalidValueError` when another account, or none, is signed in by now.
    """
    person = current_person()
    if person is None or person.id != account:
        raise InvalidValueError("You have signed out meanwhile. Nothing was linked: sign in and begin again.")
    keep_proven(identity, account=account)
    return redirect(url_for("identities.confirm"), 303)


def refused_link(refusal: AnnotatorError) -> ResponseReturnValue:
    """The page of the identities, with what the provider or this site refused."""
    return _page(refusal=refusal), status_of_refusal(refusal)


def _unlinking(rows: list[IdentityRow], form: UnlinkForm) -> UnlinkForm:
    form.number.choices = [(row.number, row.label) for row in rows]
    return form


def _confirmation(identity: ProvenIdentity, form: LinkForm) -> str:
    return render_template("people/accounts/link_identity.html", form=form, identity=identity, provider=provider_name())


def _page(form: UnlinkForm | None = None, *, refusal: AnnotatorError | None = None) -> str:
    rows = database().read(identities.list_identities, the_person().id)
    if form is None:
        form = UnlinkForm(formdata=None, number=rows[0].number if len(rows) == 1 else None)
    form.refusal = form.refusal or refusal
    return render_template(
        "people/accounts/identities.html", rows=rows, form=_unlinking(rows, form), provider=provider_name()
    )
