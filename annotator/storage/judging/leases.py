"""Leases: assignments lent to judges for a time, renewed while they judge, and given back."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Row,
    Table,
    bindparam,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    ASSIGNMENTS,
    HELD,
    IS_HELD,
    LEASE,
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    Purpose,
    takes_place,
)
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem

_ITEMS = cast("Table", PoolItem.__table__)


_DOCUMENTS = cast("Table", Document.__table__)


_TEXTS = select(_DOCUMENTS.c.text_hash).join(_ITEMS, _ITEMS.c.document_id == _DOCUMENTS.c.id)


LEND = insert(ASSIGNMENTS).values(text_hash=_TEXTS.where(_ITEMS.c.id == bindparam("whose_text")).scalar_subquery())


_USERS = cast("Table", User.__table__).c


# Machines do not count as `taken`. A separate query: as a condition of the UPDATE, PostgreSQL evaluates it wrongly for
# a row that was changed concurrently, and the count is lost.
IS_PERSON = select(_USERS.id).where(_USERS.id == bindparam("whose"), _USERS.kind == UserKind.PERSON.value)


TAKE = update(_ITEMS).where(_ITEMS.c.id.in_(bindparam("items", expanding=True))).values(taken=_ITEMS.c.taken + 1)


_IS_HELD = ASSIGNMENTS.c.state.in_([state.value for state in HELD])


RENEW = (
    update(ASSIGNMENTS)
    .where(ASSIGNMENTS.c.judge_id == bindparam("whose"), _IS_HELD, ASSIGNMENTS.c.lease_until < bindparam("soon"))
    .values(lease_until=bindparam("until"))
)


ANY_EXPIRED = (
    select(ASSIGNMENTS.c.id)
    # Text exactly as in the partial index.
    .where(text("state IN ('live', 'later')"), ASSIGNMENTS.c.lease_until < bindparam("now"))
    .limit(1)
)


_MACHINES = select(User.id).where(User.kind == UserKind.MACHINE)


# Assignments of adjudicators; text exactly as in the partial index.
DECIDING = select(Assignment.id).where(text("assignment.purpose = 'adjudication'"))


@dataclass(frozen=True)
class Decision:
    """A grade, or the reason why a document cannot be judged."""

    grade: int | None
    cannot_judge: CannotJudge | None = None
    note: str = ""
    seconds: float | None = None

    @classmethod
    def of(cls, judgement: Judgement | Row[*tuple[Any, ...]]) -> "Decision":
        """The decision of a stored judgement, or of a row with its columns."""
        reason = CannotJudge(judgement.cannot_judge) if judgement.cannot_judge else None
        return cls(judgement.grade, reason, judgement.note, judgement.seconds)


def lend(
    session: Session,
    pool_item_ids: Sequence[int],
    judge_id: int,
    now: datetime,
    purposes: Mapping[int, Purpose] | None = None,
) -> None:
    """Assign items to a judge in order of showing; the caller has checked that they may have them."""
    purposes = purposes or {}
    session.flush()
    connection = session.connection()
    connection.execute(
        LEND,
        [
            {
                "pool_item_id": item_id,
                "judge_id": judge_id,
                "state": AssignmentState.LIVE.value,
                "purpose": purposes.get(item_id, Purpose.FIRST).value,
                "drawn_at": now,
                "lease_until": now + LEASE,
                "whose_text": item_id,
            }
            for item_id in pool_item_ids
        ],
    )
    taken = [item_id for item_id in pool_item_ids if takes_place(purposes.get(item_id, Purpose.FIRST))]
    if connection.execute(IS_PERSON, {"whose": judge_id}).first() is not None:
        connection.execute(TAKE, {"items": taken})


def renew(session: Session, judge_id: int, now: datetime) -> None:
    """Renew the judge's leases that have less than half of their time left."""
    session.flush()
    until = {"whose": judge_id, "soon": now + LEASE / 2, "until": now + LEASE}
    session.connection().execute(RENEW, until)


def give_back_expired(session: Session, now: datetime) -> int:
    """Return all assignments with an expired lease to the queue; return their number."""
    session.flush()
    if session.connection().execute(ANY_EXPIRED, {"now": now}).first() is None:
        return 0
    return give_back(session, Assignment.lease_until < now)


def give_back(session: Session, *conditions: ColumnElement[bool]) -> int:
    """Return held or deferred assignments that satisfy the conditions to the queue; return their number."""
    # Locked in one order, so that concurrent returns do not deadlock. By an index in that order SQLite would read all
    # assignments, instead of the few by the index of those that are held: a sum has no index.
    held = session.scalars(
        select(Assignment)
        .where(IS_HELD, *conditions)
        .order_by(Assignment.pool_item_id + 0, Assignment.id)
        .with_for_update()
    ).all()
    for assignment in held:
        assignment.state = AssignmentState.RETURNED
    session.flush()
    machines = set(session.scalars(_MACHINES)) if held else set()
    # An item returned by two judges is decremented twice.
    taken = Counter(one.pool_item_id for one in held if takes_place(one.purpose) and one.judge_id not in machines)
    for item_id, count in sorted(taken.items()):
        session.execute(update(PoolItem).where(PoolItem.id == item_id).values(taken=PoolItem.taken - count))
    return len(held)


def return_assignments(session: Session, judge_id: int) -> int:
    """Return everything that a judge holds to the queue, as on signing out; return the number."""
    return give_back(session, Assignment.judge_id == judge_id)
