"""Who is to look at what, and what they said. Judgements are appended: the latest of a judge counts, all are kept."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

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

from annotator.storage.accounts import User
from annotator.storage.collection import ACCEPTED, Topic
from annotator.storage.columns import Base
from annotator.storage.documents import Document, chunks
from annotator.storage.pools import PoolItem

# For how long a judge holds a document; each document they judge renews it.
LEASE = timedelta(minutes=30)


class AssignmentState(StrEnum):
    """Where an assignment is: in a judge's hands, judged, or given back to the queue."""

    LIVE = "live"
    DONE = "done"
    RETURNED = "returned"


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
            sqlite_where=text("state <> 'returned'"),
            postgresql_where=text("state <> 'returned'"),
        ),
        Index("ix_assignment_judge", "judge_id", "state"),
        Index(
            "ix_assignment_lease",
            "lease_until",
            sqlite_where=text("state = 'live'"),
            postgresql_where=text("state = 'live'"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"))
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    state: Mapped[str]
    drawn_at: Mapped[datetime]
    lease_until: Mapped[datetime]


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
    # Whether the lease had already gone to somebody else.
    late: Mapped[bool] = mapped_column(default=False)
    # Whether this is the judge's latest word on the item.
    current: Mapped[bool] = mapped_column(default=True)
    replaces_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))


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


class GradeRow(NamedTuple):
    """A judge's present grade of a pool item."""

    pool_item_id: int
    topic_id: int
    document_id: int
    judge: str
    grade: int


def current_grades(session: Session, collection_id: int, judge: str | None = None) -> list[GradeRow]:
    """Every judge's present grades of accepted topics, or one judge's; what could not be judged is not among them."""
    statement = (
        select(Judgement.pool_item_id, PoolItem.topic_id, PoolItem.document_id, User.name, Judgement.grade)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(User, User.id == Judgement.judge_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.current, Judgement.grade.is_not(None))
    )
    if judge is not None:
        statement = statement.where(User.name == judge)
    return [
        GradeRow(item_id, topic_id, document_id, name, grade)
        for item_id, topic_id, document_id, name, grade in session.execute(statement)
        if grade is not None
    ]


def named_grades(session: Session, collection_id: int, judge: str | None = None) -> Iterator[tuple[str, str, int]]:
    """Topic number, docno and grade of every present judgement of accepted topics, from the tables by name."""
    statement = (
        select(Topic.number, Document.docno, Judgement.grade)
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.current, Judgement.grade.is_not(None))
    )
    if judge is not None:
        statement = statement.where(User.name == judge)
    for number, docno, grade in session.execute(statement):
        if grade is not None:
            yield number, docno, grade


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
