"""The e-mail address of one's own account, and which e-mails one wants."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, PasswordField, SelectField, StringField
from wtforms.validators import InputRequired

from annotator.errors import NotAllowedError
from annotator.storage.tables.mail import CHOSEN_BY_PEOPLE
from annotator.web.people.throttle import against_floods, against_guessing
from annotator.web.site.access import signed_in_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.forms import Form, done
from annotator.web.site.language import chosen_language, gettext, language_choices, lazy_gettext
from annotator.workflows.people import accounts, email_addresses

blueprint = Blueprint("email", __name__)

LONGEST_KEY = 100


class AddressForm(Form):
    """A new address, with one's own password: who has the address can choose a new one."""

    address = StringField(
        lazy_gettext("E-mail address"),
        [InputRequired()],
        render_kw={"type": "email", "autocomplete": "email", "inputmode": "email"},
    )
    password = PasswordField(
        lazy_gettext("Current password"), [InputRequired()], render_kw={"autocomplete": "current-password"}
    )


class ChoiceForm(Form):
    """The language of e-mails, and the kinds that are wanted."""

    language = SelectField(lazy_gettext("Language of the e-mails"), choices=language_choices())
    receipts = BooleanField(lazy_gettext("Receipts of the runs that I send"))
    reminders = BooleanField(lazy_gettext("Reminders of deadlines"))
    jobs = BooleanField(lazy_gettext("Jobs of mine that took more than two minutes"))
    answers = BooleanField(lazy_gettext("Answers to my questions, and announcements of organisers"))


class ConfirmForm(Form):
    """The secret of the link."""

    key = HiddenField(validators=[InputRequired()])


@blueprint.get("/account/email")
@signed_in_page
def show() -> ResponseReturnValue:
    """The address and the choices."""
    return _page()


@blueprint.post("/account/email")
@signed_in_page
@against_guessing
@against_floods
def change() -> ResponseReturnValue:
    """Send a link that confirms a new address."""
    form, address = AddressForm(), ""
    _refuse_if_off()
    if form.validate():
        with form.guard():
            # Hashing is slow and must not hold the transaction.
            database().read(accounts.check_password, the_person().id, form.password.data)
            with database().transaction() as session:
                address = email_addresses.ask_to_confirm(
                    session, the_person().id, form.address.data, language=chosen_language(), at=now()
                )
                note(session, "users.email-asked", subject=the_person().name)
    if form.refused:
        return _page(form), form.status
    return done(
        gettext(
            "A link is on its way to %(address)s. Open it within two days to confirm the address.", address=address
        ),
        ".show",
    )


@blueprint.post("/account/email/choice")
@signed_in_page
def choose() -> ResponseReturnValue:
    """Store the language and the kinds."""
    form = ChoiceForm()
    if not form.validate():
        return _page(choice=form), form.status
    wanted = [kind for kind in CHOSEN_BY_PEOPLE if form[kind.value].data]
    with database().transaction() as session:
        email_addresses.choose_mail(session, the_person().id, language=form.language.data, wanted=wanted)
    return done(gettext("Your choice is stored."), ".show")


@blueprint.post("/account/email/remove")
@signed_in_page
def remove() -> ResponseReturnValue:
    """Remove the address."""
    with database().transaction() as session:
        email_addresses.remove_email(session, the_person().id, at=now())
        note(session, "users.email-removed", subject=the_person().name)
    return done(gettext("Your e-mail address is removed."), ".show")


@blueprint.get("/account/email/confirm")
@signed_in_page
def ask() -> ResponseReturnValue:
    """The page of the link; a button confirms, since programs open links in e-mails, too."""
    form = ConfirmForm(formdata=None, key=request.args.get("key", "")[:LONGEST_KEY])
    return render_template("people/accounts/confirm_email.html", form=form)


@blueprint.post("/account/email/confirm")
@signed_in_page
@against_guessing
def confirm() -> ResponseReturnValue:
    """Confirm the address."""
    form, address = ConfirmForm(), ""
    if form.validate():
        with form.guard(), database().transaction() as session:
            address = email_addresses.confirm(session, the_person().id, form.key.data, at=now())
            note(session, "users.email-confirmed", subject=the_person().name)
    if form.refused:
        return render_template("people/accounts/confirm_email.html", form=form), form.status
    return done(gettext("Your e-mail address is %(address)s now.", address=address), ".show")


def _refuse_if_off() -> None:
    if not settings().sends_mail:
        raise NotAllowedError("This site sends no e-mail.")


def _page(form: AddressForm | None = None, choice: ChoiceForm | None = None) -> str:
    found = database().read(email_addresses.show_email, the_person().id, now=now())
    return render_template(
        "people/accounts/email.html",
        email=found,
        form=form or AddressForm(formdata=None),
        choice=choice
        or ChoiceForm(
            formdata=None,
            language=found.language or chosen_language(),
            **{kind.value: kind not in found.unwanted for kind in CHOSEN_BY_PEOPLE},
        ),
        is_on=settings().sends_mail,
        kinds=settings().mail_kinds,
    )
