"""Loads the state that decides a judge's request: their locked assignments and current judgements of the items."""

from collections.abc import Collection as SizedIterable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Row, Table, and_, bindparam, exists, literal_column, or_, select, union_all
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.adaptive_choices import hold_back_choices
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection, CollectionState, Grade, GuidelineVersion
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    CURRENT,
    HAS_IT,
    HELD,
    SHOWN_AGAIN,
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    Purpose,
)
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# Core tables cost a fraction of mapped classes.
COLLECTIONS = cast("Table", Collection.__table__).c
TOPICS = cast("Table", Topic.__table__).c
ITEMS = cast("Table", PoolItem.__table__)
ASSIGNMENTS = cast("Table", Assignment.__table__)
JUDGEMENTS = cast("Table", Judgement.__table__)
GRADES = cast("Table", Grade.__table__).c
GUIDELINES = cast("Table", GuidelineVersion.__table__).c
DOCUMENTS = cast("Table", Document.__table__)
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
    TOPICS.number,
    DOCUMENTS.c.docno,
    JUDGEMENTS.c.id,
    JUDGEMENTS.c.tab,
    JUDGEMENTS.c.sequence,
    JUDGEMENTS.c.client_id,
).join(ITEMS, ITEMS.c.id == ASSIGNMENTS.c.pool_item_id)
_WITH_JUDGEMENT = (
    _ASSIGNMENT.join(Topic.__table__, TOPICS.id == ITEMS.c.topic_id)
    .join(DOCUMENTS, DOCUMENTS.c.id == ITEMS.c.document_id)
    .outerjoin(
        JUDGEMENTS,
        and_(
            JUDGEMENTS.c.pool_item_id == ASSIGNMENTS.c.pool_item_id,
            JUDGEMENTS.c.judge_id == ASSIGNMENTS.c.judge_id,
            CURRENT,
        ),
    )
)
_OF_JUDGE = and_(ASSIGNMENTS.c.judge_id == bindparam("judge_id"), TOPICS.collection_id == bindparam("collection_id"))
# The judge's assignments with these ids, and their current judgements of the items.
OWN = _WITH_JUDGEMENT.where(_OF_JUDGE, ASSIGNMENTS.c.id.in_(bindparam("assignment_ids", expanding=True))).order_by(
    ASSIGNMENTS.c.pool_item_id, ASSIGNMENTS.c.id
)
# For a single id, the usual case: SQLAlchemy expands a list into the statement each time.
OWN_ONE = _WITH_JUDGEMENT.where(_OF_JUDGE, ASSIGNMENTS.c.id == bindparam("assignment_id"))
# The assignments that the judge has on these items.
HELD_NOW = _WITH_JUDGEMENT.where(
    _OF_JUDGE, ASSIGNMENTS.c.pool_item_id.in_(bindparam("item_ids", expanding=True)), or_(HAS_IT, SHOWN_AGAIN)
)
OWN_TOPICS = OWN.with_only_columns(ITEMS.c.topic_id).order_by(None).distinct()
OWN_ITEMS = OWN.with_only_columns(ASSIGNMENTS.c.pool_item_id).order_by(None)
# All present and former assignments of the judge on these items.
LOCKED = (
    select(ASSIGNMENTS.c.id)
    .where(
        ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
        ASSIGNMENTS.c.pool_item_id.in_(bindparam("item_ids", expanding=True)),
    )
    .order_by(ASSIGNMENTS.c.pool_item_id, ASSIGNMENTS.c.id)
    .with_for_update()
)
# Grades, guideline versions and stored client ids in one query, distinguished by the first column: a separate query for
# each would triple the time.
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
_STORED = select(literal_column(str(A_JUDGEMENT)), literal_column("0"), literal_column("0"), JUDGEMENTS.c.client_id)
RULES_AND_KNOWN = union_all(*_RULES, _STORED.where(JUDGEMENTS.c.client_id.in_(bindparam("client_ids", expanding=True))))
RULES_AND_ONE_KNOWN = union_all(*_RULES, _STORED.where(JUDGEMENTS.c.client_id == bindparam("client_id")))
_STORED_JUDGEMENT = select(
    JUDGEMENTS.c.client_id,
    JUDGEMENTS.c.pool_item_id,
    JUDGEMENTS.c.judge_id,
    JUDGEMENTS.c.grade,
    JUDGEMENTS.c.cannot_judge,
    JUDGEMENTS.c.note,
)
STORED = _STORED_JUDGEMENT.where(JUDGEMENTS.c.client_id.in_(bindparam("client_ids", expanding=True)))
HISTORY = _STORED_JUDGEMENT.where(
    JUDGEMENTS.c.pool_item_id == bindparam("pool_item_id"), JUDGEMENTS.c.judge_id == bindparam("judge_id")
).order_by(JUDGEMENTS.c.id)
# Judgements of assignments; the last of each comes last.
OF_ASSIGNMENTS = (
    select(
        JUDGEMENTS.c.assignment_id,
        JUDGEMENTS.c.cannot_judge,
        *(JUDGEMENTS.c.id, JUDGEMENTS.c.tab, JUDGEMENTS.c.sequence, JUDGEMENTS.c.client_id),
    )
    .where(
        JUDGEMENTS.c.assignment_id.in_(bindparam("assignment_ids", expanding=True)),
        JUDGEMENTS.c.judge_id == bindparam("judge_id"),
    )
    .order_by(JUDGEMENTS.c.id)
)
WITH_TEXT = (
    select(ITEMS.c.id)
    .join(DOCUMENTS, DOCUMENTS.c.id == ITEMS.c.document_id)
    .where(ITEMS.c.id.in_(bindparam("item_ids", expanding=True)), DOCUMENTS.c.body.is_not(None), DOCUMENTS.c.body != "")
)


