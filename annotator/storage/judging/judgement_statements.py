"""The statements that run with every judgement, put together once."""

from typing import cast

from sqlalchemy import (
    ColumnElement,
    Table,
    and_,
    bindparam,
    exists,
    insert,
    literal_column,
    or_,
    select,
    union_all,
    update,
)

from annotator.storage.judging.conditions import CURRENT, HAS_IT, SHOWN_AGAIN
from annotator.storage.tables.collections import Collection, Grade, GuidelineVersion
from annotator.storage.tables.judging import Assignment, AssignmentState, Evidence, Judgement
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# The tables themselves cost a fraction of what the mapped classes do.
COLLECTIONS = cast("Table", Collection.__table__).c
TOPICS = cast("Table", Topic.__table__).c
ITEMS = cast("Table", PoolItem.__table__)
ASSIGNMENTS = cast("Table", Assignment.__table__)
JUDGEMENTS = cast("Table", Judgement.__table__)
EVIDENCE = cast("Table", Evidence.__table__)
GRADES = cast("Table", Grade.__table__).c
GUIDELINES = cast("Table", GuidelineVersion.__table__).c
_COPIES = ITEMS.alias("copies")

PLACE = select(COLLECTIONS.id, COLLECTIONS.state).where(COLLECTIONS.slug == bindparam("slug"))
LOCKED_PLACE = PLACE.with_for_update(read=True, key_share=True)
_ASSIGNMENT = select(
    ASSIGNMENTS.c.id,
    ASSIGNMENTS.c.pool_item_id,
    ITEMS.c.topic_id,
    ASSIGNMENTS.c.state,
    ASSIGNMENTS.c.lease_until,
    ASSIGNMENTS.c.purpose,
    exists().where(_COPIES.c.duplicate_of_id == ITEMS.c.id),
    JUDGEMENTS.c.id,
    JUDGEMENTS.c.tab,
    JUDGEMENTS.c.sequence,
).join(ITEMS, ITEMS.c.id == ASSIGNMENTS.c.pool_item_id)
_WITH_WORDS = _ASSIGNMENT.join(Topic.__table__, TOPICS.id == ITEMS.c.topic_id).outerjoin(
    JUDGEMENTS,
    and_(
        JUDGEMENTS.c.pool_item_id == ASSIGNMENTS.c.pool_item_id,
        JUDGEMENTS.c.judge_id == ASSIGNMENTS.c.judge_id,
        CURRENT,
    ),
)
_OF_JUDGE = and_(ASSIGNMENTS.c.judge_id == bindparam("judge_id"), TOPICS.collection_id == bindparam("collection_id"))
# The judge's assignments with these ids, and what is said of their items now.
OWN = _WITH_WORDS.where(_OF_JUDGE, ASSIGNMENTS.c.id.in_(bindparam("assignment_ids", expanding=True))).order_by(
    ASSIGNMENTS.c.pool_item_id, ASSIGNMENTS.c.id
)
# The same of one, as nearly all are: a list is written into the statement anew each time.
OWN_ONE = _WITH_WORDS.where(_OF_JUDGE, ASSIGNMENTS.c.id == bindparam("assignment_id"))
# The same of those that the judge has on these items.
HELD_NOW = _WITH_WORDS.where(
    _OF_JUDGE, ASSIGNMENTS.c.pool_item_id.in_(bindparam("item_ids", expanding=True)), or_(HAS_IT, SHOWN_AGAIN)
)
OWN_TOPICS = OWN.with_only_columns(ITEMS.c.topic_id).order_by(None).distinct()
OWN_ITEMS = OWN.with_only_columns(ASSIGNMENTS.c.pool_item_id).order_by(None)
# All that the judge has or had of these items.
LOCKED = (
    select(ASSIGNMENTS.c.id)
    .where(
        ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
        ASSIGNMENTS.c.pool_item_id.in_(bindparam("item_ids", expanding=True)),
    )
    .order_by(ASSIGNMENTS.c.pool_item_id, ASSIGNMENTS.c.id)
    .with_for_update()
)
KNOWN = select(JUDGEMENTS.c.client_id, JUDGEMENTS.c.pool_item_id, JUDGEMENTS.c.judge_id).where(
    JUDGEMENTS.c.client_id.in_(bindparam("client_ids", expanding=True))
)
# The grades of the scale, the versions of the guidelines and the judgements with these ids in one answer, told apart
# by their first column: each statement takes as long as all three.
A_GRADE, A_VERSION, A_JUDGEMENT = 0, 1, 2
_NONE: ColumnElement[str] = literal_column("''")
_RULES = (
    select(literal_column(str(A_GRADE)), GRADES.value, literal_column("0"), _NONE).where(
        GRADES.collection_id == bindparam("collection_id")
    ),
    select(literal_column(str(A_VERSION)), GUIDELINES.number, GUIDELINES.id, _NONE).where(
        GUIDELINES.collection_id == bindparam("collection_id")
    ),
)
_JUDGED = select(
    literal_column(str(A_JUDGEMENT)), JUDGEMENTS.c.pool_item_id, JUDGEMENTS.c.judge_id, JUDGEMENTS.c.client_id
)
RULES_AND_KNOWN = union_all(*_RULES, _JUDGED.where(JUDGEMENTS.c.client_id.in_(bindparam("client_ids", expanding=True))))
RULES_AND_ONE_KNOWN = union_all(*_RULES, _JUDGED.where(JUDGEMENTS.c.client_id == bindparam("client_id")))
LAST_OF_ASSIGNMENT = (
    select(JUDGEMENTS.c.id, JUDGEMENTS.c.tab, JUDGEMENTS.c.sequence)
    .where(
        JUDGEMENTS.c.pool_item_id == bindparam("pool_item_id"),
        JUDGEMENTS.c.judge_id == bindparam("judge_id"),
        JUDGEMENTS.c.assignment_id == bindparam("assignment_id"),
    )
    .order_by(JUDGEMENTS.c.id.desc())
    .limit(1)
)
INSERT = insert(JUDGEMENTS)
KEEP = insert(EVIDENCE)
REPLACE = update(JUDGEMENTS).where(JUDGEMENTS.c.id == bindparam("replaced_id")).values(current=False)
FINISH = (
    update(ASSIGNMENTS).where(ASSIGNMENTS.c.id == bindparam("assignment_id")).values(state=AssignmentState.DONE.value)
)
PUT_OFF = (
    update(ASSIGNMENTS)
    .where(ASSIGNMENTS.c.id == bindparam("assignment_id"))
    .values(state=AssignmentState.LATER.value, put_off_at=bindparam("at"))
)
TAKE = update(ITEMS).where(ITEMS.c.id == bindparam("item_id")).values(taken=ITEMS.c.taken + 1)
