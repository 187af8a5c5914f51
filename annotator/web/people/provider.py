"""Signing in at a provider: the browser goes there, and comes back with a code.

Both are links and no forms: the policy of the pages allows no form to lead to another site.
"""

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.web.people.accounts import SignInForm, sign_in_page
from annotator.web.people.identities import refused_link, to_confirmation
from annotator.web.people.provider_session import (
    LONGEST,
    Begun,
    keep_begun,
    keep_proven,
    return_address,
    status_of_refusal,
    take_begun,
    the_provider,
)
from annotator.web.people.sign_in_code import enter_or_ask
from annotator.web.people.throttle import against_refusals
from annotator.web.site.access import INVITED
from annotator.web.site.addresses import local_path
from annotator.web.site.context import current_person, database, now
from annotator.web.site.sessions import ends_at, key
from annotator.workflows.people import accounts, identities
from annotator.workflows.people.identities import ProvenIdentity

blueprint = Blueprint("provider", __name__)


@blueprint.get("/sign-in/provider")
@against_refusals
def begin() -> ResponseReturnValue:
    """Lead the browser to the provider; with `again`, it asks who signs in although it knows somebody."""
    provider, to = the_provider(), local_path(request.args.get("next")) or url_for("collection.home")
    prompt = "login" if "again" in request.args else None
    try:
        begun = provider.begin(return_address(), prompt=prompt, at=now())
    except AnnotatorError as refusal:
        return _refused(refusal, to)
    keep_begun(begun, to)
    return redirect(begun.address, 303)


@blueprint.get("/sign-in/provider/return")
@against_refusals
def finish() -> ResponseReturnValue:
    """Take the provider's answer: sign in, or go on to linking an account or to an invitation."""
    provider, begun = the_provider(), take_begun(request.args.get("state", ""))
    try:
        if begun is None:
            raise InvalidValueError(
                "This sign-in was not begun in this browser, was used already, or took longer than %(minutes)d "
                "minutes. Begin again.",
                minutes=LONGEST.seconds // 60,
            )
        identity = provider.finish(
            request.args.to_dict(), return_address(), nonce=begun.nonce, verifier=begun.verifier, at=now()
        )
        if begun.account:
            return to_confirmation(identity, begun.account)
        return _sign_in(identity, begun)
    except AnnotatorError as refusal:
        if begun is not None and begun.account and current_person() is not None:
            return refused_link(refusal)
        return _refused(refusal, begun.to if begun else url_for("collection.home"))


def _sign_in(identity: ProvenIdentity, begun: Begun) -> ResponseReturnValue:
    person = database().read(identities.find_person, identity)
    if person is not None:
        if current_person() is not None:
            with database().transaction() as writing:
                accounts.sign_in_again(writing, key(), until=ends_at(), at=now())
        return enter_or_ask(person, begun.to)
    if INVITED in session and current_person() is None:
        keep_proven(identity)
        return redirect(url_for("joining.show"), 303)
    page = render_template(
        "people/accounts/unknown_identity.html", identity=identity, provider=the_provider().access.name
    )
    return page, 403


def _refused(refusal: AnnotatorError, to: str) -> ResponseReturnValue:
    form = SignInForm(formdata=None)
    form.refusal = refusal
    return sign_in_page(form, to), status_of_refusal(refusal)