class OwnAssignment(NamedTuple):
    """An assignment of the judge, whether its item has duplicates, and its topic and document."""

    id: int
    pool_item_id: int
    topic_id: int
    state: str
    lease_until: datetime
    purpose: str
    has_duplicates: bool
    topic_number: str
    docno: str

    @property
    def is_shown_again(self) -> bool:
        """Whether it is a second showing."""
        return self.purpose == Purpose.RE_SHOWN

    @property
    def decides(self) -> bool:
        """Whether it is an adjudication."""
        return self.purpose == Purpose.ADJUDICATION


class LatestJudgement(NamedTuple):
    """The judgement that a new one replaces; one without an id is stored in the same transaction."""

    id: int | None
    tab: str
    sequence: int | None
    client_id: str


class StoredJudgement(NamedTuple):
    """A judgement stored under an id that the client generated."""

    client_id: str
    pool_item_id: int
    judge_id: int
    grade: int | None
    cannot_judge: str | None
    note: str

    def is_of(self, pool_item_id: int, judge_id: int) -> bool:
        """Whether it is this judge's judgement of this item."""
        return (self.pool_item_id, self.judge_id) == (pool_item_id, judge_id)


@dataclass(frozen=True)
class JudgingState:
    """The state for deciding one judge's request; the assignments are locked until the transaction ends."""

    judge_id: int
    assignments: Mapping[int, OwnAssignment]
    # Item id → the judge's current judgement; assignment id of a second showing → its last judgement.
    current: Mapping[int, LatestJudgement]
    shown_again: Mapping[int, LatestJudgement]
    grades: frozenset[int]
    # Number of each guideline version → its row id.
    guidelines: Mapping[int, int]
    # By client id, for the requested ones.
    stored: Mapping[str, StoredJudgement]
    # Items whose documents have a text, if requested.
    with_text: frozenset[int] = frozenset()

    def earliest_lease(self) -> datetime | None:
        """Earliest time at which one of these assignments expires, unless renewed; None if none of them is held."""
        return min((one.lease_until for one in self.assignments.values() if one.state in HELD), default=None)


def load_state(
    session: Session,
    slug: str,
    judge_id: int,
    assignment_ids: SizedIterable[int],
    client_ids: SizedIterable[str],
    *,
    asks_for_texts: bool = False,
) -> JudgingState:
    """Lock and read the assignments to be judged, and the judgements stored under these client ids.

    Raises `ConflictError` when judging has ended, and `NotFoundError` without such a collection.
    """
    collection_id = open_for_judging(session, slug)
    rows = _own(session, collection_id, judge_id, list(assignment_ids))
    assignments = {row[0]: OwnAssignment(*row[:9]) for row in rows}
    rules = _rules(session, collection_id, list(client_ids))
    stored = [client_id for _, _, _, client_id in rules if client_id]
    again = [one.id for one in assignments.values() if one.is_shown_again]
    return JudgingState(
        judge_id,
        assignments,
        current={row[1]: LatestJudgement(*row[9:]) for row in rows if row[9] is not None},
        shown_again=_judged_again(session, judge_id, again) if again else {},
        grades=frozenset(value for kind, value, _, _ in rules if kind == A_GRADE),
        guidelines={number: id_ for kind, number, id_, _ in rules if kind == A_VERSION},
        stored=stored_judgements(session, stored) if stored else {},
        with_text=_with_text(session, assignments.values()) if asks_for_texts else frozenset(),
    )


