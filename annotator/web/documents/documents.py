"""The documents of a collection: import, missing texts, changed texts, near-duplicates."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from wtforms import StringField

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.background import long_form, work
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import CSV, PLAIN, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form, done
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import input_files, names_of
from annotator.workflows.collections import collection
from annotator.workflows.documents import documents, near_duplicates
from annotator.workflows.documents.documents import DocumentImport
from annotator.workflows.documents.near_duplicates import USUALLY_AT_LEAST

blueprint = Blueprint("documents", __name__)

MISSING_SHOWN = 200
REQUEUE = "requeue"
MOST_PAIRS_SHOWN = 200  # of near-duplicates


class DocumentsForm(Form):
    """The form for uploading documents."""

    files = MultipleFileField(
        lazy_gettext("Files of documents"),
        [FileRequired()],
        description=lazy_gettext(
            "JSON lines with docno, title, body and url; TREC SGML; lines of docno, tab, text; tables or Parquet; also "
            "compressed. A document that is there already takes the new text."
        ),
    )
    input_format = format_field(Holds.DOCUMENTS)
    fields = StringField(
        lazy_gettext("Other names of JSON fields"),
        description=lazy_gettext("If the file uses other names: OURS=THEIRS, such as “docno=id body=text”."),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )


@blueprint.get("/collections/<slug>/documents")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The number of documents, and the form for importing more."""
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
            files = input_files(form.files.data, form.input_format.data)
            read = documents.read_documents(files, fields=fields, unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                # The worker that answers this indexes them next.
                at_once = work() is None
                stored = documents.import_documents(session, slug, read, at=now(), index_at_once=at_once)
                note(session, "documents.import", slug, subject=names_of(form.files.data), details=vars(stored))
    if form.refused:
        return _page(slug, form), form.status
    report_formats(Holds.DOCUMENTS, files)
    return done(_outcome(stored), ".show", slug=slug)


@blueprint.get("/collections/<slug>/documents/missing")
@collection_page(Role.ORGANISER)
def missing(slug: str) -> ResponseReturnValue:
    """The pooled documents without a text."""
    rows = database().read(documents.missing_documents, slug)
    return render_template("documents/missing.html", rows=rows[:MISSING_SHOWN], total=len(rows))


@blueprint.get("/collections/<slug>/documents/missing.txt")
@collection_page(Role.ORGANISER)
def missing_file(slug: str) -> ResponseReturnValue:
    """Docnos of the pooled documents without a text, one per line."""
    rows = database().read(documents.missing_documents, slug)
    return download("".join(f"{row.docno}\n" for row in rows), f"{slug}-missing.txt", PLAIN)


def _page(slug: str, form: DocumentsForm) -> str:
    with database().reading() as session:
        size = collection.collection_size(session, slug)
        with_text = documents.count_texts(session, slug)
        without_text = documents.count_missing_documents(session, slug)
    return render_template(
        "documents/overview.html", known=size.documents, with_text=with_text, missing=without_text, form=form
    )


def _outcome(stored: DocumentImport) -> str:
    return gettext(
        "Documents added: %(added)d, given their text: %(filled)d, changed: %(changed)d, unchanged: %(unchanged)d.",
        added=stored.added,
        filled=stored.filled,
        changed=stored.changed,
        unchanged=stored.unchanged,
    )


@blueprint.get("/collections/<slug>/documents/changed")
@collection_page(Role.ORGANISER)
def changed(slug: str) -> ResponseReturnValue:
    """Documents whose text changed after they were judged, with the judgements of the old text."""
    return _changed_page(slug, Form(formdata=None))


@blueprint.post("/collections/<slug>/documents/changed")
@collection_page(Role.ORGANISER)
def decide_changed(slug: str) -> ResponseReturnValue:
    """Requeue the selected documents, or keep their grades (`act=requeue`, otherwise keep)."""
    form, docnos = Form(), request.form.getlist("docnos")
    is_requeue = request.form.get("act") == REQUEUE
    with form.guard(), database().transaction() as session:
        if is_requeue:
            count = documents.requeue_changed(session, slug, docnos, at=now())
        else:
            count = documents.let_changed_stand(session, slug, docnos)
        note(session, "documents.requeue" if is_requeue else "documents.let-stand", slug, details={"documents": count})
    if form.refused:
        return _changed_page(slug, form), form.status
    if is_requeue:
        flash(gettext("Documents returned to the queue: %(count)d.", count=count))
    else:
        flash(gettext("Documents whose grades are kept: %(count)d.", count=count))
    return redirect(url_for(".changed", slug=slug), 303)


@blueprint.get("/collections/<slug>/documents/changed.csv")
@collection_page(Role.ORGANISER)
def changed_csv(slug: str) -> ResponseReturnValue:
    """The changed documents as CSV, one line per judgement."""
    changed = database().read(documents.changed_documents, slug)
    return download(documents.changed_csv(changed), f"{slug}-changed-documents.csv", CSV)


def _changed_page(slug: str, form: Form) -> str:
    changed = database().read(documents.changed_documents, slug)
    return render_template("documents/changed_documents.html", changed=changed, form=form)


@blueprint.get("/collections/<slug>/pool/near-duplicates")
@collection_page(Role.ORGANISER)
def show_near_duplicates(slug: str) -> ResponseReturnValue:
    """Near-duplicates within a topic above a similarity: `?topic=401&at_least=0.9`."""
    number, wanted = request.args.get("topic", ""), request.args.get("at_least", str(USUALLY_AT_LEAST))
    found, refused = None, None
    with database().reading() as session:
        numbers = near_duplicates.topics_to_compare(session, slug)
        try:
            if number:
                found = near_duplicates.show_likeness(
                    session,
                    slug,
                    number,
                    _least_similarity(wanted),
                    most_characters=near_duplicates.MOST_CHARACTERS,
                    most_compared=near_duplicates.MOST_COMPARED,
                )
        except AnnotatorError as refusal:
            refused = refusal
    page = render_template(
        "documents/near_duplicates.html",
        numbers=numbers,
        number=number,
        wanted=wanted,
        found=found,
        refused=refused,
        most=MOST_PAIRS_SHOWN,
    )
    return page if refused is None else (page, status_of(refused))


def _least_similarity(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise InvalidValueError("The similarity is from 0.5 to 1, not %(given)s.", given=written) from None
