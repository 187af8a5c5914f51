"""Storage of labels from a file as the judgements of one judge."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage.documents.documents import ROWS_AT_ONCE
from annotator.storage.judging.duplicates import SHOWN, carry_over_all, forget_loaded
from annotator.storage.judging.eligibility import assignments_of
from annotator.storage.judging.judgement_writing import JudgedAtOnce, append_at_once, append_folded
from annotator.storage.site.bulk_insert import (
    FoldedRows,
    chunks,
    driver_value,
    fetch_rows,
    fold_rows,
    ids_as_rows,
    insert_alike,
    insert_folded,
    next_ids,
)
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.judging import (
    ASSIGNMENTS,
    DECIDES,
    HELD,
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    Purpose,
)
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic
from annotator.storage.topics.revisions import raise_topics

# A machine's label that is not a grade is stored in the note of a judgement without a grade.
OUTSIDE_SCALE = "Outside the scale: "


class NewLabel(NamedTuple):
    """A label to store, and its unique client id; without a grade the note has the label."""

    client_id: str
    grade: int | None
    note: str = ""


class PooledLabel(NamedTuple):
    """A grade of a pooled document, and its line in the file."""

    line: int
    item: int
    grade: int


class PreparedLabels(NamedTuple):
    """Labels of pooled documents as rows for SQLite, for a judge who was never given a document."""

    items: tuple[int, ...]
    topics: tuple[int, ...]
    assignments: FoldedRows
    judgements: FoldedRows


@dataclass(frozen=True)
class ImportedLabel:
    """The judge's current label of an item, or one that was carried over to it."""

    judgement_id: int
    grade: int | None
    note: str
    is_carried: bool

    def is_own(self, label: NewLabel) -> bool:
        """Whether the judge gave this label to the item itself."""
        is_same = self.grade == label.grade and (label.grade is not None or self.note == label.note)
        return is_same and not self.is_carried


def current_labels(
    session: Session, collection_id: int, judge_id: int, topic_ids: Sequence[int] | None = None
) -> dict[int, ImportedLabel]:
    """Item id → the judge's current label, in a collection or in some of its topics."""
    labels = (
        select(Judgement.pool_item_id, Judgement.id, Judgement.grade, Judgement.note, ~SHOWN)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Judgement.judge_id == judge_id, Judgement.current)
    )
    several = [labels] if topic_ids is None else [labels.where(Topic.id.in_(some)) for some in chunks(list(topic_ids))]
    return {
        item: ImportedLabel(id_, grade, note, bool(is_carried))
        for one in several
        for item, id_, grade, note, is_carried in fetch_rows(session, one)
    }


def given_to_decide(session: Session, collection_id: int, judge_id: int) -> set[tuple[int, int]]:
    """(topic id, document id) of everything that this judge was ever assigned as an adjudicator in a collection."""
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
    current: Mapping[int, ImportedLabel],
    judged_at: datetime,
    *,
    topics: Collection[int] | None = None,
    takes_place: bool = True,
) -> None:
    """Append labels (item id → label), replacing `current` ones, and carry them over to duplicates.

    `topics` are those of the items, where the caller knows them. Without `takes_place` the judgements do not count
    toward the items' wanted judgements.
    """
    assignments = _assignments(session, collection_id, judge_id, list(new), judged_at, takes_place=takes_place)
    if not new:
        return
    if topics is None:
        of_items = select(PoolItem.topic_id).where(PoolItem.id.in_(ids_as_rows(session, sorted(new)))).distinct()
        topics = session.scalars(of_items).all()
    raise_topics(session, topics)
    append_at_once(
        session,
        judge_id,
        judged_at,
        [
            JudgedAtOnce(
                *(client_id, assignments[item], item, grade, CannotJudge.OTHER.value if grade is None else None, note),
                current[item].judgement_id if item in current else None,
            )
            for item, (client_id, grade, note) in new.items()
        ],
    )
    carry_over_all(session, judge_id, topics)


