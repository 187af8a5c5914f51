"""The second step of signing in: a code or a passkey, after the password."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError
from annotator.storage.people.accounts import Person
from annotator.web.people.confirmation import ONE_TIME, ProofForm
from annotator.web.people.passkey_session import account_in_question, has_passkey_here, noting_copies
from annotator.web.people.throttle import against_guessing_codes
from annotator.web.site.access import enter, enter_half
from annotator.web.site.addresses import wanted_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import current_person, database, now
from annotator.web.site.language import gettext
from annotator.web.site.sessions import half_signed_in
from annotator.web.site.translate import say
from annotator.workflows.people import second_factor
from annotator.workflows.people.passkeys import UsedAtOnceError
from annotator.workflows.people.second_factor import CodeAccepted

blueprint = Blueprint("sign_in_code", __name__)


def enter_or_ask(person: Person, to: str) -> ResponseReturnValue:
    """Start the session of a person whose password was accepted, or ask first for the code of a second factor."""
    if not database().read(second_factor.is_on, person.id):
        enter(person)
        return redirect(to, 303)
    enter_half(person)
    return redirect(url_for("sign_in_code.ask", next=to), 303)


@blueprint.get("/sign-in/code")
def ask() -> ResponseReturnValue:
    """The page for the code; without a password in the last five minutes it redirects to the sign-in page."""
    if current_person() is not None:
        return redirect(wanted_page() or url_for("collection.home"), 303)
    if half_signed_in() is None:
        return _begin_again()
    return _page(ProofForm(formdata=None))


@blueprint.post("/sign-in/code")
@against_guessing_codes
def check() -> ResponseReturnValue:
    """Check the code, or what a passkey has signed, and start the session."""
    half, form = half_signed_in(), ProofForm()
    if half is None:
        return _begin_again()
    if form.validate():
        try:
            accepted = _accepted(*half, form)
        except UsedAtOnceError as refusal:
            form.refusal = refusal
        except ConflictError as lapsed:
            return _begin_again(say(lapsed.sentence))
        except AnnotatorError as refusal:
            form.refusal = refusal
        else:
            if accepted is not None:
                enter(accepted.person)
                _warn(accepted.codes_left)
                return redirect(wanted_page() or url_for("collection.home"), 303)
            form.refusal = InvalidValueError("This code is wrong, or it was used already: then wait for the next one.")
    return _page(form), form.status


def _accepted(user_id: int, generation: int, form: ProofForm) -> CodeAccepted | None:
    proof = form.proof
    with noting_copies(), database().transaction() as session:
        accepted = second_factor.sign_in(session, user_id, generation, proof, at=now())
        if accepted is not None and accepted.codes_left is not None:
            details = {"left": accepted.codes_left}
            note(session, "users.recovery-code", subject=accepted.person.name, details=details)
    return accepted


def _page(form: ProofForm) -> str:
    form.code.data = form.passkey.data = ""  # a refused one is never right a moment later
    form.code.render_kw = {**ONE_TIME, "autofocus": True}
    account = account_in_question()
    return render_template(
        "people/accounts/code.html",
        form=form,
        state=database().read(second_factor.show_state, account) if account else None,
        has_passkey_here=bool(account and has_passkey_here(account)),
    )


def _warn(codes_left: int | None) -> None:
    """Say how many recovery codes are left after one was used."""
    if codes_left is not None:
        flash(gettext("You signed in with a recovery code. Recovery codes left: %(count)d.", count=codes_left))


def _begin_again(reason: str | None = None) -> ResponseReturnValue:
    flash(reason or gettext("Sign in with name and password first; the code is asked for within five minutes."))
    return redirect(url_for("accounts.sign_in", next=request.args.get("next")), 303)
