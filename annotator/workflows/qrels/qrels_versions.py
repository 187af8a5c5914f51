"""Kept versions of the qrels: immutable, and available again whatever is judged later."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Table, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError
from annotator.evaluation.qrels.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.qrels.qrels_format import format_qrels
from annotator.storage import KEPT, Database, Document, Event, QrelsGrade, QrelsVersion, ScoresShown, Topic, User
from annotator.storage.collections.collection import find_collection, lock_collection
from annotator.storage.qrels.qrels_versions import kept_version, versions_with
from annotator.storage.qrels.unfinished_versions import (
    NewVersion,
    finish_version,
    remove_unfinished,
    store_unfinished,
    storing_alone,
)
from annotator.storage.site.bulk_insert import insert_alike
from annotator.storage.site.webhooks import announce
from annotator.workflows.collections import rounds
from annotator.workflows.collections.collection import CollectionView, show_collection
from annotator.workflows.qrels.qrels import QrelsExport
from annotator.workflows.runs import submissions

GRADES = cast("Table", QrelsGrade.__table__)
COLUMNS = ("topic_id", "document_id", "grade")
GRADES_AT_ONCE = 10_000
MANY_GRADES = 5_000  # which one statement stores in some hundredths of a second


# Manifest fields that may differ for one state of a collection: time and program version.
OF_THE_MAKING = frozenset({"made_at", "as_of", "not_as_of", "annotator"})


class IdenticalVersionError(ConflictError):
    """The last kept version has the same grades and an equivalent manifest."""

    def __init__(self, number: int) -> None:
        """Store the number of the version."""
        super().__init__(
            "These qrels are identical to version %(number)d, which is kept already. Nothing was stored.", number=number
        )
        self.number = number


@dataclass(frozen=True)
class VersionView:
    """A kept version; `policy` is written as in commands, `lines` counts its lines."""

    number: int
    policy: str
    lines: int
    fingerprint: str
    made_by: str | None
    made_at: datetime


@dataclass(frozen=True)
class KeptNumber:
    """The number of the version with the grades, and whether it was added for them."""

    number: int
    is_new: bool


@dataclass(frozen=True)
class ClosedRound:
    """The number of the closed round and of the qrels version that is its record."""

    number: int
    version: int


@dataclass(frozen=True)
class ReleaseRequest:
    """Which scores participants see; the arguments of `submissions.release_scores`."""

    moment: datetime | None = None
    shown: ScoresShown | None = None
    qrels: str | None = None
    early: bool = False


@dataclass(frozen=True)
class Release:
    """The collection after a release of scores, and the version added for it, None when none was."""

    collection: CollectionView
    new_version: int | None


@dataclass(frozen=True)
class KeptQrels:
    """The stored bytes and their manifest, which includes the version number."""

    qrels: bytes
    manifest: str


def keep_qrels(session: Session, slug: str, made: QrelsExport, *, made_by_id: int | None, made_at: datetime) -> int:
    """Keep an export of this collection as a version, and return its number.

    The version is of the time of its export: later judgements are not included, and reading and checking are done
    before the lock, to keep it short; a large one is stored before it, too, within `storing_grades`. Raises
    `ConflictError` when it has no line, and when it names a person erased since; `IdenticalVersionError` when the last
    version is identical.
    """
    if not made.count:
        raise ConflictError("These qrels have no line, so there is nothing to keep.")
    collection = lock_collection(session, slug)
    version = _version(collection.id, made.manifest, made_by_id, made_at)
    names = {judge_of(version.policy), *(note["judge"] for note in version.manifest["topic_notes"])}
    _refuse_forgotten(session, names - {None})
    last = _last_version(session, collection.id)
    if last is not None and _state_in(last.manifest) == _state_in(version.manifest):
        raise IdenticalVersionError(last.number)
    if made.unfinished_id is not None and last is not None and last.made_at > made_at:
        raise ConflictError(
            "Version %(number)d was kept meanwhile, with later judgements: nothing was kept.", number=last.number
        )
    version.number = 1 if last is None else last.number + 1
    _store(session, version, made)
    announce(session, collection.id, Event.QRELS_KEPT, [{"version": version.number, "grades": made.count}], at=made_at)
    return version.number


def _last_version(session: Session, collection_id: int) -> QrelsVersion | None:
    newest = select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, KEPT)
    return session.scalar(newest.order_by(QrelsVersion.number.desc()).limit(1))


def _store(session: Session, version: QrelsVersion, made: QrelsExport) -> None:
    if made.unfinished_id is not None:
        if not finish_version(session, version, made.unfinished_id, made.count):
            raise ConflictError("The grades were removed while they were being stored. Nothing was kept: try again.")
        return
    session.add(version)
    session.flush()
    of_version = {"qrels_version_id": version.id}
    insert_alike(session, GRADES, COLUMNS, made.grades, same=of_version, at_once=GRADES_AT_ONCE)


@contextmanager
def storing_grades(
    database: Database, slug: str, made: QrelsExport, *, for_release: bool = False
) -> Iterator[QrelsExport]:
    """Store the grades of a large export in short transactions, so that keeping it within the block takes a moment.

    Yields the export to keep. Nobody finds the grades before; when they are not kept, or are those of a version that
    is kept already (`for_release`: of any with the same scores), they are not stored. When another process stores
    grades of the collection, they are stored with the version. Raises `NotFoundError` for an unknown collection.
    """
    preparing = database.preparing()
    with preparing.reading() as session:
        collection_id = find_collection(session, slug).id
        version = _version(
            collection_id, made.manifest, None, datetime.fromisoformat(json.loads(made.manifest)["made_at"])
        )
        is_known = made.count < MANY_GRADES or _is_kept(session, version, for_release=for_release)
    if is_known:
        yield made
        return
    with storing_alone(preparing, collection_id) as is_alone:
        if not is_alone:
            yield made
            return
        remove_unfinished(preparing, collection_id)
        try:
            unfinished = NewVersion(version.policy, version.manifest, version.fingerprint, version.made_at)
            yield replace(made, unfinished_id=store_unfinished(preparing, collection_id, unfinished, made.grades))
        finally:
            # Where it cannot be done, on a full disk, the worker does it, or who keeps the next version.
            with suppress(BusyError, DBAPIError):
                remove_unfinished(preparing, collection_id)


@contextmanager
def storing_for_release(database: Database, slug: str, made: QrelsExport | None) -> Iterator[QrelsExport | None]:
    """Store the grades of an export, if there is one, before a release of scores keeps it, as `storing_grades` does."""
    if made is None:
        yield None
        return
    with storing_grades(database, slug, made, for_release=True) as stored:
        yield stored


def _is_kept(session: Session, version: QrelsVersion, *, for_release: bool) -> bool:
    """Whether this version, which is not stored, would not be kept, since there is one like it."""
    last = _last_version(session, version.collection_id)
    if last is not None and _state_in(last.manifest) == _state_in(version.manifest):
        return True
    like_it = versions_with(session, version.collection_id, version.fingerprint) if for_release else ()
    return any(one.scored_by == version.scored_by for one in like_it)


def keep_for_release(
    session: Session, slug: str, made: QrelsExport, *, made_by_id: int | None, made_at: datetime
) -> KeptNumber:
    """Keep an export for a release of scores, or reuse a kept version that gives the same scores.

    Raises `ConflictError` when it has no line, and as `keep_qrels`.
    """
    if not made.count:
        raise ConflictError(
            "Nothing is judged yet, so there are no qrels to keep for the released scores. Release them later, or "
            "from the live qrels."
        )
    collection = lock_collection(session, slug)
    wanted = _version(collection.id, made.manifest, made_by_id, made_at)
    for version in versions_with(session, collection.id, wanted.fingerprint):
        if version.scored_by == wanted.scored_by:
            return KeptNumber(version.number, is_new=False)
    number = keep_qrels(session, slug, made, made_by_id=made_by_id, made_at=made_at)
    return KeptNumber(number, is_new=True)


def release_scores(
    session: Session, slug: str, wanted: ReleaseRequest, made: QrelsExport | None, *, by_id: int | None, at: datetime
) -> Release:
    """Release scores to participants, by the given export, if any, which is kept.

    Raises as `submissions.release_scores` and, with an export, `keep_for_release`.
    """
    kept = None
    if made is not None:
        kept = keep_for_release(session, slug, made, made_by_id=by_id, made_at=at)
        wanted = replace(wanted, qrels=str(kept.number))
    submissions.release_scores(session, slug, at=at, **vars(wanted))
    return Release(show_collection(session, slug), kept.number if kept is not None and kept.is_new else None)


def _version(collection_id: int, manifest: str, made_by_id: int | None, made_at: datetime) -> QrelsVersion:
    """A version with the manifest's fields, not numbered yet."""
    about = json.loads(manifest)
    return QrelsVersion(
        collection_id=collection_id,
        policy=about["consensus_policy"] or ONE_JUDGE + about["judge"],
        manifest=about,
        fingerprint=about["sha256"],
        made_by_id=made_by_id,
        made_at=made_at,
    )


