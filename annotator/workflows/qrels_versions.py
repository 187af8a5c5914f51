"""Versions of qrels that are kept: what went out once can be had again, whatever is judged later."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Problems
from annotator.evaluation.consensus import ONE_JUDGE
from annotator.evaluation.qrels_format import format_qrels, parse_qrels
from annotator.storage import Document, QrelsGrade, QrelsVersion, Topic, User
from annotator.storage.collection import find_collection, lock_collection, topic_ids
from annotator.storage.documents import document_ids


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
    session: Session, slug: str, qrels: bytes, manifest: str, *, made_by_id: int | None, made_at: datetime
) -> int:
    """Keep an export of this collection as its next version, and return the number.

    Raises `ConflictError` when it has no line.
    """
    collection = lock_collection(session, slug)
    problems = Problems()
    parsed = parse_qrels("qrels", qrels, problems) if qrels else None
    problems.refuse_if_any()
    rows = parsed.rows if parsed is not None else ()
    if not rows:
        raise ConflictError("These qrels have no line, so there is nothing to keep.")
    about = json.loads(manifest)
    newest = select(func.max(QrelsVersion.number)).where(QrelsVersion.collection_id == collection.id)
    version = QrelsVersion(
        collection_id=collection.id,
        number=(session.scalar(newest) or 0) + 1,
        policy=about["consensus_policy"] or ONE_JUDGE + about["judge"],
        manifest=about,
        fingerprint=hashlib.sha256(qrels).hexdigest(),
        made_by_id=made_by_id,
        made_at=made_at,
    )
    session.add(version)
    session.flush()
    topics = topic_ids(session, collection.id)
    documents = document_ids(session, collection.id, {row.docno for row in rows})
    session.execute(
        insert(QrelsGrade),
        [
            {
                "qrels_version_id": version.id,
                "topic_id": topics[row.topic],
                "document_id": documents[row.docno],
                "grade": row.grade,
            }
            for row in rows
        ],
    )
    return version.number


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
    version = session.scalar(
        select(QrelsVersion).where(QrelsVersion.collection_id == collection.id, QrelsVersion.number == number)
    )
    if version is None:
        raise NotFoundError("There is no version %(number)d of these qrels.", number=number)
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
