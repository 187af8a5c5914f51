"""The grades of a version of the qrels that was kept, of the topics that count now."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage.collection import ACCEPTED, Topic
from annotator.storage.qrels_versions import QrelsGrade, QrelsVersion

LIVE = "live"
UNJUDGED = -1  # what qrels say of a document that was pooled and not judged
LONGEST_NUMBER = 9  # digits; more than a column of numbers holds is no version


def kept_grades(session: Session, collection_id: int, name: str) -> tuple[str, dict[tuple[int, int], int]]:
    """The policy of a version and its grades by (topic id, document id).

    Raises `InvalidValueError` for what is no number and `NotFoundError` for a version that there is not.
    """
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = None
    if len(name) <= LONGEST_NUMBER:
        of_collection = select(QrelsVersion).where(QrelsVersion.collection_id == collection_id)
        version = session.scalar(of_collection.where(QrelsVersion.number == int(name)))
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=name)
    rows = session.execute(
        select(QrelsGrade.topic_id, QrelsGrade.document_id, QrelsGrade.grade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .where(QrelsGrade.qrels_version_id == version.id, QrelsGrade.grade > UNJUDGED, ACCEPTED)
    )
    return version.policy, {(topic, document): grade for topic, document, grade in rows}
