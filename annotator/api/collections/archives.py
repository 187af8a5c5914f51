"""A collection as one archive: exported by the worker, and imported again, here or on another site."""

from io import BytesIO
from pathlib import PureWindowsPath
from secrets import token_hex
from tempfile import TemporaryFile

from flask import request
from flask.typing import ResponseReturnValue
from marshmallow import Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.collections.collection import resource
from annotator.api.site.access import ADMINISTER, ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import given_to_worker
from annotator.api.site.values import Text, one_of
from annotator.evaluation.outputs.registry import ARCHIVE, BEIR, WRITTEN_BY
from annotator.installed import installed_version
from annotator.storage.collections.audit import Transaction
from annotator.web.site.background import waiting_for_other_imports, work
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import download
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import ImportedCollection, open_archive
from annotator.workflows.qrels.archived_qrels import import_compared, qrels_of_archive
from annotator.workflows.qrels.beir_export import write_beir

FORMATS = WRITTEN_BY["collections export"]


class ArchiveBody(Schema):
    """How the archive is written."""

    format = one_of(
        FORMATS,
        load_default=ARCHIVE,
        metadata={"description": "Everything, to be imported again; or topics, texts and grades as BEIR has them."},
    )
    pseudonyms = fields.Boolean(
        load_default=False,
        metadata={
            "description": "Replace names by pseudonyms in judgements, policies and manifests of an archive; the text "
            "of notes and questions is not changed."
        },
    )


class ArchiveQuery(Schema):
    """What the archive is called, and where it goes."""

    name = Text(load_default="archive.zip", metadata={"description": "The file's name, used in messages."})
    slug = Text(
        load_default=None, metadata={"description": "The short name of the collection; left out: that in the archive."}
    )


class ImportedView(Schema):
    """A collection that was imported."""

    slug = fields.String(required=True)
    lines = fields.Dict(
        keys=fields.String, values=fields.Integer, required=True, metadata={"description": "Stored lines, by part."}
    )
    known = fields.List(
        fields.String, required=True, metadata={"description": "The accounts of the archive that existed here."}
    )
    made = fields.List(
        fields.String, required=True, metadata={"description": "The accounts that were created, without a password."}
    )


@operation(resource, "POST", "/collections/<slug>/archive", ORGANISE, Gives(), Takes(body=ArchiveBody, long=True))
def export_archive(call: Call) -> ResponseReturnValue:
    """Write everything of the collection into one archive of open formats, or what a BEIR folder has: a zip file.

    When the job is done, it is the file of the job. An archive has names of accounts, no passwords.
    """
    if work() is None:
        return given_to_worker(call.slug, request.get_data())
    pseudonyms, format_ = call.body["pseudonyms"], FORMATS[call.body["format"]]
    archiving = Archiving(now(), installed_version(), token_hex(3) if pseudonyms else None)
    with TemporaryFile() as file:
        with database().reading() as session:
            if format_.name == BEIR:
                write_beir(session, call.slug, file, made_at=now())
            else:
                write_archive(session, call.slug, file, archiving, extras=qrels_of_archive(session, call.slug, now()))
        # Afterwards: the first transaction of a job ends it, and a lost worker's archive would not be written again.
        note_export("collections.export", call.slug, details={"pseudonyms": pseudonyms, "format": format_.name})
        file.seek(0)
        return download(file.read(), f"{call.slug}{format_.ending}", format_.media)


@operation(
    resource, "POST", "/archives", ADMINISTER, Gives(ImportedView, 201), Takes(query=ArchiveQuery, file=True, long=True)
)
def import_archive(call: Call) -> object:
    """Create a collection from an archive, all of it or nothing; for administrators.

    People are matched by account name; missing accounts are created without a password.
    """
    at_work = work()
    if at_work is None:
        return given_to_worker(None, call.content)
    name = PureWindowsPath(call.query["name"]).name or "archive.zip"

    def conclude(session: Transaction, found: ImportedCollection) -> None:
        note(session, "collections.import", found.slug, subject=name, details={"made": len(found.made)})

    with (
        open_archive(name, BytesIO(call.content), limit=settings().unpacked_limit) as bundle,
        waiting_for_other_imports(),
    ):
        return import_compared(
            database(), bundle, slug=call.query["slug"], at=now(), conclude=conclude, progress=at_work.tell
        )