def stored_judgements(session: Session, client_ids: Sequence[str]) -> dict[str, StoredJudgement]:
    """Client id → the judgement stored under it."""
    rows = session.execute(STORED, {"client_ids": list(client_ids)})
    return {row[0]: StoredJudgement(*row) for row in rows}


def judgements_of_item(session: Session, pool_item_id: int, judge_id: int) -> list[StoredJudgement]:
    """All judgements of an item by a judge, replaced ones included, oldest first."""
    return [
        StoredJudgement(*row) for row in session.execute(HISTORY, {"pool_item_id": pool_item_id, "judge_id": judge_id})
    ]


def open_for_judging(session: Session, slug: str) -> int:
    """The id of the collection; raises `ConflictError` when judging has ended, `NotFoundError` when it is missing.

    On PostgreSQL, closing the collection waits for this transaction; see `refuse_closed_judging`.
    """
    # Core statements do not see pending changes of the session.
    session.flush()
    statement = PLACE if has_one_writer(session) else LOCKED_PLACE
    row = session.connection().execute(statement, {"slug": slug}).one_or_none()
    if row is None:
        return find_collection(session, slug).id
    if row.state == CollectionState.CLOSED:
        refuse_closed_judging(session, row.id)
    collection_id: int = row.id
    return collection_id


def _own(
    session: Session, collection_id: int, judge_id: int, assignment_ids: list[int]
) -> Sequence[Row[*tuple[Any, ...]]]:
    """The judge's assignments with these ids; for returned ones also their newer assignments of the same items."""
    connection = session.connection()
    judge = {"collection_id": collection_id, "judge_id": judge_id}
    wanted = {**judge, "assignment_ids": assignment_ids}
    if not has_one_writer(session):
        _lock_own(session, wanted)
    if len(assignment_ids) == 1:
        rows = list(connection.execute(OWN_ONE, {**judge, "assignment_id": assignment_ids[0]}))
    else:
        rows = list(connection.execute(OWN, wanted))
    returned = [row[1] for row in rows if row[3] == AssignmentState.RETURNED]
    if returned:
        held = connection.execute(HELD_NOW, {**judge, "item_ids": returned})
        known = {row[0] for row in rows}
        rows += [row for row in held if row[0] not in known]
    return rows


def _lock_own(session: Session, wanted: dict[str, Any]) -> None:
    """On PostgreSQL, lock in the global order: collection, topic, assignment, pool item.

    Judgements are read after locking: a read that waited for a lock would see outdated ones.
    """
    connection = session.connection()
    for (topic_id,) in sorted(connection.execute(OWN_TOPICS, wanted).all()):
        hold_back_choices(session, topic_id)
    items = {item_id for (item_id,) in connection.execute(OWN_ITEMS, wanted)}
    connection.execute(LOCKED, {"item_ids": sorted(items), "judge_id": wanted["judge_id"]}).all()


def _rules(session: Session, collection_id: int, client_ids: list[str]) -> Sequence[Row[int, int, int, str]]:
    """The rows of `RULES_AND_KNOWN`."""
    connection, of_collection = session.connection(), {"collection_id": collection_id}
    if len(client_ids) == 1:
        return connection.execute(RULES_AND_ONE_KNOWN, {**of_collection, "client_id": client_ids[0]}).all()
    return connection.execute(RULES_AND_KNOWN, {**of_collection, "client_ids": client_ids}).all()


def _judged_again(session: Session, judge_id: int, assignment_ids: list[int]) -> dict[int, LatestJudgement]:
    rows = session.connection().execute(OF_ASSIGNMENTS, {"assignment_ids": assignment_ids, "judge_id": judge_id})
    latest = {assignment_id: (reason, LatestJudgement(*judgement)) for assignment_id, reason, *judgement in rows}
    return {id_: judgement for id_, (reason, judgement) in latest.items() if reason != CannotJudge.WITHDRAWN}


def _with_text(session: Session, assignments: SizedIterable[OwnAssignment]) -> frozenset[int]:
    rows = session.connection().execute(WITH_TEXT, {"item_ids": [one.pool_item_id for one in assignments]})
    return frozenset(item_id for (item_id,) in rows)