def keep_or_reuse(session: Session, slug: str, made: QrelsExport, *, made_by_id: int | None, made_at: datetime) -> int:
    """Keep an export as `keep_qrels`, but return the last version's number when that is identical."""
    try:
        return keep_qrels(session, slug, made, made_by_id=made_by_id, made_at=made_at)
    except IdenticalVersionError as identical:
        return identical.number


def close_round(session: Session, slug: str, made: QrelsExport, *, by_id: int | None, at: datetime) -> ClosedRound:
    """Close the open round; an export of the qrels is kept as its record.

    Raises as `rounds.close_round` and `keep_or_reuse`.
    """
    version = keep_or_reuse(session, slug, made, made_by_id=by_id, made_at=at)
    return ClosedRound(rounds.close_round(session, slug, version=version, at=at), version)


def _state_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name not in OF_THE_MAKING}


def _refuse_forgotten(session: Session, names: AbstractSet[str | None]) -> None:
    """Raise `ConflictError` when a name has no account; locks the accounts against erasure meanwhile.

    An erasure that follows removes the name from the kept version.
    """
    known = select(User.name).where(User.name.in_(names)).order_by(User.id).with_for_update(read=True)
    if names - set(session.scalars(known)):
        raise ConflictError(
            "These qrels contain the name of a person whose account was erased since: export them again."
        )


