"""Versions of qrels that are kept: what went out once can be had again, whatever is judged later."""

import hashlib
import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Table, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.consensus import ONE_JUDGE, judge_of
from annotator.evaluation.qrels_format import format_qrels
from annotator.storage import Document, QrelsGrade, QrelsVersion, Topic, User
from annotator.storage.collection import find_collection, lock_collection
from annotator.storage.qrels_versions import kept_version
from annotator.storage.rows import insert_rows

GRADES = cast("Table", QrelsGrade.__table__)
COLUMNS = ("qrels_version_id", "topic_id", "document_id", "grade")


@dataclass(frozen=True)
class VersionView:
    """A kept version; `policy` is as it is written in commands, `lines` counts its lines."""

    number: int
    policy: str
    lines: int
    fingerprint: str
    made_by: str | None
    made_at: datetime


@dataclass(frozen=True)
class KeptQrels:
    """The bytes that were kept and their manifest, which also names the version."""

    qrels: bytes
    manifest: str


def keep_qrels(
    session: Session,
    slug: str,
    grades: Sequence[tuple[int, int, int]],
    manifest: str,
    *,
    made_by_id: int | None,
    made_at: datetime,
) -> int:
    """Keep an export of this collection as its next version, by topic id, document id and grade; return the number.

    A version is of the moment of its export, and what was judged since is not looked at; so that others wait for as
    short as can be, all has been read and checked by then. Raises `ConflictError` when it has no line, and when it
    names somebody who was forgotten since.
    """
    if not grades:
        raise ConflictError("These qrels have no line, so there is nothing to keep.")
    about = json.loads(manifest)
    policy = about["consensus_policy"] or ONE_JUDGE + about["judge"]
    collection = lock_collection(session, slug)
    _refuse_forgotten(session, {judge_of(policy), *(note["judge"] for note in about["topic_notes"])} - {None})
    newest = select(func.max(QrelsVersion.number)).where(QrelsVersion.collection_id == collection.id)
    version = QrelsVersion(
        collection_id=collection.id,
        number=(session.scalar(newest) or 0) + 1,
        policy=policy,
        manifest=about,
        fingerprint=about["sha256"],
        made_by_id=made_by_id,
        made_at=made_at,
    )
    session.add(version)
    session.flush()
    insert_rows(session, GRADES, COLUMNS, ((version.id, *grade) for grade in grades), at_once=len(grades))
    return version.number


def _refuse_forgotten(session: Session, names: AbstractSet[str | None]) -> None:
    """Raise `ConflictError` when nobody has one of these names; whoever is to be forgotten is so afterwards.

    That takes the name out of what is kept by then.
    """
    known = select(User.name).where(User.name.in_(names)).order_by(User.id).with_for_update(read=True)
    if names - set(session.scalars(known)):
        raise ConflictError("These qrels name somebody who was forgotten since they were made: export them again.")


def list_versions(session: Session, slug: str) -> list[VersionView]:
    """Every kept version, newest first."""
    lines = (
        select(func.count()).where(QrelsGrade.qrels_version_id == QrelsVersion.id).correlate(QrelsVersion)
    ).scalar_subquery()
    rows = session.execute(
        select(QrelsVersion, lines, User.name)
        .outerjoin(User, User.id == QrelsVersion.made_by_id)
        .where(QrelsVersion.collection_id == find_collection(session, slug).id)
        .order_by(QrelsVersion.number.desc())
    )
    return [
        VersionView(version.number, version.policy, count, version.fingerprint, name, version.made_at)
        for version, count, name in rows
    ]


def export_version(session: Session, slug: str, number: int) -> KeptQrels:
    """The file of a kept version, byte for byte, and its manifest.

    Raises `NotFoundError` when there is no such version, and `ConflictError` when its bytes cannot be had again,
    because something was changed that it names.
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
            "Version %(number)d of the qrels no longer has the bytes that were kept; it is not handed out.",
            number=number,
        )
    manifest = {**version.manifest, "version": number}
    return KeptQrels(qrels, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
