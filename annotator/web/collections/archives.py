"""Export and import of a collection as an archive, and copies of a collection without its results."""

from secrets import token_hex
from tempfile import TemporaryFile

from flask import Blueprint, flash, render_template
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField, RadioField, SelectChoice, StringField
from wtforms.validators import InputRequired

from annotator.errors import NotAllowedError
from annotator.evaluation.outputs.registry import ARCHIVE, BEIR, WRITTEN_BY
from annotator.installed import installed_version
from annotator.storage import Role
from annotator.storage.collections.audit import Transaction
from annotator.web.site.access import administrator_page, collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.background import JOB_KIND, leave_form, waiting_for_other_imports, work
from annotator.web.site.context import database, now, settings, the_person
from annotator.web.site.downloads import download
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import names_of
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import ImportedCollection, open_archive
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.qrels.archived_qrels import import_compared, qrels_of_archive
from annotator.workflows.qrels.beir_export import write_beir

blueprint = Blueprint("archives", __name__)


class ArchiveForm(Form):
    """How the collection is written."""

    format = RadioField(
        lazy_gettext("Format"),
        choices=[
            SelectChoice(ARCHIVE, lazy_gettext("Archive: everything, to be imported here or on another site")),
            SelectChoice(
                BEIR, lazy_gettext("BEIR folder: accepted topics, documents that have a text, settled grades")
            ),
        ],
        default=ARCHIVE,
    )
    pseudonyms = BooleanField(
        lazy_gettext("Replace names by pseudonyms"),
        description=lazy_gettext(
            "In judgements, policies and manifests of an archive; the text of notes and questions is not changed."
        ),
    )


class CopyForm(Form):
    """The new collection."""

    slug = StringField(
        lazy_gettext("Short name"), [InputRequired()], render_kw={"autocapitalize": "none", "spellcheck": "false"}
    )
    title = StringField(lazy_gettext("Title"), description=lazy_gettext("Empty: the same title."))
    documents = BooleanField(lazy_gettext("Also copy the documents that have a text, and the list of docnos"))


class ArchiveImportForm(Form):
    """The archive, and where it goes."""

    file = FileField(
        lazy_gettext("Archive"),
        [FileRequired()],
        description=lazy_gettext("A zip file that was exported under Publish, Archive, here or on another site."),
        render_kw={"accept": ".zip"},
    )
    slug = StringField(
        lazy_gettext("Short name"),
        description=lazy_gettext("Empty: the short name in the archive."),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )


@blueprint.get("/import-archive")
@administrator_page
def choose_file() -> ResponseReturnValue:
    """The form for an archive."""
    return _import_page(ArchiveImportForm(formdata=None))


@blueprint.post("/import-archive")
@administrator_page
def import_file() -> ResponseReturnValue:
    """Create a collection from an archive, all or nothing; the worker does it, in short transactions."""
    form, made = ArchiveImportForm(), None
    if form.validate():
        if work() is None:
            return leave_form(None)
        with form.guard():
            made = _import(form)
    if made is None:
        return _import_page(form), form.status
    sentence = gettext(
        "Stored: %(topics)d topics, %(runs)d runs, %(judgements)d judgements.",
        topics=made.lines["topics.jsonl"],
        runs=made.lines["runs.jsonl"],
        judgements=made.lines["judgements.jsonl"],
    )
    if made.made:
        flash(gettext("Accounts created, without a password: %(names)s.", names=", ".join(made.made)))
    return done(sentence, "collection.show", slug=made.slug)


def _import(form: ArchiveImportForm) -> ImportedCollection:
    name, at_work = names_of([form.file.data]), work()

    def conclude(session: Transaction, found: ImportedCollection) -> None:
        note(session, "collections.import", found.slug, subject=name, details={"made": len(found.made)})

    with (
        open_archive(name, form.file.data.stream, limit=settings().unpacked_limit) as bundle,
        waiting_for_other_imports(),
    ):
        return import_compared(
            database(),
            bundle,
            slug=form.slug.data or None,
            at=now(),
            conclude=conclude,
            progress=None if at_work is None else at_work.tell,
        )


@blueprint.get("/collections/<slug>/archive")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:  # noqa: ARG001 - of the address
    """The forms for the archive and, for administrators, for a copy."""
    return _page(CopyForm(formdata=None))


@blueprint.post("/collections/<slug>/archive")
@collection_page(Role.ORGANISER)
def export(slug: str) -> ResponseReturnValue:
    """The archive as a file, written by the worker."""
    if work() is None:
        return leave_form(slug)
    form = ArchiveForm()
    archiving = Archiving(now(), installed_version(), token_hex(3) if form.pseudonyms.data else None)
    format_ = WRITTEN_BY["collections export"][BEIR if form.format.data == BEIR else ARCHIVE]
    with TemporaryFile() as file:
        with database().reading() as session:
            if format_.name == BEIR:
                write_beir(session, slug, file, made_at=now())
            else:
                write_archive(session, slug, file, archiving, extras=qrels_of_archive(session, slug, now()))
        # Afterwards: the first transaction of a job ends it, and a lost worker's archive would not be written again.
        details = {"pseudonyms": form.pseudonyms.data, "format": format_.name}
        note_export("collections.export", slug, details=details)
        file.seek(0)
        return download(file.read(), f"{slug}{format_.ending}", format_.media)


@blueprint.post("/collections/<slug>/archive/copy")
@collection_page(Role.ORGANISER)
def copy(slug: str) -> ResponseReturnValue:
    """Create a collection with the same settings and guidelines; its documents are copied by the worker."""
    if not the_person().administrator:
        raise NotAllowedError("Only administrators create collections.")
    form = CopyForm()
    if form.validate():
        if form.documents.data and work() is None:
            return leave_form(slug)
        with form.guard(), database().transaction() as session:
            count = copy_collection(
                session,
                slug,
                form.slug.data,
                title=form.title.data,
                with_documents=form.documents.data,
                organiser=the_person().name,
                at=now(),
            )
            note(session, "members.add", form.slug.data, subject=the_person().name, details={"role": Role.ORGANISER})
            note(session, "collections.copy", form.slug.data, subject=slug, details={"documents": count})
    if form.refused:
        return _page(form), form.status
    return done(gettext("Collection copied."), "collection.show", slug=form.slug.data)


setattr(import_file, JOB_KIND, "archives.import")
setattr(export, JOB_KIND, "archives.export")
setattr(copy, JOB_KIND, "archives.copy")


def _import_page(form: ArchiveImportForm) -> str:
    return render_template("collections/import_archive.html", form=form, upload_limit=settings().upload_limit)


def _page(copying: CopyForm) -> str:
    return render_template(
        "collections/archive.html",
        form=ArchiveForm(formdata=None),
        copying=copying,
        may_copy=the_person().administrator,
    )
