"""What adjudicators decided: their present grades as such, and what was carried over from these."""

from collections.abc import Iterable
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotator.storage.judging.conditions import CURRENT, DECIDES, OF_PEOPLE
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import Assignment, Judgement
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

# Where there is one: the statement leaves out what is none.
GRADE = cast("ColumnElement[int]", Judgement.grade)


class Decided(NamedTuple):
    """A judgement that decides; `is_carried`: said of another document with the same text."""

    judgement_id: int
    pool_item_id: int
    topic_id: int
    grade: int
    is_carried: bool


def decisions(session: Session, collection_id: int) -> list[Decided]:
    """What was decided in the accepted topics of a collection, the earliest first: of an item the last one counts.

    Only grades are among them: whoever could not judge a document decides nothing.
    """
    # In two steps: joined at once, every judgement of the collection would be looked at.
    given = session.execute(
        select(Assignment.id, Assignment.pool_item_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(DECIDES, Topic.collection_id == collection_id, ACCEPTED)
    ).all()
    deciding = {assignment for assignment, _ in given}
    columns = (Judgement.id, Judgement.pool_item_id, PoolItem.topic_id, GRADE)
    present = (
        select(*columns, Judgement.assignment_id, Judgement.carried_from_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, CURRENT, Judgement.grade.is_not(None), OF_PEOPLE)
    )
    own = {
        id_: Decided(id_, item, topic, grade, is_carried=False)
        for some in chunks(sorted({item for _, item in given}))
        for id_, item, topic, grade, assignment, _ in session.execute(present.where(Judgement.pool_item_id.in_(some)))
        if assignment in deciding
    }
    carried = session.execute(present.where(~SHOWN)) if own else ()
    also = [
        Decided(id_, item, topic, grade, is_carried=True)
        for id_, item, topic, grade, _, origin in carried
        if origin in own
    ]
    return sorted([*own.values(), *also])


def decided_grades(made: Iterable[Decided]) -> dict[int, int]:
    """Item → the grade that was decided last, of the items that were shown to an adjudicator."""
    made = list(made)
    last = {decision.pool_item_id: decision.grade for decision in made}
    return {decision.pool_item_id: last[decision.pool_item_id] for decision in made if not decision.is_carried}
