"""The page of the files that participants of a collection download, with their checksums."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.qrels.file_responses import file_sent, files_listed
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.workflows.qrels.shared_files import CHECKSUMS

blueprint = Blueprint("shared_files", __name__)


@blueprint.get("/collections/<slug>/files")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The files, and where the documents are; for organisers also what participants may not download."""
    return render_template("qrels/files.html", found=files_listed(slug), checksums=CHECKSUMS)


@blueprint.get("/collections/<slug>/files/<name>")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def load(slug: str, name: str) -> ResponseReturnValue:
    """One of the files."""
    return file_sent(slug, name, note_export)
