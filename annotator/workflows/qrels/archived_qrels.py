"""The qrels that go into an archive of a collection, and their comparison when it is imported."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256

from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, ConflictError
from annotator.evaluation.archives.bundle_format import Bundle
from annotator.storage import Database
from annotator.storage.collections.audit import Transaction
from annotator.storage.site.upkeep import Progress
from annotator.workflows.collections.archive_export import QRELS
from annotator.workflows.collections.archive_import import ImportedCollection, import_archive
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import export_version, list_versions


def qrels_of_archive(session: Session, slug: str, now: datetime) -> dict[str, bytes]:
    """The live qrels, unless nothing is judged, and all stored versions, as files by name."""
    files = {}
    with suppress(AnnotatorError):
        files[QRELS] = export_qrels(session, slug, to_keep=True, made_at=now).qrels
    for row in list_versions(session, slug):
        files[f"qrels/{row.number}.qrels"] = export_version(session, slug, row.number).qrels
    return files


def refuse_other_qrels(session: Session, slug: str, fingerprint: object, now: datetime) -> None:
    """Settle the imported grades; `ConflictError` when they differ from those recorded in the archive, if any were."""
    if fingerprint is not None and sha256(export_qrels(session, slug, made_at=now).qrels).hexdigest() != fingerprint:
        raise ConflictError(
            "The grades of the archive do not come out as they did where it was made. Nothing was stored."
        )


def import_compared(
    database: Database,
    bundle: Bundle,
    *,
    slug: str | None,
    at: datetime,
    conclude: Callable[[Transaction, ImportedCollection], None],
    progress: Progress | None = None,
) -> ImportedCollection:
    """Import an archive as `import_archive` does, after comparing its qrels as `refuse_other_qrels` does."""
    fingerprint = bundle.manifest.get("qrels_sha256")
    return import_archive(
        database,
        bundle,
        slug=slug,
        at=at,
        compare=lambda session, imported: refuse_other_qrels(session, imported, fingerprint, at),
        conclude=conclude,
        progress=progress,
    )
