"""Who is to look at what, and what they said. Judgements are appended: the latest of a judge counts, all are kept."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    Row,
    Table,
    bindparam,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.documents.documents import Document
from annotator.storage.people.accounts import User, UserKind
from annotator.storage.pools.pools import PoolItem
from annotator.storage.site.columns import NEVER_REUSED, Base

# For how long a judge holds a document; going on renews it, once less than half is left.
LEASE = timedelta(minutes=30)


class AssignmentState(StrEnum):
    """Where an assignment is: in a judge's hands, put off by them, judged, or given back to the queue."""

    LIVE = "live"
    LATER = "later"
    DONE = "done"
    RETURNED = "returned"


# In somebody's hands: they come back to the queue when the lease runs out or their judge signs out.
HELD = (AssignmentState.LIVE, AssignmentState.LATER)


class Purpose(StrEnum):
    """Why a judge was given a document; they cannot tell."""

    FIRST = "first"
    # Beyond the judgements that every item of the topic wants.
    OVERLAP = "overlap"
    COMMON = "common"
    TEST = "test"
    # The judge's own document once more, for self-agreement: what is said of it replaces nothing.
    RE_SHOWN = "re-shown"
    # A deciding word on a document whose judges differ.
    ADJUDICATION = "adjudication"
    # Nobody was shown it: it carries the judgement of an item with the same text.
    CARRIED = "carried"


# What is drawn for these is none of the judgements that the item wants.
BESIDES = frozenset({Purpose.RE_SHOWN, Purpose.ADJUDICATION})


class CannotJudge(StrEnum):
    """Why a document that was shown could not be assessed."""

    BROKEN = "broken"
    LANGUAGE = "language"
    NO_TEXT = "no-text"
    OTHER = "other"


class Assignment(Base):
    __tablename__ = "assignment"
    __table_args__ = (
        # A judge never holds the same item twice; what was given back may be drawn again.
        Index(
            "uq_assignment_held",
            "pool_item_id",
            "judge_id",
            unique=True,
            sqlite_where=text("state <> 'returned' AND purpose <> 're-shown'"),
            postgresql_where=text("state <> 'returned' AND purpose <> 're-shown'"),
        ),
        Index(
            "uq_assignment_reshown",
            "pool_item_id",
            "judge_id",
            unique=True,
            sqlite_where=text("state <> 'returned' AND purpose = 're-shown'"),
            postgresql_where=text("state <> 'returned' AND purpose = 're-shown'"),
        ),
        Index("ix_assignment_judge", "judge_id", "state"),
        Index(
            "ix_assignment_adjudication",
            "pool_item_id",
            sqlite_where=text("purpose = 'adjudication'"),
            postgresql_where=text("purpose = 'adjudication'"),
        ),
        Index(
            "ix_assignment_besides",
            "pool_item_id",
            sqlite_where=text("purpose IN ('re-shown', 'adjudication')"),
            postgresql_where=text("purpose IN ('re-shown', 'adjudication')"),
        ),
        Index(
            "ix_assignment_lease",
            "lease_until",
            sqlite_where=text("state IN ('live', 'later')"),
            postgresql_where=text("state IN ('live', 'later')"),
        ),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    state: Mapped[str]
    purpose: Mapped[str] = mapped_column(default=Purpose.FIRST)
    drawn_at: Mapped[datetime]
    lease_until: Mapped[datetime]
    # When the judge last said “later”; it stays known after the document has gone back.
    put_off_at: Mapped[datetime | None]
    # Of the text that the judge was shown; None where nobody knows, and of a document without a text.
    text_hash: Mapped[str | None]


class Judgement(Base):
    __tablename__ = "judgement"
    __table_args__ = (
        Index(
            "uq_judgement_current",
            "pool_item_id",
            "judge_id",
            unique=True,
            sqlite_where=text("current"),
            postgresql_where=text("current"),
        ),
        Index("ix_judgement_item", "pool_item_id", "judge_id"),
        # What was current at an earlier moment: few replace another.
        Index(
            "ix_judgement_replaces_id",
            "replaces_id",
            sqlite_where=text("replaces_id IS NOT NULL"),
            postgresql_where=text("replaces_id IS NOT NULL"),
        ),
        Index("ix_judgement_judge", "judge_id", "current"),
        Index(
            "ix_judgement_carried_from_id",
            "carried_from_id",
            sqlite_where=text("carried_from_id IS NOT NULL"),
            postgresql_where=text("carried_from_id IS NOT NULL"),
        ),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Made where the judgement was made, so that it is stored once however often it arrives.
    client_id: Mapped[str] = mapped_column(unique=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignment.id"), index=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    # Exactly one of the two is set: a grade of the scale, or why there is none.
    grade: Mapped[int | None]
    cannot_judge: Mapped[str | None]
    note: Mapped[str] = mapped_column(default="")
    seconds: Mapped[float | None]
    guideline_version_id: Mapped[int | None] = mapped_column(ForeignKey("guideline_version.id"))
    judged_at: Mapped[datetime]
    # When the server got it; `judged_at` is that less the time it waited in the browser.
    received_at: Mapped[datetime]
    # The browser's tab, and the number of the judgement in it: their order, whatever a clock says.
    tab: Mapped[str] = mapped_column(default="")
    sequence: Mapped[int | None]
    # Whether the lease had already gone to somebody else.
    late: Mapped[bool] = mapped_column(default=False)
    # Whether this is the judge's latest word on the item; never what was said of it when it was shown again.
    current: Mapped[bool] = mapped_column(default=True)
    replaces_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))
    # The judgement of the item with the same text that this one repeats.
    carried_from_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))


