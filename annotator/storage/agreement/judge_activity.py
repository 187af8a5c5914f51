"""Details for judge quality: gold questions, lengths of texts, and when a judgement was made."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.eligibility import FOR_EVERYONE
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def known_grades(session: Session, collection_id: int) -> dict[int, int]:
    """Pool item id → correct grade, for gold questions."""
    rows = session.execute(
        select(PoolItem.id, PoolItem.known_grade)
        .join(Topic, Topic.id == PoolItem.topic_id)
        # Gold questions are for everyone, and these have an index.
        .where(Topic.collection_id == collection_id, FOR_EVERYONE, PoolItem.known_grade.is_not(None))
    )
    return {item: grade for item, grade in rows if grade is not None}


def text_lengths(session: Session, items: Iterable[int], most: int) -> dict[int, int]:
    """Pool item id → length of its text in characters, counted up to `most`."""
    length = func.length(func.substr(Document.body, 1, most))
    statement = (
        select(PoolItem.id, length)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Document.body.is_not(None))
    )
    return {
        item: characters
        for some in chunks(sorted(items))
        for item, characters in session.execute(statement.where(PoolItem.id.in_(some)))
    }


def begun(session: Session, judgement_ids: Sequence[int]) -> dict[int, tuple[str, datetime]]:
    """Judgement id → topic number and time of the judgement."""
    statement = (
        select(Judgement.id, Topic.number, Judgement.judged_at)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
    )
    return {
        id_: (number, judged_at)
        for some in chunks(sorted(judgement_ids))
        for id_, number, judged_at in session.execute(statement.where(Judgement.id.in_(some)))
    }
