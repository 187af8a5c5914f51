"""The files that participants of a collection download, as pages and programs send them."""

from typing import Protocol

from flask import Response

from annotator.evaluation.runs.run_tags import Sender
from annotator.web.people.senders import own_team
from annotator.web.site.context import database, now, the_place
from annotator.web.site.downloads import JSON, JSON_LINES, PLAIN, written, written_response
from annotator.web.site.memories import MemoryOfDatabase
from annotator.workflows.qrels import shared_files
from annotator.workflows.qrels.shared_files import EXPORTS, FigureMemory, SharedFiles, SharedKind

figure_memory = MemoryOfDatabase(FigureMemory)
MEDIA = {SharedKind.TOPICS: JSON_LINES, SharedKind.TASK: JSON_LINES, SharedKind.RULES: JSON}


class NoteExport(Protocol):
    """Adds an audit entry for an export by a page or the API."""

    def __call__(self, action: str, slug: str, *, subject: object = "") -> None:
        """Add it; when that fails, nothing is sent."""
        ...


def files_listed(slug: str) -> SharedFiles:
    """The files that the caller may download now."""
    return database().read(shared_files.list_shared_files, slug, _sender(), at=now(), memory=figure_memory())


def file_sent(slug: str, name: str, note_export: NoteExport) -> Response:
    """One of them, or their checksums; raises `NotFoundError` for any other name."""
    with database().reading() as session:
        found = shared_files.shared_file(session, slug, name, _sender(), at=now(), memory=figure_memory())
        file = written(found.pieces)
    if found.kind in EXPORTS:
        note_export(EXPORTS[found.kind], slug, subject="" if found.version is None else found.version)
    return written_response(file, MEDIA.get(found.kind, PLAIN), found.name)


def _sender() -> Sender:
    return Sender(own_team(), organises=the_place().organises)
