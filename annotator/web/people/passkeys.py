"""The passkeys of one's own account: add, rename and remove them."""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import RadioField, StringField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError
from annotator.web.people.confirmation import (
    ConfirmedForm,
    asking_for_factor,
    code_field,
    confirmed,
    password_field,
)
from annotator.web.people.passkey_session import (
    NEW,
    PasskeyForm,
    has_passkey_here,
    keep_asked,
    refusal_here,
    take_asked,
    the_site,
)
from annotator.web.people.throttle import against_guessing, against_guessing_codes
from annotator.web.site.access import signed_in_page
from annotator.web.site.addresses import wanted_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.sessions import go_on_as
from annotator.workflows.people import passkeys, second_factor
from annotator.workflows.people.passkeys import PasskeyRow

blueprint = Blueprint("passkeys", __name__)

ChoiceForm = TypeVar("ChoiceForm", "RenameForm", "RemoveForm")
NAME = {"autocomplete": "off"}


class AddForm(ConfirmedForm):
    """The name of a new passkey, with password, and second factor if the account has one."""

    name = StringField(
        lazy_gettext("Name of the passkey"),
        [InputRequired()],
        description=lazy_gettext("Such as the device: you recognise it by this name later."),
        render_kw=NAME,
        id="passkey-name",
    )
    password = password_field("add-password")
    code = code_field("add-code")


class RenameForm(Form):
    """Another name for a passkey."""

    number = RadioField(lazy_gettext("Passkey"), [InputRequired()], coerce=int, id="rename-number")
    name = StringField(lazy_gettext("New name"), [InputRequired()], render_kw=NAME, id="new-name")


class RemoveForm(ConfirmedForm):
    """The passkey to remove, with password and second factor."""

    number = RadioField(lazy_gettext("Passkey"), [InputRequired()], coerce=int, id="remove-number")


@blueprint.get("/account/passkeys")
@signed_in_page
def show() -> ResponseReturnValue:
    """The passkeys of one's own account."""
    return _page()


@blueprint.post("/account/passkeys/begin")
@signed_in_page
@against_guessing_codes
def begin() -> ResponseReturnValue:
    """Check the owner and show the button by which the browser makes a passkey, which is not stored yet."""
    form = asking_for_factor(AddForm())
    if form.validate():
        with form.guard():
            site, challenge, me = the_site(), passkeys.new_challenge(), the_person()
            with confirmed(form) as (session, proof):
                name = second_factor.begin_passkey(session, me.id, me.generation, proof, name=form.name.data, at=now())
            options = database().read(passkeys.ask_for_new, me.id, site, challenge)
            keep_asked(NEW, challenge, name=name, user_handle=options["user"]["id"])
            return _confirmation(name, options)
    return _page(add=form), form.status


@blueprint.post("/account/passkeys")
@signed_in_page
@against_guessing
def add() -> ResponseReturnValue:
    """Add the passkey that the browser has made; with the first one, show the recovery codes, only once."""
    form = PasskeyForm()
    codes: Sequence[str] = ()
    if form.validate():
        with form.guard():
            asked = take_asked(NEW)
            with database().transaction() as session:
                person, codes = passkeys.add_passkey(
                    session,
                    the_person().id,
                    the_person().generation,
                    asked.request,
                    form.passkey.data or "",
                    name=asked.name,
                    user_handle=asked.user_handle,
                    at=now(),
                )
                note(session, "users.passkey-add", subject=person.name)
            go_on_as(person.id, person.generation)
    if form.refused:
        return _page(refusal=form.refusal), form.status
    flash(gettext("The passkey was added. Your other browsers are signed out."))
    return _page(codes=codes) if codes else redirect(url_for(".show", next=wanted_page()), 303)


@blueprint.post("/account/passkeys/rename")
@signed_in_page
def rename() -> ResponseReturnValue:
    """Give a passkey another name."""
    form = _choosing(RenameForm(), _own())
    if form.validate():
        with form.guard(), database().transaction() as session:
            passkeys.rename_passkey(session, the_person().id, form.number.data, form.name.data)
            note(session, "users.passkey-rename", subject=the_person().name)
    if form.refused:
        return _page(renaming=form), form.status
    return done(gettext("The passkey has a new name."), ".show")


@blueprint.post("/account/passkeys/remove")
@signed_in_page
@against_guessing_codes
def remove() -> ResponseReturnValue:
    """Remove a passkey; the account's other sessions end."""
    form = _choosing(RemoveForm(), _own())
    if form.validate():
        with form.guard():
            me = the_person()
            with confirmed(form) as (session, proof):
                person = second_factor.remove_passkey(session, me.id, me.generation, form.number.data, proof, at=now())
                note(session, "users.passkey-remove", subject=person.name, details={"passkeys": 1})
            go_on_as(person.id, person.generation)
    if form.refused:
        return _page(removing=form), form.status
    return done(gettext("The passkey was removed. Your other browsers are signed out."), ".show")


def _own() -> list[PasskeyRow]:
    return database().read(passkeys.list_passkeys, the_person().id)


def _choosing(form: ChoiceForm, rows: Sequence[PasskeyRow]) -> ChoiceForm:
    form.number.choices = [(row.number, row.name) for row in rows]
    return form


def _confirmation(name: str, options: dict[str, Any]) -> str:
    return render_template(
        "people/accounts/confirm_passkey.html",
        form=PasskeyForm(formdata=None),
        name=name,
        options=json.dumps(options),
        next=wanted_page(),
    )


def _page(
    *,
    add: AddForm | None = None,
    renaming: RenameForm | None = None,
    removing: RemoveForm | None = None,
    refusal: AnnotatorError | None = None,
    codes: Sequence[str] = (),
) -> str:
    rows = _own()
    only = rows[0].number if len(rows) == 1 else None
    return render_template(
        "people/accounts/passkeys.html",
        rows=rows,
        add=add or asking_for_factor(AddForm(formdata=None)),
        renaming=renaming or _choosing(RenameForm(formdata=None, number=only), rows),
        removing=removing or _choosing(RemoveForm(formdata=None, number=only), rows),
        refusal_of_new=refusal,
        refusal_here=refusal_here(),
        has_passkey_here=has_passkey_here(the_person().id),
        codes=codes,
        next=wanted_page(),
    )
