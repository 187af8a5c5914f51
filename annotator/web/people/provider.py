"""Signing in at a provider: the browser goes there, and comes back with a code.

Both are links and no forms: the policy of the pages allows no form to lead to another site.
"""

import re
from urllib.parse import urlsplit

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError
from annotator.storage.people.accounts import Person
from annotator.web.people.accounts import SignInForm, sign_in_page
from annotator.web.people.identities import refused_link, to_confirmation
from annotator.web.people.provider_session import (
    LONGEST,
    Begun,
    keep_begun,
    keep_proven,
    proven,
    return_address,
    status_of_refusal,
    take_begun,
    the_provider,
)
from annotator.web.people.sign_in_code import enter_or_ask
from annotator.web.people.throttle import against_refusals
from annotator.web.site.access import INVITED
from annotator.web.site.addresses import wanted_page
from annotator.web.site.context import current_person, database, now
from annotator.workflows.people import identities, invitations

blueprint = Blueprint("provider", __name__)


REGISTRATION = re.compile(r"/tasks/[^/?]+/registration")


@blueprint.get("/sign-in/provider")
def begin() -> ResponseReturnValue:
    """Lead the browser to the provider; with `again`, it asks who signs in although it knows somebody.

    A person who is signed in is redirected: otherwise a link on another site could sign them in as somebody else.
    """
    provider, to = the_provider(), wanted_page() or url_for("collection.home")
    if current_person() is not None:
        return redirect(to, 303)
    prompt = "login" if "again" in request.args else None
    try:
        begun = provider.begin(return_address(), prompt=prompt, at=now())
    except AnnotatorError as refusal:
        return _refused(refusal, to)
    keep_begun(begun, to)
    return redirect(begun.address, 303)


@blueprint.get("/sign-in/provider/return")
def finish() -> ResponseReturnValue:
    """Take the provider's answer: sign in, or go on to linking an account or to an invitation."""
    the_provider()
    begun = take_begun(request.args.get("state", ""))
    if begun is None:
        # It asks no other server, and counts for nothing: others in the same network may have led people here.
        refusal = InvalidValueError(
            "This sign-in was not begun in this browser, was used already, or took longer than %(minutes)d "
            "minutes. Begin again.",
            minutes=LONGEST.seconds // 60,
        )
        return _refused(refusal, url_for("collection.home"))
    return against_refusals(lambda: _answer(begun))()


@blueprint.get("/sign-in/provider/unknown")
def unknown() -> ResponseReturnValue:
    """What a person can do whose identity opens no account; at an address that may be loaded again."""
    provider, identity, to = the_provider(), proven(), wanted_page() or url_for("collection.home")
    if identity is None or current_person() is not None:
        return redirect(url_for("accounts.sign_in", next=to), 303)
    page = render_template(
        "people/accounts/unknown_identity.html",
        identity=identity,
        provider=provider.access.name,
        registration=to if REGISTRATION.fullmatch(urlsplit(to).path) else None,
    )
    return page, 403


def _answer(begun: Begun) -> ResponseReturnValue:
    try:
        identity = the_provider().finish(
            request.args.to_dict(), return_address(), nonce=begun.nonce, verifier=begun.verifier, at=now()
        )
        if begun.account:
            return to_confirmation(identity, begun.account)
        person = database().read(identities.find_person, identity)
    except AnnotatorError as refusal:
        if begun.account and current_person() is not None:
            return refused_link(refusal)
        return _refused(refusal, begun.to)
    present = current_person()
    if present is not None:
        return _stay(present, person, begun.to)
    if person is not None:
        return enter_or_ask(person, begun.to)
    keep_proven(identity)
    return redirect(url_for("joining.show") if _is_invited() else url_for(".unknown", next=begun.to), 303)


def _stay(present: Person, found: Person | None, to: str) -> ResponseReturnValue:
    """Keep the session of a person who has signed in meanwhile, such as in another tab."""
    if found is None or found.id != present.id:
        raise ConflictError(
            "You are signed in as “%(name)s” already, and still are. To sign in at %(provider)s as somebody else, sign "
            "out first.",
            name=present.name,
            provider=the_provider().access.name,
        )
    return redirect(to, 303)


def _is_invited() -> bool:
    """Whether the session has an invitation that can be accepted; any other is forgotten."""
    if INVITED not in session:
        return False
    try:
        database().read(invitations.open_invitation, str(session[INVITED]), now=now())
    except AnnotatorError:
        session.pop(INVITED)
        return False
    return True


def _refused(refusal: AnnotatorError, to: str) -> ResponseReturnValue:
    form = SignInForm(formdata=None)
    form.refusal = refusal
    return sign_in_page(form, to), status_of_refusal(refusal)
