"""Indexing the folders of sources: which wait for it, building an index, recording it, removing unused ones."""

import secrets
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError
from annotator.evaluation.formats.offset_index import IndexSummary, build_index
from annotator.evaluation.formats.source_answers import SourceError
from annotator.storage import DocumentSource, SourceKind
from annotator.storage.documents.sources import open_sources, pause_source
from annotator.workflows.documents.source_places import (
    Reach,
    SourcePlace,
    as_source_error,
    check_folder,
    reason_of,
)
from annotator.workflows.documents.sources import place_of

# A worker that says nothing for so long is taken for lost.
LONGEST_SILENCE = timedelta(minutes=5)


class SupersededError(Exception):
    """The source was set again, removed or taken by another worker: the index is not wanted."""


@dataclass(frozen=True)
class Unindexed:
    """A folder that waits to be indexed, as it was set."""

    id: int
    revision: int
    place: SourcePlace


@dataclass(frozen=True)
class BuiltIndex:
    """An index that was built, and where."""

    path: Path
    summary: IndexSummary


def sources_to_index(session: Session, *, now: datetime) -> list[Unindexed]:
    """The folders of open collections without an index that no worker is indexing, unless they are paused."""
    return [
        Unindexed(source.id, source.revision, place_of(source))
        for source, _ in open_sources(session)
        if source.kind == SourceKind.FOLDER and source.index_path is None and _is_free(source, now)
    ]


def take_source(session: Session, wanted: Unindexed, *, now: datetime) -> bool:
    """Take a folder to index it; False when another worker has."""
    source = _locked(session, wanted)
    if source is None or source.index_path is not None or not _is_free(source, now):
        return False
    source.taken_until, source.bytes_read, source.bytes_total = now + LONGEST_SILENCE, 0, 0
    return True


def note_progress(session: Session, wanted: Unindexed, done: int, total: int, *, now: datetime) -> None:
    """Note how many bytes were read; raises `SupersededError` when the source was set again or removed."""
    source = _locked(session, wanted)
    if source is None:
        raise SupersededError
    source.taken_until, source.bytes_read, source.bytes_total = now + LONGEST_SILENCE, done, total


def build(wanted: Unindexed, reach: Reach, progress: Callable[[int, int], None]) -> BuiltIndex:
    """Index a folder under a new name. Raises `SourceError` when it cannot, and what `progress` raises."""
    try:
        folder = check_folder(wanted.place, reach)
    except AnnotatorError as refusal:
        raise as_source_error(refusal) from refusal
    # Without a place for indexes the folder was refused.
    indexes = reach.indexes or folder
    target = indexes / f"{wanted.id}-{wanted.revision}-{secrets.token_hex(4)}"
    try:
        return BuiltIndex(target, build_index(folder, target, wanted.place.options.docno, progress))
    except BaseException as error:
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, AnnotatorError):
            raise as_source_error(error) from error
        if isinstance(error, OSError | EOFError | zlib.error):
            raise SourceError(
                "The folder cannot be indexed: %(reason)s.", is_of_source=True, reason=reason_of(error)
            ) from error
        raise


def record_index(session: Session, wanted: Unindexed, built: BuiltIndex, *, now: datetime) -> bool:
    """Let documents be read by an index; False when the source was set again or removed meanwhile."""
    source = _locked(session, wanted)
    if source is None:
        return False
    source.index_path, source.index_documents, source.indexed_at = str(built.path), built.summary.documents, now
    source.taken_until, source.paused_until, source.problem, source.problem_values = None, None, "", {}
    source.lines_skipped, source.first_skipped = built.summary.skipped, built.summary.first_skipped
    return True


def record_failure(session: Session, wanted: Unindexed, error: SourceError, *, now: datetime) -> None:
    """Note why a folder could not be indexed, and pause before the next attempt."""
    source = _locked(session, wanted)
    if source is not None:
        source.taken_until = None
        pause_source(source, error.sentence, error.retry_after, at=now)


def unused_indexes(session: Session, reach: Reach, *, now: datetime) -> list[Path]:
    """The indexes on the disk that no source uses and no worker builds."""
    if reach.indexes is None or not reach.indexes.is_dir():
        return []
    sources = session.scalars(select(DocumentSource)).all()
    used = {source.index_path for source in sources}
    built = tuple(
        f"{one.id}-{one.revision}-" for one in sources if one.taken_until is not None and one.taken_until > now
    )
    return [path for path in reach.indexes.iterdir() if str(path) not in used and not path.name.startswith(built)]


def remove_indexes(paths: list[Path]) -> None:
    """Remove indexes; what cannot be removed stays for the next time."""
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def _is_free(source: DocumentSource, now: datetime) -> bool:
    return all(until is None or until <= now for until in (source.taken_until, source.paused_until))


def _locked(session: Session, wanted: Unindexed) -> DocumentSource | None:
    return session.scalar(
        select(DocumentSource)
        .where(DocumentSource.id == wanted.id, DocumentSource.revision == wanted.revision)
        .with_for_update(),
        execution_options={"populate_existing": True},
    )
