"""The documents of a collection and which of the pool still lack their text."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from wtforms import StringField

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.background import long_form, work
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import PLAIN, download
from annotator.web.site.forms import Form
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import input_files, names_of
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents
from annotator.workflows.documents.documents import DocumentImport

blueprint = Blueprint("documents", __name__)

MISSING_SHOWN = 200


class DocumentsForm(Form):
    """Files of documents."""

    files = MultipleFileField(
        lazy_gettext("Files of documents"),
        [FileRequired()],
        description=lazy_gettext(
            "JSON lines with docno, title, body and url; TREC SGML; or lines of docno, tab, text; also gzipped. A "
            "document that is there already takes the new text."
        ),
    )
    fields = StringField(
        lazy_gettext("Other names of JSON fields"),
        description=lazy_gettext("If the file uses other names: OURS=THEIRS, such as “docno=id body=text”."),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )


@blueprint.get("/collections/<slug>/documents")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """How many documents there are, and the form for more."""
    return _page(slug, DocumentsForm())


@blueprint.post("/collections/<slug>/documents")
@collection_page(Role.ORGANISER)
@long_form("documents.add")
def add(slug: str) -> ResponseReturnValue:
    """Import texts."""
    form = DocumentsForm()
    if form.validate():
        with form.guard():
            fields = documents.parse_fields((form.fields.data or "").split())
            files = input_files(form.files.data)
            read = documents.read_documents(files, fields=fields, unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                # A worker that answers this indexes them next.
                at_once = work() is None
                stored = documents.import_documents(session, slug, read, at=now(), index_at_once=at_once)
                note(session, "documents.import", slug, subject=names_of(form.files.data), details=vars(stored))
    if form.refused:
        return _page(slug, form), form.status
    flash(_outcome(stored))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/documents/missing")
@collection_page(Role.ORGANISER)
def missing(slug: str) -> ResponseReturnValue:
    """The documents of the pool that have no text."""
    with database().reading() as session:
        rows = documents.missing_documents(session, slug)
    return render_template("documents/missing.html", rows=rows[:MISSING_SHOWN], total=len(rows))


@blueprint.get("/collections/<slug>/documents/missing.txt")
@collection_page(Role.ORGANISER)
def missing_file(slug: str) -> ResponseReturnValue:
    """Their docnos, one a line."""
    with database().reading() as session:
        rows = documents.missing_documents(session, slug)
    return download("".join(f"{row.docno}\n" for row in rows), f"{slug}-missing.txt", PLAIN)


def _page(slug: str, form: DocumentsForm) -> str:
    with database().reading() as session:
        counts = collection.count_collection(session, slug)
        without_text = documents.count_missing_documents(session, slug)
    return render_template("documents/overview.html", counts=counts, missing=without_text, form=form)


def _outcome(stored: DocumentImport) -> str:
    return gettext(
        "Documents added: %(added)d, given their text: %(filled)d, changed: %(changed)d, unchanged: %(unchanged)d.",
        added=stored.added,
        filled=stored.filled,
        changed=stored.changed,
        unchanged=stored.unchanged,
    )
