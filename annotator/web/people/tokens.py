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
from annotator.workflows.collections.collection_list import collection_names
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import MOST_DAYS, Scope, TokenRequest

blueprint = Blueprint("tokens", __name__)

EVERYWHERE = ""
USUAL_DAYS = 180
MOST_IN_A_LIST = 100


def scope_choices() -> list[SelectChoice]:
    """The scopes of a token."""
    return [SelectChoice(scope.value, words) for scope, words in SCOPES.items()]


def collection_choices() -> list[SelectChoice]:
    """The person's collections, preceded by the choice of all of them."""
    return [
        SelectChoice(EVERYWHERE, gettext("all my collections")),
        *(SelectChoice(slug, title) for slug, title in _names()),
    ]


def _names() -> list[tuple[str, str]]:
    """Slug and title of the person's collections, as many as a list shows and one more."""
    person = the_person()
    visible_to = None if person.administrator else person.id
    return database().read(collection_names, visible_to, most=MOST_IN_A_LIST + 1)


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


class TokenByNameForm(TokenForm):
    """A new token of a person with more collections than a list can show."""

    collection = StringField(
        lazy_gettext("Collection"),
        [Optional()],
        description=lazy_gettext("Its short name. Empty: all your collections."),
        render_kw={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"},
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
    form = _token_form()()
    if form.validate():
        scopes = frozenset(map(Scope, form.scopes.data))
        slug = (form.collection.data or "").strip() or None
        wanted = TokenRequest(form.name.data.strip(), scopes, slug, form.days.data)
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
    blank = _token_form()(formdata=None)
    blank.refusal = form.refusal
    return _page(blank), form.status


def _page(form: TokenForm | None = None, secret: str | None = None) -> str:
    rows = database().read(tokens.list_tokens, the_person().name, now=now())
    return render_template("people/tokens.html", rows=rows, secret=secret, form=form or _token_form()(formdata=None))


def _token_form() -> type[TokenForm]:
    return TokenForm if len(_names()) <= MOST_IN_A_LIST else TokenByNameForm
