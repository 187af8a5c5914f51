"""Appending a judge's judgements in one transaction: their assignments are locked, and the latest judgement counts."""

from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Row,
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
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.adaptive_choices import hold_back_choices
from annotator.storage.judging.judging import IS_PERSON, Decision
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection, CollectionState, Grade, GuidelineVersion
from annotator.storage.tables.judging import (
    BESIDES,
    CURRENT,
    HAS_IT,
    SHOWN_AGAIN,
    Assignment,
    AssignmentState,
    Evidence,
    Judgement,
    Purpose,
)
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic
from annotator.storage.topics.revisions import raise_revision

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
_WITH_JUDGEMENT = _ASSIGNMENT.join(Topic.__table__, TOPICS.id == ITEMS.c.topic_id).outerjoin(
    JUDGEMENTS,
    and_(
        JUDGEMENTS.c.pool_item_id == ASSIGNMENTS.c.pool_item_id,
        JUDGEMENTS.c.judge_id == ASSIGNMENTS.c.judge_id,
        CURRENT,
    ),
)
_OF_JUDGE = and_(ASSIGNMENTS.c.judge_id == bindparam("judge_id"), TOPICS.collection_id == bindparam("collection_id"))
# The judge's assignments with these ids, and their current judgements of the items.
OWN = _WITH_JUDGEMENT.where(_OF_JUDGE, ASSIGNMENTS.c.id.in_(bindparam("assignment_ids", expanding=True))).order_by(
    ASSIGNMENTS.c.pool_item_id, ASSIGNMENTS.c.id
)
# For a single id, the usual case: a list is written into the statement each time.
OWN_ONE = _WITH_JUDGEMENT.where(_OF_JUDGE, ASSIGNMENTS.c.id == bindparam("assignment_id"))
# The assignments that the judge has on these items.
HELD_NOW = _WITH_JUDGEMENT.where(
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


@dataclass
class OwnAssignment:
    """An assignment of the judge; its state changes with each judgement."""

    id: int
    pool_item_id: int
    topic_id: int
    state: str
    lease_until: datetime
    purpose: str
    has_duplicates: bool

    @property
    def is_shown_again(self) -> bool:
        """Whether the judge saw the item before."""
        return self.purpose == Purpose.RE_SHOWN

    @property
    def decides(self) -> bool:
        """Whether it is theirs as an adjudicator."""
        return self.purpose == Purpose.ADJUDICATION


class Passage(NamedTuple):
    """Words of a document that are kept as evidence, with their place in the text as shown."""

    start: int
    end: int
    text: str


class CurrentJudgement(NamedTuple):
    """The judge's current judgement of an item."""

    id: int
    tab: str
    sequence: int | None


@dataclass(frozen=True)
class NewJudgement:
    """A judgement as it is to be stored; it waited for so many seconds in the browser."""

    client_id: str
    decision: Decision
    tab: str
    sequence: int | None
    guideline_version_id: int | None
    evidence: tuple[Passage, ...]
    waited: float
    received_at: datetime


class JudgementWriter:
    """Appends one judge's judgements on assignments of one collection, which it locks until the transaction ends."""

    def __init__(
        self,
        session: Session,
        slug: str,
        judge_id: int,
        assignment_ids: SizedIterable[int],
        client_ids: SizedIterable[str],
    ) -> None:
        """Lock and read the assignments to be judged; `ConflictError` when the judging has ended."""
        self.session = session
        self.judge_id = judge_id
        self.collection_id = open_for_judging(session, slug)
        # To ask the session each time takes long.
        self._connection = session.connection()
        rows = _own(session, self.collection_id, judge_id, list(assignment_ids))
        self._assignments = {row[0]: OwnAssignment(*row[:7]) for row in rows}
        # Item → the judge's current judgement.
        self._current = {row[1]: CurrentJudgement(*row[7:]) for row in rows if row[7] is not None}
        rules = self._rules(list(client_ids))
        self.grades = frozenset(value for kind, value, _, _ in rules if kind == A_GRADE)
        # The number of each version of the guidelines → its row.
        self.guidelines = {number: id_ for kind, number, id_, _ in rules if kind == A_VERSION}
        # Client id → the item and the judge whose stored judgement it is.
        self.known = {client_id: (item_id, judge) for _, item_id, judge, client_id in rules if client_id}
        # Topics that were judged in this transaction.
        self._raised: set[int] = set()
        # Judgements of items that have duplicates.
        self.to_carry_over: list[int] = []

    def _rules(self, client_ids: list[str]) -> Sequence[Row[int, int, int, str]]:
        """The rows of `RULES_AND_KNOWN`."""
        in_collection = {"collection_id": self.collection_id}
        if len(client_ids) == 1:
            return self._connection.execute(RULES_AND_ONE_KNOWN, {**in_collection, "client_id": client_ids[0]}).all()
        return self._connection.execute(RULES_AND_KNOWN, {**in_collection, "client_ids": client_ids}).all()

    def own(self, assignment_id: int) -> OwnAssignment | None:
        """The judge's assignment, None for anybody else's.

        One that was given back stands for the judge's newer hold of the same kind on the same item, if there is one.
        """
        assignment = self._assignments.get(assignment_id)
        if assignment is None or assignment.state != AssignmentState.RETURNED:
            return assignment
        newer = (other for other in self._holds_besides(assignment) if other.decides == assignment.decides)
        return next(newer, assignment)

    def _holds_besides(self, returned: OwnAssignment) -> list[OwnAssignment]:
        """What the judge has of the same item after this was given back; second showings are apart."""
        return [
            other
            for other in self._assignments.values()
            if other.pool_item_id == returned.pool_item_id
            and other.is_shown_again == returned.is_shown_again
            and other.state != AssignmentState.RETURNED
        ]

    def topic_number(self, assignment_id: int) -> str:
        """The number of an assignment's topic."""
        return self.session.get_one(Topic, self._assignments[assignment_id].topic_id).number

    def earliest_lease(self) -> datetime | None:
        """When the first of these assignments goes back to the queue, unless it is renewed."""
        return min((one.lease_until for one in self._assignments.values()), default=None)

    def put_off(self, assignment: OwnAssignment, at: datetime) -> None:
        """The judge comes back to it last; what was judged or given back meanwhile stays as it is."""
        if assignment.state == AssignmentState.LIVE:
            self._connection.execute(PUT_OFF, {"assignment_id": assignment.id, "at": at})
            assignment.state = AssignmentState.LATER

    def append(self, assignment: OwnAssignment, judgement: NewJudgement) -> None:
        """Store a judgement. It becomes the judge's current one unless a later one of the same tab has come before.

        A judgement of a document that was shown again is never current.
        """
        self._raise_revision(assignment.topic_id)
        replaced = self._replaced_by(assignment)
        is_overtaken = replaced is not None and _is_before(judgement, replaced)
        becomes_current = not assignment.is_shown_again and not is_overtaken
        if becomes_current and replaced is not None:
            self._connection.execute(REPLACE, {"replaced_id": replaced.id})
        replaces_id = replaced.id if replaced is not None and not is_overtaken else None
        values = _values(assignment, judgement, self.judge_id)
        result = self._connection.execute(INSERT, {**values, "current": becomes_current, "replaces_id": replaces_id})
        (judgement_id,) = result.inserted_primary_key or (0,)
        if judgement.evidence:
            rows = [{"judgement_id": judgement_id, **passage._asdict()} for passage in judgement.evidence]
            self._connection.execute(KEEP, rows)
        if assignment.has_duplicates:
            self.to_carry_over.append(judgement_id)
        if becomes_current:
            self._current[assignment.pool_item_id] = CurrentJudgement(judgement_id, judgement.tab, judgement.sequence)
        self.known[judgement.client_id] = (assignment.pool_item_id, self.judge_id)
        self._finish(assignment)

    def _raise_revision(self, topic_id: int) -> None:
        if topic_id not in self._raised:
            self._raised.add(topic_id)
            raise_revision(self._connection, topic_id, self.judge_id)

    def _is_person(self) -> bool:
        return self._connection.execute(IS_PERSON, {"whose": self.judge_id}).first() is not None

    def _finish(self, assignment: OwnAssignment) -> None:
        is_returned = assignment.state == AssignmentState.RETURNED
        if is_returned and self._holds_besides(assignment):
            return  # as a judge what they decide, or the other way round: nobody has an item twice
        if is_returned and assignment.purpose not in BESIDES and self._is_person():
            # Its place had gone back to the queue: the item now has one judgement more than its assignments counted.
            self._connection.execute(TAKE, {"item_id": assignment.pool_item_id})
        if assignment.state != AssignmentState.DONE:
            self._connection.execute(FINISH, {"assignment_id": assignment.id})
            assignment.state = AssignmentState.DONE

    def _replaced_by(self, assignment: OwnAssignment) -> CurrentJudgement | None:
        """What a judgement on this assignment replaces; of one that was shown again, the judgement made then."""
        if not assignment.is_shown_again:
            return self._current.get(assignment.pool_item_id)
        place = {"pool_item_id": assignment.pool_item_id, "assignment_id": assignment.id, "judge_id": self.judge_id}
        row = self._connection.execute(LAST_OF_ASSIGNMENT, place).one_or_none()
        return None if row is None else CurrentJudgement(*row)


def open_for_judging(session: Session, slug: str) -> int:
    """The collection of that short name; `ConflictError` when its judging has ended, `NotFoundError` without it.

    On PostgreSQL whoever would end it waits; see `refuse_closed_judging`.
    """
    # What runs past the mapped classes does not see what is still to be written.
    session.flush()
    statement = PLACE if has_one_writer(session) else LOCKED_PLACE
    row = session.connection().execute(statement, {"slug": slug}).one_or_none()
    if row is None:
        return find_collection(session, slug).id
    if row.state == CollectionState.CLOSED:
        refuse_closed_judging(session, row.id)
    collection_id: int = row.id
    return collection_id


def _values(assignment: OwnAssignment, judgement: NewJudgement, judge_id: int) -> dict[str, object]:
    return {
        "client_id": judgement.client_id,
        "assignment_id": assignment.id,
        "pool_item_id": assignment.pool_item_id,
        "judge_id": judge_id,
        "grade": judgement.decision.grade,
        "cannot_judge": judgement.decision.cannot_judge,
        "note": judgement.decision.note,
        "seconds": judgement.decision.seconds,
        "guideline_version_id": judgement.guideline_version_id,
        "judged_at": judgement.received_at - timedelta(seconds=judgement.waited),
        "received_at": judgement.received_at,
        "tab": judgement.tab,
        "sequence": judgement.sequence,
        "late": assignment.state == AssignmentState.RETURNED,
    }


def _is_before(judgement: NewJudgement, current: CurrentJudgement) -> bool:
    """Whether a judgement was made before the current one, in the same tab: clocks do not count."""
    if not judgement.tab or judgement.tab != current.tab or judgement.sequence is None or current.sequence is None:
        return False
    return judgement.sequence < current.sequence


def _own(
    session: Session, collection_id: int, judge_id: int, assignment_ids: list[int]
) -> Sequence[Row[*tuple[Any, ...]]]:
    """The judge's assignments with these ids; of those that were given back, also the newer holds of the same items."""
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
    """On PostgreSQL, lock in the order in which everybody does: collection, topic, assignment, pool item.

    What was said is read behind the locks: who waited for them would see what was current before.
    """
    connection = session.connection()
    for (topic_id,) in sorted(connection.execute(OWN_TOPICS, wanted).all()):
        hold_back_choices(session, topic_id)
    items = {item_id for (item_id,) in connection.execute(OWN_ITEMS, wanted)}
    connection.execute(LOCKED, {"item_ids": sorted(items), "judge_id": wanted["judge_id"]}).all()


def stored_ids(session: Session, judge_id: int, client_ids: Sequence[str]) -> set[str]:
    """Those of the ids under which a judgement of this judge is stored."""
    known = session.execute(KNOWN, {"client_ids": list(client_ids)})
    return {client_id for client_id, _, judge in known if judge == judge_id}