def list_versions(session: Session, slug: str) -> list[VersionView]:
    """Every kept version, newest first."""
    lines = (
        select(func.count()).where(QrelsGrade.qrels_version_id == QrelsVersion.id).correlate(QrelsVersion)
    ).scalar_subquery()
    rows = session.execute(
        select(QrelsVersion, lines, User.name)
        .outerjoin(User, User.id == QrelsVersion.made_by_id)
        .where(QrelsVersion.collection_id == find_collection(session, slug).id, KEPT)
        .order_by(QrelsVersion.number.desc())
    )
    return [
        VersionView(version.number, version.policy, count, version.fingerprint, name, version.made_at)
        for version, count, name in rows
    ]


def export_version(session: Session, slug: str, number: int) -> KeptQrels:
    """The file of a kept version, byte for byte, and its manifest.

    Raises `NotFoundError` for an unknown version, and `ConflictError` when its bytes cannot be reproduced since
    something it names was changed.
    """
    collection = find_collection(session, slug)
    version = kept_version(session, collection.id, str(number))
    lines = session.execute(
        select(Topic.number, Document.docno, QrelsGrade.grade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .join(Document, Document.id == QrelsGrade.document_id)
        .where(QrelsGrade.qrels_version_id == version.id)
    )
    qrels = format_qrels(lines)
    if hashlib.sha256(qrels).hexdigest() != version.fingerprint:
        raise ConflictError(
            "Version %(number)d of the qrels no longer has the bytes that were kept; it is not exported.",
            number=number,
        )
    manifest = {**version.manifest, "version": number}
    return KeptQrels(qrels, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
