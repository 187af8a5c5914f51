"""The list of valid docnos: import it, download it, remove it."""

from flask import Blueprint, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField

from annotator.evaluation.formats.input_formats import Holds
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.background import long_form
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import PLAIN, written, written_response
from annotator.web.site.forms import Form, confirmation, done, is_confirmed
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.language import format_number, gettext, lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.documents import docno_lists

blueprint = Blueprint("docno_lists", __name__)


class DocnosForm(Form):
    """The form for uploading the list."""

    files = MultipleFileField(
        lazy_gettext("Files of docnos"),
        [FileRequired()],
        description=lazy_gettext(
            "One docno a line, or documents of any format: only their docnos are kept. Also compressed. Several files "
            "form one list, which replaces an earlier one."
        ),
    )
    input_format = format_field(Holds.DOCNOS)


@blueprint.get("/collections/<slug>/documents/docnos")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """How many docnos the list has, and the form for importing another."""
    return _page(slug, DocnosForm())


@blueprint.post("/collections/<slug>/documents/docnos")
@collection_page(Role.ORGANISER)
@long_form("docno_lists.add")
def add(slug: str) -> ResponseReturnValue:
    """Import a list in place of an earlier one."""
    form = DocnosForm()
    if form.validate():
        with form.guard():
            files = input_files(form.files.data, form.input_format.data)
            read = docno_lists.read_docnos(files, unpacked_limit=settings().unpacked_limit)
            names = [file.name for file in files]
            with database().transaction() as session:
                stored = docno_lists.import_docnos(session, slug, read, files=names, at=now())
                note(session, "docnos.import", slug, subject=", ".join(names), details=vars(stored))
    if form.refused:
        return _page(slug, form), form.status
    report_formats(Holds.DOCNOS, files)
    return done(
        gettext("Docnos: %(docnos)d, repeated: %(repeated)d.", docnos=stored.docnos, repeated=stored.repeated),
        ".show",
        slug=slug,
    )


@blueprint.post("/collections/<slug>/documents/docnos/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Remove the list, after a confirmation."""
    found = database().read(docno_lists.show_docno_list, slug)
    if not is_confirmed():
        return confirmation(
            gettext("Remove the list of docnos"),
            figures={gettext("Docnos"): format_number(found.docnos), gettext("Files"): found.files},
            notes=[gettext("Runs are then compared with the documents of the collection again, if it has texts.")],
            button=gettext("Remove the list"),
            back=url_for(".show", slug=slug),
            destroys=True,
        )
    form = Form()
    with form.guard(), database().transaction() as session:
        removed = docno_lists.remove_docnos(session, slug)
        note(session, "docnos.remove", slug, details={"docnos": removed.docnos})
    if form.refused:
        return _page(slug, DocnosForm(formdata=None), form), form.status
    return done(gettext("Removed the list of docnos."), ".show", slug=slug)


@blueprint.get("/collections/<slug>/documents/docnos.txt")
@collection_page(Role.ORGANISER)
def as_text(slug: str) -> ResponseReturnValue:
    """The list, one docno a line."""
    with database().reading() as session:
        file = written(part.decode() for part in docno_lists.export_docnos(session, slug))
    note_export("docnos.export", slug)
    return written_response(file, PLAIN, f"{slug}-docnos.txt")


def _page(slug: str, form: DocnosForm, removing: Form | None = None) -> str:
    found = database().read(docno_lists.docno_list, slug)
    return render_template("documents/docnos.html", found=found, form=form, removing=removing)
