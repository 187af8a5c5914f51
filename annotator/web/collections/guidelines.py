"""The judging guidelines: judges read and accept them, organisers edit them."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import IntegerField, TextAreaField
from wtforms.validators import InputRequired, NumberRange

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.addresses import local_path
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import collection
from annotator.workflows.judging import training_attempts

blueprint = Blueprint("guidelines", __name__)

MOST_VERSIONS = 1_000_000


class GuidelinesForm(Form):
    """A version of the guidelines."""

    text = TextAreaField(
        lazy_gettext("Guidelines in Markdown"),
        [InputRequired()],
        filters=[unix_lines],
        description=lazy_gettext("Judges can open them beside every document. Earlier versions are kept."),
        render_kw={"rows": 20},
    )


class AcceptanceForm(Form):
    """The version that a judge accepts."""

    number = IntegerField(validators=[InputRequired(), NumberRange(1, MOST_VERSIONS)])


@blueprint.get("/collections/<slug>/guidelines")
@collection_page()
def show(slug: str) -> ResponseReturnValue:
    """The current guidelines; judges accept them here, and organisers see who has."""
    return _page(slug, AcceptanceForm(formdata=None))


@blueprint.post("/collections/<slug>/guidelines")
@collection_page(Role.JUDGE)
def accept(slug: str) -> ResponseReturnValue:
    """Accept the displayed version, and go on to a required training, to the page before, or to the topics."""
    form = AcceptanceForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            collection.accept_guidelines(session, slug, the_person().id, form.number.data)
    if form.refused:
        return _page(slug, form), form.status
    flash(gettext("You have accepted the guidelines."))
    state = database().read(training_attempts.training_of, slug, the_person().id)
    if state.must_be_passed:
        return redirect(url_for("training.show", slug=slug), 303)
    return redirect(local_path(request.args.get("next")) or url_for("judging.topics", slug=slug), 303)


@blueprint.get("/collections/<slug>/guidelines/edit")
@collection_page(Role.ORGANISER)
def edit(slug: str) -> ResponseReturnValue:
    """The form for editing the guidelines."""
    present = database().read(collection.show_guidelines, slug)
    return render_template("collections/guidelines/edit.html", form=GuidelinesForm(text=present.text))


@blueprint.post("/collections/<slug>/guidelines/edit")
@collection_page(Role.ORGANISER)
def store(slug: str) -> ResponseReturnValue:
    """Store a new version."""
    form = GuidelinesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            number = collection.set_guidelines(session, slug, form.text.data, made_by_id=the_person().id, made_at=now())
            note(session, "guidelines.set", slug, subject=number)
    if form.refused:
        return render_template("collections/guidelines/edit.html", form=form), form.status
    return done(gettext("Guidelines published."), ".show", slug=slug)


def _page(slug: str, form: AcceptanceForm) -> str:
    with database().reading() as session:
        present = collection.show_guidelines(session, slug)
        accepted = collection.accepted_guidelines(session, slug, the_person().id)
        acceptances = collection.list_acceptances(session, slug) if the_place().organises else []
    return render_template(
        "collections/guidelines/show.html",
        guidelines=present,
        accepted=accepted,
        acceptances=acceptances,
        following=local_path(request.args.get("next")),
        form=form,
    )
