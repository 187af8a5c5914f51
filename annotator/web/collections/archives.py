"""The archive of a collection as a file, and copies of a collection without its results."""

from secrets import token_hex
from tempfile import TemporaryFile

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, StringField
from wtforms.validators import InputRequired

from annotator.errors import NotAllowedError
from annotator.installed import installed_version
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.background import JOB_KIND, leave_form, work
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import download
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.qrels.archived_qrels import qrels_of_archive

blueprint = Blueprint("archives", __name__)

ZIP = "application/zip"


class ArchiveForm(Form):
    """How the archive is written."""

    pseudonyms = BooleanField(
        lazy_gettext("Replace names by pseudonyms"),
        description=lazy_gettext(
            "In judgements, policies and manifests; the text of notes and questions is not changed."
        ),
    )


class CopyForm(Form):
    """The new collection."""

    slug = StringField(
        lazy_gettext("Short name"), [InputRequired()], render_kw={"autocapitalize": "none", "spellcheck": "false"}
    )
    title = StringField(lazy_gettext("Title"), description=lazy_gettext("Empty: the same title."))
    documents = BooleanField(lazy_gettext("Also copy the documents that have a text"))


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
    with TemporaryFile() as file:
        with database().reading() as session:
            write_archive(session, slug, file, archiving, extras=qrels_of_archive(session, slug, now()))
        # Afterwards: the first transaction of a job ends it, and a lost worker's archive would not be written again.
        note_export("collections.export", slug, details={"pseudonyms": form.pseudonyms.data})
        file.seek(0)
        return download(file.read(), f"{slug}.zip", ZIP)


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


setattr(export, JOB_KIND, "archives.export")
setattr(copy, JOB_KIND, "archives.copy")


def _page(copying: CopyForm) -> str:
    return render_template(
        "collections/archive.html",
        form=ArchiveForm(formdata=None),
        copying=copying,
        may_copy=the_person().administrator,
    )
