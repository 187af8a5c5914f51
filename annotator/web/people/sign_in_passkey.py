"""Signing in with a passkey alone; and what a browser is asked for whenever an existing passkey is used."""

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.web.people.accounts import SignInForm, sign_in_page
from annotator.web.people.passkey_session import (
    ALONE,
    FACTOR,
    PasskeyForm,
    account_in_question,
    keep_asked,
    noting_copies,
    take_asked,
    the_site,
)
from annotator.web.people.throttle import against_refused_passkeys
from annotator.web.site.access import enter
from annotator.web.site.addresses import local_path
from annotator.web.site.context import current_person, database, now
from annotator.web.site.error_pages import show_stale_form, status_of
from annotator.web.site.json_answers import refusal
from annotator.web.site.language import gettext
from annotator.web.site.sessions import ends_at, key
from annotator.web.site.translate import say
from annotator.workflows.people import accounts, passkeys
from annotator.workflows.people.passkey_protocol import request_options

blueprint = Blueprint("sign_in_passkey", __name__)


@blueprint.errorhandler(CSRFError)
def stale_form(error: CSRFError) -> ResponseReturnValue:
    """The refusal of a page that was open for too long; as JSON for the script that asks for options."""
    if request.endpoint == f"{blueprint.name}.ask":
        return refusal(error.code or 400, gettext("The page was open for too long: reload it and try again."))
    return show_stale_form(error)


@blueprint.post("/sign-in/passkey/options")
def ask() -> ResponseReturnValue:
    """What the browser is to ask of a passkey, as JSON: for the account in question (`purpose=factor`), or alone."""
    challenge = passkeys.new_challenge()
    purpose = FACTOR if request.form.get("purpose") == FACTOR else ALONE
    try:
        site = the_site()
        if purpose == ALONE:
            options = request_options(site, challenge)
        else:
            options = database().read(passkeys.ask_for_known, _account(), site, challenge)
    except AnnotatorError as refused:
        return refusal(status_of(refused), say(refused.sentence))
    keep_asked(purpose, challenge)
    return options


@blueprint.post("/sign-in/passkey")
@against_refused_passkeys
def sign_in() -> ResponseReturnValue:
    """Check what the passkey has signed, and start the session; a session of before ends."""
    form, to, person = PasskeyForm(), request.args.get("next"), None
    if form.validate():
        with form.guard():
            asked = take_asked(ALONE)
            checked = database().read(passkeys.check_signature, asked.request, form.passkey.data or "")
            with noting_copies(), database().transaction() as session:
                person = passkeys.sign_in(session, checked, at=now())
    if person is None:
        again = SignInForm(formdata=None)
        again.refusal = form.refusal
        return sign_in_page(again, to), form.status
    if current_person() is not None:
        with database().transaction() as session:
            accounts.sign_in_again(session, key(), until=ends_at(), at=now())
    enter(person)
    return redirect(local_path(to) or url_for("collection.home"), 303)


def _account() -> int:
    found = account_in_question()
    if found is None:
        raise InvalidValueError("Sign in with name and password first; the code is asked for within five minutes.")
    return found
