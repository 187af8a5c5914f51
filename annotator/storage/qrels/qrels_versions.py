"""The kept versions of a collection's qrels and their grades; what scoring one round depends on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage.collections.rounds import find_round, judged_before, kept_before, requeued_so_far, runs_of_round
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.qrels import QrelsGrade, QrelsVersion
from annotator.storage.tables.topics import ACCEPTED, Topic

MOST_DIGITS = 9  # every database holds numbers of so many; one of more digits is of no version
LONGEST_SHOWN = 40  # of its digits, in the sentence that says so


def kept_version(session: Session, collection_id: int, number: str) -> QrelsVersion:
    """A version that is kept, by its number as it was written; `NotFoundError` when there is none of that number."""
    version = None
    if _is_number(number) and len(number) <= MOST_DIGITS:
        version = session.scalar(
            select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number == int(number))
        )
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(number))
    return version


class ReleasedVersion(NamedTuple):
    """The kept version of the qrels that released scores are computed from."""

    number: int
    kept_at: datetime


def released_version(session: Session, collection_id: int, number: int | None) -> ReleasedVersion | None:
    """The version of that number, as released scores name it; None for none, where they follow the live grades."""
    if number is None:
        return None
    version = kept_version(session, collection_id, str(number))
    return ReleasedVersion(version.number, version.made_at)


def released_otherwise(
    session: Session, collection: Collection, fingerprint: str, relevant_from: int
) -> ReleasedVersion | None:
    """The version that released scores are computed from, if its grades, or which of them are relevant, are others.

    The fingerprint may be the beginning of one.
    """
    if collection.scores_qrels_version is None:
        return None
    version = kept_version(session, collection.id, str(collection.scores_qrels_version))
    is_same = version.fingerprint.startswith(fingerprint) and version.relevant_from == relevant_from
    return None if is_same else ReleasedVersion(version.number, version.made_at)


def versions_with(session: Session, collection_id: int, fingerprint: str) -> Sequence[QrelsVersion]:
    """The versions with exactly these lines, newest first."""
    found = select(QrelsVersion).where(
        QrelsVersion.collection_id == collection_id, QrelsVersion.fingerprint == fingerprint
    )
    return session.scalars(found.order_by(QrelsVersion.number.desc())).all()


def version_number(written: str) -> int:
    """The number of a version as it was written.

    Raises `InvalidValueError` for what is no number, and `NotFoundError` for one that no version can have.
    """
    if not _is_number(written):
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=_shown(written))
    if len(written) > MOST_DIGITS:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(written))
    return int(written)


def _is_number(written: str) -> bool:
    return written.isascii() and written.isdecimal()


def _shown(written: str) -> str:
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"


LIVE = "live"
UNJUDGED = -1  # what qrels say of a document that was pooled and not judged


@dataclass(frozen=True)
class KeptGrades:
    """The policy of a version, its fingerprint in full, and its grades by (topic id, document id).

    `pool_version` is the newest version of the pool when it was made; 0 when there was none.
    """

    policy: str
    fingerprint: str
    grades: dict[tuple[int, int], int]
    pool_version: int


def kept_grades(session: Session, collection_id: int, name: str) -> KeptGrades:
    """A version by its number as it was written, with its grades of the topics that count now.

    Raises `InvalidValueError` for what is no number and `NotFoundError` for a version that there is not.
    """
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = kept_version(session, collection_id, name)
    grades = grades_of_version(session, version.id)
    return KeptGrades(version.policy, version.fingerprint, grades, version.pool_version)


def grades_of_version(session: Session, version_id: int, *, every_topic: bool = False) -> dict[tuple[int, int], int]:
    """The grades of what was judged, by (topic id, document id), of the topics that count now, or of every topic.

    Lines for documents that were pooled and not judged are no grades, and make no topic one that is scored.
    """
    rows = (
        select(QrelsGrade.topic_id, QrelsGrade.document_id, QrelsGrade.grade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .where(QrelsGrade.qrels_version_id == version_id, QrelsGrade.grade > UNJUDGED)
    )
    if not every_topic:
        rows = rows.where(ACCEPTED)
    return {(topic, document): grade for topic, document, grade in session.execute(rows)}


class RoundFacts(NamedTuple):
    """What scoring one round depends on, beside what `judged_before_round` reads."""

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]  # versions of the qrels that the rounds before were closed with
    mark: tuple[int, datetime | None] | None  # changes when what counts as judged before may have changed


def facts_of_round(
    session: Session, collection_id: int, number: int | None, *, residual: bool, as_kept: int | None = None
) -> RoundFacts | None:
    """What scoring this round depends on, None for no round; `NotFoundError` for one there is not.

    With a version of the qrels it is as it was when that was kept.
    """
    if number is None:
        return None
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    found = find_round(session, collection_id, number).number
    return RoundFacts(
        found,
        residual,
        runs_of_round(session, collection_id, found),
        kept_before(session, collection_id, found),
        requeued_so_far(session, collection_id, at) if residual else None,
    )


def judged_before_round(
    session: Session, collection_id: int, number: int, *, as_kept: int | None = None
) -> dict[int, dict[int, str]]:
    """What was judged before a round, {topic id: {document id: docno}}, by now or by when a version was kept."""
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    return judged_before(session, collection_id, number, at=at)
