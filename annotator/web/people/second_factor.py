"""The second factor of one's own account: turn it on and off, renew the recovery codes."""

from collections.abc import Sequence
from importlib import import_module

from flask import Blueprint, current_app, render_template, request
from flask.typing import ResponseReturnValue
from itsdangerous import BadData, URLSafeTimedSerializer
from markupsafe import Markup
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired

from annotator.errors import ConflictError, InvalidValueError
from annotator.web.people.confirmation import (
    ONE_TIME,
    ConfirmedForm,
    asking_for_factor,
    code_field,
    confirmed,
    password_field,
)
from annotator.web.people.passkey_session import has_passkey_here
from annotator.web.people.throttle import against_guessing, against_guessing_codes
from annotator.web.site.access import signed_in_page
from annotator.web.site.addresses import wanted_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.sessions import go_on_as
from annotator.workflows.people import second_factor

blueprint = Blueprint("second_factor", __name__)

# From the password to the first code.
MOST_SECONDS = 15 * 60
GROUP = 4


class BeginForm(ConfirmedForm):
    """One's own password, and a passkey or recovery code if the account has them, before the secret is shown."""

    password = password_field("app-password")
    code = code_field("app-code")


class ConfirmForm(Form):
    """The first code of the app, with the signed secret that it was given."""

    offer = HiddenField(validators=[InputRequired()])
    code = StringField(
        lazy_gettext("Code"),
        [InputRequired()],
        description=lazy_gettext("The six digits that the app shows now."),
        render_kw={**ONE_TIME, "inputmode": "numeric"},
    )


@blueprint.get("/account/second-factor")
@signed_in_page
def show() -> ResponseReturnValue:
    """Whether the second factor is on, and how to change that."""
    return _page()


@blueprint.post("/account/second-factor/begin")
@signed_in_page
@against_guessing_codes
def begin() -> ResponseReturnValue:
    """Check the owner and show a new secret as QR code and text, which is not stored yet."""
    form = asking_for_factor(BeginForm())
    if form.validate():
        with form.guard():
            me = the_person()
            with confirmed(form) as (session, proof):
                secret = second_factor.begin(session, me.id, me.generation, proof, at=now())
            confirming = ConfirmForm(formdata=None, offer=_offers().dumps([_session_of_now(), secret]))
            return _confirmation(confirming, secret)
    return _page(begin=form), form.status


@blueprint.post("/account/second-factor")
@signed_in_page
@against_guessing
def turn_on() -> ResponseReturnValue:
    """Turn on the second factor when the app shows the right code, and show the recovery codes, only once."""
    form, secret = ConfirmForm(), None
    is_complete = form.validate()
    with form.guard():
        secret = _offered(form.offer.data or "")
        if is_complete:
            with database().transaction() as session:
                me = the_person()
                person, codes = second_factor.turn_on(session, me.id, me.generation, secret, form.code.data, at=now())
                note(session, "users.second-factor-on", subject=person.name)
            go_on_as(person.id, person.generation)
            return _page(codes=codes)
    if secret is None or isinstance(form.refusal, ConflictError):
        again = asking_for_factor(BeginForm(formdata=None))
        again.refusal = form.refusal
        return _page(begin=again), form.status
    return _confirmation(form, secret), form.status


@blueprint.post("/account/second-factor/codes")
@signed_in_page
@against_guessing_codes
def renew_codes() -> ResponseReturnValue:
    """Make new recovery codes in place of the earlier ones, and show them, only once."""
    form = ConfirmedForm()
    if form.validate():
        with form.guard():
            with confirmed(form) as (session, proof):
                codes = second_factor.renew_codes(session, the_person().id, proof, at=now())
                note(session, "users.recovery-codes", subject=the_person().name)
            return _page(codes=codes)
    return _page(change=form), form.status


@blueprint.post("/account/second-factor/off")
@signed_in_page
@against_guessing_codes
def turn_off() -> ResponseReturnValue:
    """Turn off the second factor."""
    form = ConfirmedForm()
    if form.validate():
        with form.guard(), confirmed(form) as (session, proof):
            second_factor.turn_off(session, the_person().id, proof, at=now())
            note(session, "users.second-factor-off", subject=the_person().name)
    if form.refused:
        return _page(change=form), form.status
    if database().read(second_factor.is_on, the_person().id):
        return done(gettext("Codes of the app are off; your passkeys stay."), ".show")
    return done(gettext("Your second factor is off."), "accounts.show")


def _offers() -> URLSafeTimedSerializer:
    """Signs secrets that are shown and not stored, so that nobody confirms one which this page did not make."""
    return URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="second-factor")


def _session_of_now() -> str:
    return f"{the_person().id}:{the_person().generation}"


def _offered(signed: str) -> str:
    """The secret that was shown to this person; raises `InvalidValueError` after expiry."""
    try:
        shown_to, secret = _offers().loads(signed, max_age=MOST_SECONDS)
    except (BadData, ValueError, TypeError):
        shown_to, secret = None, ""
    if shown_to != _session_of_now():
        raise InvalidValueError("The QR code was shown too long ago. Begin again, and remove the entry from your app.")
    return str(secret)


def _confirmation(form: ConfirmForm, secret: str) -> str:
    form.code.data = ""  # a refused code is never right a moment later
    address = second_factor.address_for_app(secret, the_person().name, request.host)
    groups = " ".join(secret[at : at + GROUP] for at in range(0, len(secret), GROUP))
    return render_template(
        "people/accounts/confirm_factor.html", form=form, picture=_qr_code(address), secret=groups, next=wanted_page()
    )


def _qr_code(text: str) -> Markup:
    """The QR code as an SVG element, dark on white in every colour scheme, as cameras need it."""
    # It takes time to load, and few processes ever draw one.
    code = import_module("segno").make(text, error="m", micro=False)
    return Markup(code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=False))  # noqa: S704 - squares


def _page(
    *, begin: BeginForm | None = None, change: ConfirmedForm | None = None, codes: Sequence[str] | None = None
) -> str:
    return render_template(
        "people/accounts/second_factor.html",
        state=database().read(second_factor.show_state, the_person().id),
        begin=begin or asking_for_factor(BeginForm(formdata=None)),
        change=change or ConfirmedForm(formdata=None),
        has_passkey_here=has_passkey_here(the_person().id),
        codes=codes,
        next=wanted_page(),
    )
