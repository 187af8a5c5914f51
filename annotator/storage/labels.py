"""Labels from a file as the judgements of one judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ForeignKey, UniqueConstraint, insert, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.collection import Topic
from annotator.storage.columns import Base
from annotator.storage.conditions import DECIDES
from annotator.storage.documents import chunks
from annotator.storage.duplicates import SHOWN, carry_over_all
from annotator.storage.judge_queue import assignments_of
from annotator.storage.judging import HELD, Assignment, AssignmentState, CannotJudge, Judgement, Purpose
from annotator.storage.pools import PoolItem
from annotator.storage.revisions import raise_revisions

# What a machine says that is no grade is kept in the note of a judgement without one.
OUTSIDE_SCALE = "Outside the scale: "


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


class NewLabel(NamedTuple):
    """A label that says something new, and the id under which it is stored once; without a grade the note says what."""

    client_id: str
    grade: int | None
    note: str = ""


@dataclass(frozen=True)
class Said:
    """The judge's present word on an item, or what was carried over to it."""

    judgement_id: int
    grade: int | None
    note: str
    is_carried: bool

    def is_own(self, label: NewLabel) -> bool:
        """Whether the judge said this of the item itself."""
        is_same = self.grade == label.grade and (label.grade is not None or self.note == label.note)
        return is_same and not self.is_carried


def said_by(session: Session, collection_id: int, judge_id: int) -> dict[int, Said]:
    """Item → what this judge says of it now, in a collection."""
    rows = session.execute(
        select(Judgement.pool_item_id, Judgement.id, Judgement.grade, Judgement.note, ~SHOWN)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Judgement.judge_id == judge_id, Judgement.current)
    )
    return {item: Said(id_, grade, note, bool(is_carried)) for item, id_, grade, note, is_carried in rows}


def given_to_decide(session: Session, collection_id: int, judge_id: int) -> set[tuple[int, int]]:
    """(topic id, document id) of what this judge was ever given as an adjudicator, in a collection."""
    rows = session.execute(
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Assignment.judge_id == judge_id, DECIDES)
    )
    return {(topic_id, document_id) for topic_id, document_id in rows}


def append_labels(
    session: Session,
    collection_id: int,
    judge_id: int,
    new: Mapping[int, NewLabel],
    said: Mapping[int, Said],
    judged_at: datetime,
    *,
    takes_place: bool = True,
) -> None:
    """Append labels (item → label) and carry them over to documents with the same text; what was `said` is replaced.

    Each is one of the judgements that its item wants, unless it `takes_place` of none.
    """
    assignments = _assignments(session, collection_id, judge_id, list(new), judged_at, takes_place=takes_place)
    replaced = {item: said[item].judgement_id for item in new if item in said}
    for chunk in chunks(list(replaced.values())):
        session.execute(update(Judgement).where(Judgement.id.in_(chunk)).values(current=False))
    rows = [
        {
            "client_id": label.client_id,
            "assignment_id": assignments[item],
            "pool_item_id": item,
            "judge_id": judge_id,
            "grade": label.grade,
            "cannot_judge": CannotJudge.OTHER if label.grade is None else None,
            "note": label.note,
            "judged_at": judged_at,
            "received_at": judged_at,
            "late": False,
            "current": True,
            "replaces_id": replaced.get(item),
        }
        for item, label in new.items()
    ]
    if rows:
        raise_revisions(session, new)
        session.execute(insert(Judgement), rows)
    carry_over_all(session, collection_id, judge_id)


def _assignments(
    session: Session, collection_id: int, judge_id: int, items: Sequence[int], now: datetime, *, takes_place: bool
) -> dict[int, int]:
    """Item → the judge's assignment, done; made for the items the judge does not hold."""
    # Nobody gives back meanwhile what is about to be done, as signing out does.
    own = select(Assignment.id).where(Assignment.judge_id == judge_id, Assignment.state.in_(HELD))
    session.execute(own.order_by(Assignment.pool_item_id, Assignment.id).with_for_update()).all()
    held = assignments_of(session, collection_id, judge_id)
    missing = [item for item in items if item not in held]
    done = {"judge_id": judge_id, "state": AssignmentState.DONE, "drawn_at": now, "lease_until": now}
    if missing:
        session.execute(insert(Assignment), [{"pool_item_id": item, **done} for item in missing])
        _take(session, missing if takes_place else [])
    for chunk in chunks([held[item] for item in items if item in held]):
        carried = Assignment.id.in_(chunk) & (Assignment.purpose == Purpose.CARRIED)
        _take(session, session.scalars(select(Assignment.pool_item_id).where(carried)).all() if takes_place else [])
        session.execute(update(Assignment).where(carried).values(purpose=Purpose.FIRST))
        session.execute(update(Assignment).where(Assignment.id.in_(chunk)).values(state=AssignmentState.DONE))
    return assignments_of(session, collection_id, judge_id)


def _take(session: Session, items: Sequence[int]) -> None:
    for chunk in chunks(list(items)):
        session.execute(update(PoolItem).where(PoolItem.id.in_(chunk)).values(taken=PoolItem.taken + 1))
