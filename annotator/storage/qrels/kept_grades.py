"""The grades of a version of the qrels that was kept: the one reader of all that is scored by them."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.qrels.qrels_versions import kept_version
from annotator.storage.tables.qrels import QrelsGrade
from annotator.storage.tables.topics import ACCEPTED, Topic

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
