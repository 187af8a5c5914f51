"""The qrels that go into an archive of a collection."""

from contextlib import suppress
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError
from annotator.workflows.collections.archive_export import QRELS
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import export_version, list_versions


def qrels_of_archive(session: Session, slug: str, now: datetime) -> dict[str, bytes]:
    """The live qrels, unless nothing is judged, and all stored versions, as files by name."""
    files = {}
    with suppress(AnnotatorError):
        files[QRELS] = export_qrels(session, slug, made_at=now).qrels
    for row in list_versions(session, slug):
        files[f"qrels/{row.number}.qrels"] = export_version(session, slug, row.number).qrels
    return files
