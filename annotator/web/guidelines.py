"""The guidelines for judges: to read, and for organisers to write."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import TextAreaField
from wtforms.validators import InputRequired

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, now, the_person
from annotator.web.forms import Form, unix_lines
from annotator.web.language import gettext, lazy_gettext
from annotator.workflows import guidelines

blueprint = Blueprint("guidelines", __name__)


class GuidelinesForm(Form):
    """A version of the guidelines."""

    text = TextAreaField(
        lazy_gettext("Guidelines in Markdown"),
        [InputRequired()],
        filters=[unix_lines],
        description=lazy_gettext("Judges can open them beside every document. Earlier versions are kept."),
        render_kw={"rows": 20},
    )


@blueprint.get("/collections/<slug>/guidelines")
@collection_page()
def show(slug: str) -> ResponseReturnValue:
    """The guidelines in force."""
    with database().reading() as session:
        present = guidelines.show_guidelines(session, slug)
    return render_template("guidelines/show.html", guidelines=present)


@blueprint.get("/collections/<slug>/guidelines/edit")
@collection_page(Role.ORGANISER)
def edit(slug: str) -> ResponseReturnValue:
    """The guidelines to be changed."""
    with database().reading() as session:
        present = guidelines.show_guidelines(session, slug)
    return render_template("guidelines/edit.html", form=GuidelinesForm(text=present.text))


@blueprint.post("/collections/<slug>/guidelines/edit")
@collection_page(Role.ORGANISER)
def store(slug: str) -> ResponseReturnValue:
    """Put a new version in force."""
    form = GuidelinesForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            guidelines.set_guidelines(session, slug, form.text.data, made_by_id=the_person().id, made_at=now())
    if form.refused:
        return render_template("guidelines/edit.html", form=form), form.status
    flash(gettext("The guidelines are in force."))
    return redirect(url_for(".show", slug=slug), 303)
