"""The page for those who forgot their password: it sends a link to the address of the account."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import InputRequired

from annotator.mail_values import refuse_unsent
from annotator.storage import MailKind
from annotator.web.people.throttle import against_floods
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.people import forgotten_password

blueprint = Blueprint("forgotten_password", __name__)


class ForgottenForm(Form):
    """The name or the address of an account."""

    name = StringField(
        lazy_gettext("Name or e-mail address"),
        [InputRequired()],
        render_kw={"autocomplete": "username", "autocapitalize": "none", "autofocus": True},
    )


@blueprint.get("/forgotten-password")
def show() -> ResponseReturnValue:
    """The form."""
    refuse_unsent(is_sent=settings().sends(MailKind.PASSWORD))
    return render_template("people/accounts/forgotten_password.html", form=ForgottenForm())


@blueprint.post("/forgotten-password")
@against_floods
def send() -> ResponseReturnValue:
    """Send the link; the answer is the same whether or not there is such an account."""
    refuse_unsent(is_sent=settings().sends(MailKind.PASSWORD))
    form = ForgottenForm()
    if not form.validate():
        return render_template("people/accounts/forgotten_password.html", form=form), form.status
    with database().transaction() as session:
        names = forgotten_password.send_password_links(session, form.name.data.strip(), at=now())
        for name in names:
            note(session, "users.password-link", subject=name, details={"by": "mail"})
    return done(
        gettext(
            "If there is an account with this name or address, and its e-mail address is confirmed, a link is on its "
            "way to it. It is valid for two hours."
        ),
        "accounts.sign_in",
    )
