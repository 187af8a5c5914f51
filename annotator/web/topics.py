"""The topics of a collection."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, settings
from annotator.web.forms import Form
from annotator.web.language import gettext, lazy_gettext
from annotator.web.uploads import input_files
from annotator.workflows import topics

blueprint = Blueprint("topics", __name__)


class TopicsForm(Form):
    """Files of topics."""

    files = MultipleFileField(
        lazy_gettext("Files of topics"),
        [FileRequired()],
        description=lazy_gettext(
            "Lines of number, tab, title; TREC SGML or XML; or JSON lines; also gzipped. A number that is there "
            "already takes the new words."
        ),
    )


@blueprint.get("/collections/<slug>/topics")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """Every topic."""
    return _page(slug, TopicsForm())


@blueprint.post("/collections/<slug>/topics")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Import topics."""
    form = TopicsForm()
    if form.validate():
        with form.guard():
            read = topics.read_topics(input_files(form.files.data), unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                stored = topics.import_topics(session, slug, read)
    if form.refused:
        return _page(slug, form), form.status
    flash(
        gettext(
            "Topics added: %(added)d, reworded: %(changed)d, unchanged: %(unchanged)d.",
            added=stored.added,
            changed=stored.changed,
            unchanged=stored.unchanged,
        )
    )
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: TopicsForm) -> str:
    with database().reading() as session:
        rows = topics.list_topics(session, slug)
    return render_template("topics/list.html", rows=rows, form=form)
