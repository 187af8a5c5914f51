"""Who is to look at what, and what they said. Judgements are appended: the latest of a judge counts, all are kept."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    UniqueConstraint,
    exists,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.columns import Base
from annotator.storage.documents import chunks
from annotator.storage.pools import PoolItem

# For how long a judge holds a document; each document they judge renews it.
LEASE = timedelta(minutes=30)


class AssignmentState(StrEnum):
    """Where an assignment is: in a judge's hands, put off by them, judged, or given back to the queue."""

    LIVE = "live"
    LATER = "later"
    DONE = "done"
    RETURNED = "returned"


class Purpose(StrEnum):
    """Why a judge was given a document; they cannot tell."""

    FIRST = "first"
    # Beyond the judgements that every item of the topic wants.
    OVERLAP = "overlap"
    COMMON = "common"
    TEST = "test"
    # The judge's own document once more, for self-agreement: what is said of it replaces nothing.
    RE_SHOWN = "re-shown"
    # Nobody was shown it: it carries the judgement of an item with the same text.
    CARRIED = "carried"


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
            "ix_assignment_lease",
            "lease_until",
            sqlite_where=text("state IN ('live', 'later')"),
            postgresql_where=text("state IN ('live', 'later')"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    state: Mapped[str]
    purpose: Mapped[str] = mapped_column(default=Purpose.FIRST)
    drawn_at: Mapped[datetime]
    lease_until: Mapped[datetime]
    # When the judge last said “later”; it stays known after the document has gone back.
    put_off_at: Mapped[datetime | None]


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
        Index("ix_judgement_judge", "judge_id", "current"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Made where the judgement was made, so that it is stored once however often it arrives.
    client_id: Mapped[str] = mapped_column(unique=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignment.id"))
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


class LabelFile(Base):
    """A file of labels that was taken in, so that the same one again never undoes what its judge changed since."""

    __tablename__ = "label_file"
    __table_args__ = (UniqueConstraint("collection_id", "judge_id", "checksum"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    name: Mapped[str]
    checksum: Mapped[str]
    imported_at: Mapped[datetime]


@dataclass(frozen=True)
class Decision:
    """What a judge said of a document: a grade, or why it cannot be judged."""

    grade: int | None
    cannot_judge: CannotJudge | None = None
    note: str = ""
    seconds: float | None = None

    @classmethod
    def of(cls, judgement: Judgement) -> "Decision":
        """The decision a stored judgement holds."""
        reason = CannotJudge(judgement.cannot_judge) if judgement.cannot_judge else None
        return cls(judgement.grade, reason, judgement.note, judgement.seconds)


def judged_items(judge_id: int) -> Select[int]:
    """The pool items this judge has judged."""
    return select(Judgement.pool_item_id).where(Judgement.judge_id == judge_id, Judgement.current)


def held_items(judge_id: int) -> Select[int]:
    """The pool items in this judge's hands."""
    return select(Assignment.pool_item_id).where(
        Assignment.judge_id == judge_id, Assignment.state == AssignmentState.LIVE
    )


def free_items(judge_id: int) -> Select[int]:
    """The pool items that still want a judge and that this one neither holds nor has judged."""
    has_it = exists().where(
        Assignment.pool_item_id == PoolItem.id,
        Assignment.judge_id == judge_id,
        Assignment.state != AssignmentState.RETURNED,
    )
    return select(PoolItem.id).where(PoolItem.taken < PoolItem.judgements_wanted, ~has_it)


def current_judgement(session: Session, pool_item_id: int, judge_id: int) -> Judgement | None:
    """The judge's latest word on an item."""
    return session.scalar(
        select(Judgement).where(
            Judgement.pool_item_id == pool_item_id, Judgement.judge_id == judge_id, Judgement.current
        )
    )


def lend(session: Session, pool_item_ids: Sequence[int], judge_id: int, now: datetime) -> None:
    """Put items into a judge's hands, of which the caller knows that they may have them."""
    session.execute(
        insert(Assignment),
        [
            {
                "pool_item_id": item_id,
                "judge_id": judge_id,
                "state": AssignmentState.LIVE,
                "drawn_at": now,
                "lease_until": now + LEASE,
            }
            for item_id in pool_item_ids
        ],
    )
    session.execute(update(PoolItem).where(PoolItem.id.in_(pool_item_ids)).values(taken=PoolItem.taken + 1))


def give_back(session: Session, *conditions: ColumnElement[bool]) -> int:
    """Return the live assignments that fit to the queue and count them; their items want a judge again."""
    # In one order for everybody, so that two who give back at once wait for each other and not both for ever.
    live = session.scalars(
        select(Assignment)
        .where(Assignment.state == AssignmentState.LIVE, *conditions)
        .order_by(Assignment.pool_item_id, Assignment.id)
        .with_for_update()
    ).all()
    for assignment in live:
        assignment.state = AssignmentState.RETURNED
    session.flush()
    # An item that comes back from two judges counts down twice.
    for item_id, count in sorted(Counter(assignment.pool_item_id for assignment in live).items()):
        session.execute(update(PoolItem).where(PoolItem.id == item_id).values(taken=PoolItem.taken - count))
    return len(live)


def judged_topic_ids(session: Session, ids: Sequence[int]) -> set[int]:
    """Those of the topics of which anything was ever judged, replaced judgements included."""
    statement = select(PoolItem.topic_id).where(exists().where(Judgement.pool_item_id == PoolItem.id)).distinct()
    return {
        topic_id
        for chunk in chunks(list(ids))
        for topic_id in session.scalars(statement.where(PoolItem.topic_id.in_(chunk)))
    }


def reopen_for_text(session: Session, document_ids: Sequence[int]) -> None:
    """Put back into the queue what could not be judged for want of a text; what was said stays in the history."""
    without_text = (
        select(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(Judgement.current, Judgement.cannot_judge == CannotJudge.NO_TEXT)
    )
    for chunk in chunks(list(document_ids)):
        for judgement in session.scalars(without_text.where(PoolItem.document_id.in_(chunk))).all():
            judgement.current = False
            session.get_one(Assignment, judgement.assignment_id).state = AssignmentState.RETURNED
            session.get_one(PoolItem, judgement.pool_item_id).taken -= 1
