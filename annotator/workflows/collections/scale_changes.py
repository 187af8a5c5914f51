"""Changing the scale of a collection: grades that were given stay in it."""

from collections.abc import Sequence

from sqlalchemy import select, union
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.qrels.scale import GradeMeaning
from annotator.storage import Judgement, PoolItem, QualifyingAnswer, QualifyingItem, Topic


def refuse_lost_grades(session: Session, collection_id: int, scale: Sequence[GradeMeaning]) -> None:
    """Raise `ConflictError` when a grade that somebody gave, or that is known to be correct, is not in a new scale."""
    items = select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(Topic.collection_id == collection_id)
    given = session.scalars(
        union(
            select(Judgement.grade).where(Judgement.pool_item_id.in_(items)),
            # Includes the correct answers of gold questions and of the training.
            select(PoolItem.known_grade).where(PoolItem.id.in_(items)),
            select(QualifyingItem.known_grade).where(QualifyingItem.collection_id == collection_id),
            # Includes the answers of judges in training, correct or not.
            select(QualifyingAnswer.grade)
            .join(QualifyingItem, QualifyingItem.id == QualifyingAnswer.qualifying_item_id)
            .where(QualifyingItem.collection_id == collection_id),
        )
    )
    lost = sorted({value for value in given if value is not None} - {grade.value for grade in scale})
    if lost:
        raise ConflictError(
            "These grades were already given and cannot leave the scale: %(grades)s.", grades=", ".join(map(str, lost))
        )
