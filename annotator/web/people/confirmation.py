"""Confirming a change of how one's own account is opened: by password, and by the second factor if it has one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from wtforms import HiddenField, PasswordField, StringField
from wtforms.validators import InputRequired, StopValidation

from annotator.storage.collections.audit import Transaction
from annotator.web.people.passkey_session import FACTOR, noting_copies, take_asked
from annotator.web.site.context import database, the_person
from annotator.web.site.forms import Form
from annotator.web.site.language import lazy_gettext
from annotator.workflows.people import accounts, passkeys, second_factor
from annotator.workflows.people.second_factor import Proof

ONE_TIME = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}


class CodeOrPasskey(InputRequired):  # type: ignore[misc]  # wtforms ships no types
    """Require a code where no passkey was used."""

    def __call__(self, form: Any, field: Any) -> None:  # noqa: ANN401 - as in wtforms
        """Stop without error when a passkey was used."""
        if form.passkey.data:
            raise StopValidation
        super().__call__(form, field)


def code_field(id_: str) -> StringField:
    """The field for a code, with an id that no other form of the page has."""
    return StringField(
        lazy_gettext("Code"),
        [CodeOrPasskey()],
        description=lazy_gettext("Six digits from your app, or one of your recovery codes."),
        render_kw=ONE_TIME,
        id=id_,
    )


def password_field(id_: str) -> PasswordField:
    """The field for one's own password, with an id that no other form of the page has."""
    return PasswordField(
        lazy_gettext("Current password"),
        [InputRequired()],
        render_kw={"autocomplete": "current-password"},
        id=id_,
    )


class ProofForm(Form):
    """A code of the app, a recovery code, or what a passkey has signed."""

    passkey = HiddenField()
    code = code_field("code")

    @property
    def proof(self) -> Proof:
        """What was given; a passkey's signature is checked here, and not in the transaction that accepts it.

        Raises `InvalidValueError` when the passkey was asked for too long ago, or elsewhere, and as
        `passkeys.check_signature`.
        """
        if self.passkey.data:
            request = take_asked(FACTOR).request
            return Proof(passkey=database().read(passkeys.check_signature, request, self.passkey.data))
        return Proof(self.code.data or "" if self.code else "")


class ConfirmedForm(ProofForm):
    """One's own password, and code or passkey."""

    password = password_field("password")


AnyForm = TypeVar("AnyForm", bound=ProofForm)


def asking_for_factor(form: AnyForm) -> AnyForm:
    """The form, without the field for a code if the account has no second factor."""
    if not database().read(second_factor.is_on, the_person().id):
        del form.code
    return form


@contextmanager
def confirmed(form: ConfirmedForm) -> Iterator[tuple[Transaction, Proof]]:
    """A transaction after the check of the password, and the proof of the second factor, which its workflow checks.

    Raises `NotAllowedError` for a wrong password, and as `ProofForm.proof`.
    """
    # Hashing is slow and must not hold the transaction.
    database().read(accounts.check_password, the_person().id, form.password.data)
    proof = form.proof
    with noting_copies(), database().transaction() as session:
        yield session, proof
