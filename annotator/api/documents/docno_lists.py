"""The list of valid docnos: import, show, write and remove it."""

from flask import Response
from marshmallow import Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.documents.documents import resource
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, input_format
from annotator.evaluation.formats.input_formats import Holds
from annotator.files import InputFile
from annotator.web.site.background import report_reading
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import PLAIN, written, written_response
from annotator.workflows.documents import docno_lists


class DocnoListView(Schema):
    """What is known of a list of valid docnos."""

    docnos = fields.Integer(required=True, metadata={"description": "The number of docnos."})
    files = fields.String(required=True, metadata={"description": "The names of the files that they were read from."})
    imported_at = Moment(required=True, metadata={"description": "When they were imported, in UTC."})


class DocnosQuery(Schema):
    """How a list is to be read."""

    name = Text(load_default="docnos", metadata={"description": "The file's name, used in the problems."})
    input_format = input_format(Holds.DOCNOS)
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only check and count; nothing is stored."})


class DocnosImported(Schema):
    """What an import of a list came to."""

    docnos = fields.Integer(required=True, metadata={"description": "The number of distinct docnos."})
    repeated = fields.Integer(required=True, metadata={"description": "The number of lines that repeated a docno."})


@operation(
    resource,
    "POST",
    "/collections/<slug>/docnos",
    ORGANISE,
    Gives(DocnosImported),
    Takes(query=DocnosQuery, file=True),
)
def import_docnos(call: Call) -> object:
    """Import the list of valid docnos in place of an earlier one: one a line, or those of documents in any format.

    Runs with other docnos get a warning. No document is stored. A file of more than 8 MiB, unpacked, is processed by a
    background job.
    """
    name = call.query["name"]
    files = report_reading([InputFile(name, call.content, call.query["input_format"])])
    read = docno_lists.read_docnos(files, unpacked_limit=settings().unpacked_limit)
    with database().transaction(keep=not call.query["dry_run"]) as session:
        stored = docno_lists.import_docnos(session, call.slug, read, files=[name], at=now())
        note(session, "docnos.import", call.slug, subject=name, details=vars(stored))
    return stored


@operation(resource, "GET", "/collections/<slug>/docnos", READ, Gives(DocnoListView))
def show_docno_list(call: Call) -> object:
    """How many docnos the list has, from which files and when they were imported."""
    return database().read(docno_lists.show_docno_list, call.slug)


@operation(resource, "GET", "/collections/<slug>/docnos/file", READ, Gives(media=[PLAIN]))
def write_docnos(call: Call) -> Response:
    """The list, one docno a line."""
    with database().reading() as session:
        file = written(part.decode() for part in docno_lists.export_docnos(session, call.slug))
    note_export("docnos.export", call.slug)
    return written_response(file, PLAIN)


@operation(resource, "DELETE", "/collections/<slug>/docnos", ORGANISE, Gives(DocnoListView))
def remove_docnos(call: Call) -> object:
    """Remove the list; runs are then compared with the documents again, if the collection has texts."""
    with database().transaction() as session:
        removed = docno_lists.remove_docnos(session, call.slug)
        note(session, "docnos.remove", call.slug, details={"docnos": removed.docnos})
    return removed
