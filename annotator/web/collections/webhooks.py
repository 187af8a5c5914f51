"""Webhooks of a collection: add one and show its secret once, test it, look at its deliveries, remove it."""

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import SelectChoice, SelectMultipleField, URLField
from wtforms.validators import InputRequired
from wtforms.widgets import CheckboxInput, ListWidget

from annotator.storage import Event, Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.forms import Form, confirmation, done, is_confirmed
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import webhooks
from annotator.workflows.collections.webhooks import EVENTS, NewWebhook

blueprint = Blueprint("webhooks", __name__)

EVENT_LABELS = {
    Event.RUN_RECEIVED: lazy_gettext("A run was received"),
    Event.TOPIC_FINISHED: lazy_gettext("A topic is judged completely"),
    Event.JOB_FINISHED: lazy_gettext("A background job has finished"),
    Event.QRELS_KEPT: lazy_gettext("A version of the qrels was kept"),
    Event.TEST: lazy_gettext("Test"),
}


def event_choices() -> list[SelectChoice]:
    """The events that can be chosen."""
    return [SelectChoice(event.value, EVENT_LABELS[event]) for event in EVENTS]


class WebhookForm(Form):
    """A new webhook."""

    address = URLField(
        lazy_gettext("Address"),
        [InputRequired()],
        description=lazy_gettext("Each event is sent there by POST as JSON, signed with the secret."),
        render_kw={"autocomplete": "off", "placeholder": "https://example.org/hook"},
    )
    events = SelectMultipleField(
        lazy_gettext("Events"), choices=event_choices, widget=ListWidget(), option_widget=CheckboxInput()
    )


@blueprint.get("/collections/<slug>/webhooks")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The webhooks, without their secrets."""
    return _page(slug, WebhookForm(formdata=None))


@blueprint.post("/collections/<slug>/webhooks")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Add a webhook and show its secret, only once."""
    form = WebhookForm()
    if form.validate():
        events = frozenset(map(Event, form.events.data))
        with form.guard():
            with database().transaction() as session:
                added = webhooks.add_webhook(
                    session,
                    slug,
                    form.address.data.strip(),
                    events,
                    allowed=settings().outgoing_hosts,
                    by_id=the_person().id,
                    at=now(),
                )
                note(session, "webhooks.add", slug, subject=added.number, details={"events": sorted(events)})
            return _page(slug, WebhookForm(formdata=None), added)
    return _page(slug, form), form.status


@blueprint.get("/collections/<slug>/webhooks/<row:number>")
@collection_page(Role.ORGANISER)
def deliveries(slug: str, number: int) -> ResponseReturnValue:
    """The newest deliveries of a webhook."""
    rows = database().read(webhooks.list_deliveries, slug, number)
    return render_template("collections/webhooks/deliveries.html", number=number, rows=rows, labels=EVENT_LABELS)


@blueprint.post("/collections/<slug>/webhooks/<row:number>/test")
@collection_page(Role.ORGANISER)
def test(slug: str, number: int) -> ResponseReturnValue:
    """Send a test to a webhook."""
    with database().transaction() as session:
        webhooks.send_test(session, slug, number, at=now())
        note(session, "webhooks.test", slug, subject=number)
    sentence = gettext("A test is on its way. Reload this page to see what came of it.")
    return done(sentence, ".deliveries", slug=slug, number=number)


@blueprint.post("/collections/<slug>/webhooks/<row:number>/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str, number: int) -> ResponseReturnValue:
    """Remove a webhook, after confirmation."""
    if not is_confirmed():
        return confirmation(
            gettext("Remove webhook %(number)d?", number=number),
            notes=[gettext("Nothing more is sent to its address, and the list of its deliveries is removed.")],
            button=gettext("Remove the webhook"),
            back=url_for(".show", slug=slug),
            destroys=True,
        )
    with database().transaction() as session:
        webhooks.remove_webhook(session, slug, number)
        note(session, "webhooks.remove", slug, subject=number)
    return done(gettext("Webhook %(number)d removed.", number=number), ".show", slug=slug)


def _page(slug: str, form: WebhookForm, added: NewWebhook | None = None) -> str:
    return render_template(
        "collections/webhooks/show.html",
        rows=database().read(webhooks.list_webhooks, slug),
        form=form,
        added=added,
        hosts=settings().outgoing_hosts,
        labels=EVENT_LABELS,
    )