def prepare_labels(session: Session, labels: Sequence[PooledLabel], topics: Collection[int]) -> PreparedLabels | None:
    """Make the rows of labels, of items in these topics, before SQLite's lock is taken; None on PostgreSQL.

    None without labels, too, and when an item has several.
    """
    items = tuple(label.item for label in labels)
    if not has_one_writer(session) or not items or len(set(items)) < len(items):
        return None
    assignments = fold_rows(("id", "pool_item_id"), enumerate(items), at_once=ROWS_AT_ONCE)
    rows = ((label.line, place, label.item, label.grade) for place, label in enumerate(labels))
    columns = ("client_id", "assignment_id", "pool_item_id", "grade")
    judgements = fold_rows(columns, rows, at_once=ROWS_AT_ONCE)
    return PreparedLabels(items, tuple(sorted(topics)), assignments, judgements)


def append_prepared(
    session: Session, judge_id: int, prepared: PreparedLabels, judged_at: datetime, *, client_ids: str
) -> bool:
    """Append labels as `append_labels` does, if the judge was never given a document; returns whether it was done.

    The client id of a label is its line behind `client_ids`.
    """
    if session.scalar(select(Assignment.id).where(Assignment.judge_id == judge_id).limit(1)) is not None:
        return False
    first = next_ids(session, ASSIGNMENTS, len(prepared.items))[0]
    done = {"judge_id": judge_id, **_done_at(session, judged_at)}
    insert_folded(session, ASSIGNMENTS, prepared.assignments, same=done, before={"id": first})
    _take(session, prepared.items)
    raise_topics(session, prepared.topics)
    append_folded(session, judge_id, judged_at, prepared.judgements, client_ids=client_ids, first_assignment=first)
    carry_over_all(session, judge_id, prepared.topics)
    return True


def _done_at(session: Session, now: datetime) -> dict[str, object]:
    """The columns of an assignment that is completed as it is made."""
    at = driver_value(session, ASSIGNMENTS.c.drawn_at, now)
    return {"state": AssignmentState.DONE.value, "purpose": Purpose.FIRST.value, "drawn_at": at, "lease_until": at}


def _assignments(
    session: Session, collection_id: int, judge_id: int, items: Sequence[int], now: datetime, *, takes_place: bool
) -> dict[int, int]:
    """Item id → the judge's completed assignment, created where there is none."""
    # Lock the held assignments, so that nobody returns them meanwhile, as signing out does.
    own = select(Assignment.id).where(Assignment.judge_id == judge_id, Assignment.state.in_(HELD))
    session.execute(own.order_by(Assignment.pool_item_id, Assignment.id).with_for_update()).all()
    held = assignments_of(session, collection_id, judge_id)
    missing = [item for item in items if item not in held]
    # Ids that are assigned beforehand need not be read back.
    added = dict(zip(missing, next_ids(session, ASSIGNMENTS, len(missing)), strict=True))
    if missing:
        columns, same = ("pool_item_id", "id"), {"judge_id": judge_id, **_done_at(session, now)}
        insert_alike(session, ASSIGNMENTS, columns, added.items(), same=same, at_once=ROWS_AT_ONCE)
        _take(session, missing if takes_place else [])
    for chunk in chunks([held[item] for item in items if item in held]):
        carried = Assignment.id.in_(chunk) & (Assignment.purpose == Purpose.CARRIED)
        _take(session, session.scalars(select(Assignment.pool_item_id).where(carried)).all() if takes_place else [])
        session.execute(update(Assignment).where(carried).values(purpose=Purpose.FIRST))
        session.execute(update(Assignment).where(Assignment.id.in_(chunk)).values(state=AssignmentState.DONE))
    return held | added


def _take(session: Session, items: Sequence[int]) -> None:
    if items:
        taken = update(PoolItem).where(PoolItem.id.in_(ids_as_rows(session, items)))
        session.execute(taken.values(taken=PoolItem.taken + 1).execution_options(synchronize_session=False))
        forget_loaded(session)