# What every draw does, put together once and from the tables themselves, which takes a fraction of the time.
ASSIGNMENTS = cast("Table", Assignment.__table__)
_ITEMS = cast("Table", PoolItem.__table__)
_DOCUMENTS = cast("Table", Document.__table__)
_TEXTS = select(_DOCUMENTS.c.text_hash).join(_ITEMS, _ITEMS.c.document_id == _DOCUMENTS.c.id)
LEND = insert(ASSIGNMENTS).values(text_hash=_TEXTS.where(_ITEMS.c.id == bindparam("whose_text")).scalar_subquery())
_USERS = cast("Table", User.__table__).c
# Machines take no place: a person is wanted all the same. It is asked for beforehand: as a condition of the update,
# PostgreSQL answers it wrongly for a row that somebody else has just changed, and the place is lost.
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
    # Word for word as the partial index has it.
    .where(text("state IN ('live', 'later')"), ASSIGNMENTS.c.lease_until < bindparam("now"))
    .limit(1)
)


_MACHINES = select(User.id).where(User.kind == UserKind.MACHINE)
# The assignments of adjudicators, word for word as the partial index has them.
DECIDING = select(Assignment.id).where(text("assignment.purpose = 'adjudication'"))


@dataclass(frozen=True)
class Decision:
    """What a judge said of a document: a grade, or why it cannot be judged."""

    grade: int | None
    cannot_judge: CannotJudge | None = None
    note: str = ""
    seconds: float | None = None

    @classmethod
    def of(cls, judgement: Judgement | Row[*tuple[Any, ...]]) -> "Decision":
        """The decision a stored judgement holds, or a row with its columns."""
        reason = CannotJudge(judgement.cannot_judge) if judgement.cannot_judge else None
        return cls(judgement.grade, reason, judgement.note, judgement.seconds)


def lend(
    session: Session,
    pool_item_ids: Sequence[int],
    judge_id: int,
    now: datetime,
    purposes: Mapping[int, Purpose] | None = None,
) -> None:
    """Put items into a judge's hands, of which the caller knows that they may have them, in the order of showing."""
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
    taken = [item_id for item_id in pool_item_ids if purposes.get(item_id) not in BESIDES]
    if connection.execute(IS_PERSON, {"whose": judge_id}).first() is not None:
        connection.execute(TAKE, {"items": taken})


def renew(session: Session, judge_id: int, now: datetime) -> None:
    """Begin the leases anew of everything a judge holds, where less than half is left."""
    session.flush()
    until = {"whose": judge_id, "soon": now + LEASE / 2, "until": now + LEASE}
    session.connection().execute(RENEW, until)


def give_back_expired(session: Session, now: datetime) -> int:
    """Return everything whose lease has run out, and count it."""
    session.flush()
    if session.connection().execute(ANY_EXPIRED, {"now": now}).first() is None:
        return 0
    return give_back(session, Assignment.lease_until < now)


def give_back(session: Session, *conditions: ColumnElement[bool]) -> int:
    """Return what is held and fits to the queue and count it, put off or not; the items want a judge again."""
    # In one order for everybody, so that two who give back at once wait for each other and not both for ever.
    held = session.scalars(
        select(Assignment)
        .where(Assignment.state.in_(HELD), *conditions)
        .order_by(Assignment.pool_item_id, Assignment.id)
        .with_for_update()
    ).all()
    for assignment in held:
        assignment.state = AssignmentState.RETURNED
    session.flush()
    machines = set(session.scalars(_MACHINES)) if held else set()
    # An item that comes back from two judges counts down twice.
    taken = Counter(one.pool_item_id for one in held if one.purpose not in BESIDES and one.judge_id not in machines)
    for item_id, count in sorted(taken.items()):
        session.execute(update(PoolItem).where(PoolItem.id == item_id).values(taken=PoolItem.taken - count))
    return len(held)
