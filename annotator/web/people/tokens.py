"""The API tokens of one's own account."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import IntegerField, SelectChoice, SelectField, SelectMultipleField, StringField
from wtforms.validators import InputRequired, NumberRange, Optional, ValidationError
from wtforms.widgets import CheckboxInput, ListWidget

from annotator.web.site.access import signed_in_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.forms import Form
from annotator.web.site.labels import SCOPES
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import collection
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import MOST_DAYS, Scope, TokenRequest

blueprint = Blueprint("tokens", __name__)

EVERYWHERE = ""
USUAL_DAYS = 180


def scope_choices() -> list[SelectChoice]:
    """The scopes of a token."""
    return [SelectChoice(scope.value, words) for scope, words in SCOPES.items()]


def collection_choices() -> list[SelectChoice]:
    """The person's collections, preceded by the choice of all of them."""
    person = the_person()
    shown = database().read(collection.list_collections, None if person.administrator else person.id)
    return [
        SelectChoice(EVERYWHERE, gettext("all my collections")),
        *(SelectChoice(one.slug, one.title) for one in shown),
    ]


def _one_at_least(_form: Form, field: SelectMultipleField) -> None:
    # WTForms' own validator would make the browser require every box.
    if not field.data:
        raise ValidationError(gettext("Choose at least one."))


class TokenForm(Form):
    """A new token."""

    name = StringField(
        lazy_gettext("Purpose"),
        [InputRequired()],
        description=lazy_gettext("Such as the name of the program or the machine."),
        render_kw={"autocomplete": "off"},
    )
    scopes = SelectMultipleField(
        lazy_gettext("Permissions"),
        [_one_at_least],
        choices=scope_choices,
        widget=ListWidget(),
        option_widget=CheckboxInput(),
        description=lazy_gettext("Limited to what your roles allow. Give it no more than the program needs."),
    )
    collection = SelectField(lazy_gettext("Collection"), choices=collection_choices)
    days = IntegerField(
        lazy_gettext("Days until it expires"),
        [Optional(), NumberRange(1, MOST_DAYS)],
        default=USUAL_DAYS,
        description=lazy_gettext("Empty: it does not expire until you revoke it."),
        render_kw={"min": 1, "max": MOST_DAYS},
    )


class RevocationForm(Form):
    """The token to revoke."""

    number = IntegerField(validators=[InputRequired(), NumberRange(1, 10**9)])


@blueprint.get("/account/tokens")
@signed_in_page
def show() -> ResponseReturnValue:
    """The person's tokens, without secrets."""
    return _page()


@blueprint.post("/account/tokens")
@signed_in_page
def make() -> ResponseReturnValue:
    """Create a token and show its secret, only once."""
    form = TokenForm()
    if form.validate():
        scopes = frozenset(map(Scope, form.scopes.data))
        wanted = TokenRequest(form.name.data.strip(), scopes, form.collection.data or None, form.days.data)
        with form.guard():
            with database().transaction() as session:
                secret = tokens.make_token(session, the_person().name, wanted, at=now())
                details = {"scopes": sorted(scopes), "days": wanted.days}
                note(session, "tokens.add", wanted.slug, subject=wanted.name, details=details)
            return _page(secret=secret)
    return _page(form), form.status


@blueprint.post("/account/tokens/revoke")
@signed_in_page
def revoke() -> ResponseReturnValue:
    """Revoke a token."""
    form = RevocationForm()
    if form.validate():
        with form.guard():
            with database().transaction() as session:
                name = tokens.revoke_token(session, form.number.data, owner_id=the_person().id, at=now())
                note(session, "tokens.revoke", subject=name)
            flash(gettext("Token “%(name)s” revoked.", name=name))
            return redirect(url_for(".show"), 303)
    blank = TokenForm(formdata=None)
    blank.refusal = form.refusal
    return _page(blank), form.status


def _page(form: TokenForm | None = None, secret: str | None = None) -> str:
    rows = database().read(tokens.list_tokens, the_person().name, now=now())
    return render_template("people/tokens.html", rows=rows, secret=secret, form=form or TokenForm(formdata=None))
