"""Documents: import texts, list pooled documents without a text, return one document."""

from contextlib import suppress

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.jobs_asked import MOST_AT_ONCE
from annotator.api.site.values import Text, input_format
from annotator.errors import BusyError
from annotator.evaluation.formats.input_formats import Holds
from annotator.files import InputFile
from annotator.web.site.background import report_reading, work
from annotator.web.site.context import database, now, settings
from annotator.workflows.documents import documents, search

resource = resource_of("documents", "The corpus; for organisers.")

# A file of several gzip members unpacks to more than the size at its end states.
MOST_UNPACKED_AT_ONCE = 4 * MOST_AT_ONCE


class DocumentView(Schema):
    """A document of the corpus."""

    docno = fields.String(required=True)
    title = fields.String(required=True)
    body = fields.String(required=True)
    url = fields.String(required=True, allow_none=True)
    language = fields.String(required=True, allow_none=True)


class MissingDocument(Schema):
    """A document of the pool that has no text, with the topics that want it."""

    docno = fields.String(required=True)
    topics = fields.List(fields.String, required=True)


class ImportQuery(Schema):
    """How a file of documents is to be read."""

    name = Text(load_default="documents", metadata={"description": "The file's name, used in the problems."})
    fields_ = Text(
        load_default="",
        data_key="fields",
        metadata={"description": "Other names of JSON fields: OURS=THEIRS, such as “docno=id body=text”."},
    )
    input_format = input_format(Holds.DOCUMENTS)
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only check and count; nothing is stored."})


class DocumentsImported(Schema):
    """What an import came to."""

    added = fields.Integer(required=True)
    filled = fields.Integer(required=True, metadata={"description": "Had no text before."})
    changed = fields.Integer(required=True)
    unchanged = fields.Integer(required=True)


@operation(
    resource,
    "POST",
    "/collections/<slug>/documents",
    ORGANISE,
    Gives(DocumentsImported),
    Takes(query=ImportQuery, file=True),
)
def import_documents(call: Call) -> object:
    """Import a file of documents, completely or not at all: JSON lines, TREC SGML, or lines of docno, tab, text.

    Sending it again changes nothing. A file of more than 4 MiB, unpacked, is processed by a background job.
    """
    names = documents.parse_fields(call.query["fields_"].split())
    files = report_reading([InputFile(call.query["name"], call.content, call.query["input_format"])])
    most = settings().unpacked_limit if work() is not None else min(settings().unpacked_limit, MOST_UNPACKED_AT_ONCE)
    read = documents.read_documents(files, fields=names, unpacked_limit=most)
    at_once = len(read) <= search.INDEXED_AT_ONCE and work() is None
    dry_run = call.query["dry_run"]
    with database().transaction(keep=not dry_run) as session:
        stored = documents.import_documents(session, call.slug, read, at=now(), index_at_once=at_once)
        note(session, "documents.import", call.slug, subject=call.query["name"], details=vars(stored))
    if not at_once and not dry_run and work() is None:
        # The texts are stored: what another process keeps from the index is left to the worker.
        with suppress(BusyError):
            sum(search.index_rest(database()))
    return stored


@operation(
    resource, "GET", "/collections/<slug>/missing-documents", READ, Gives(MissingDocument, many=True), Takes(pages=True)
)
def missing_documents(call: Call) -> object:
    """List the pooled documents that have no text yet."""
    return database().read(documents.missing_documents, call.slug)


@operation(resource, "GET", "/collections/<slug>/documents/<path:docno>", READ, Gives(DocumentView))
def show_document(call: Call) -> object:
    """Show the text of a document."""
    return database().read(search.open_document, call.slug, call.path["docno"])
