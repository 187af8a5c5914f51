"""Removal of judgements: counts shown before items are deleted, and undoing an import of labels.

Undoing makes the replaced judgements current again, and the items want judges again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import ColumnElement, Select, Table, and_, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from annotator.errors import ConflictError
from annotator.storage.collections.removal import Removal
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import (
    OF_A_FILE,
    TAKES_NO_PLACE,
    Assignment,
    AssignmentState,
    Judgement,
    LabelFile,
    MachineLabels,
    Purpose,
)
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

JUDGEMENTS, ASSIGNMENTS, FILES, MACHINE_LABELS = (
    cast("Table", model.__table__) for model in (Judgement, Assignment, LabelFile, MachineLabels)
)


@dataclass(frozen=True)
class ImportedLabels:
    """Judgement ids of an import, ids of those carried over from them, and ids of their topics."""

    own: frozenset[int]
    carried: frozenset[int]
    topics: tuple[int, ...]

    @property
    def all_ids(self) -> frozenset[int]:
        """Own and carried judgement ids."""
        return self.own | self.carried


def imported_labels(session: Session, file: LabelFile) -> ImportedLabels:
    """The stored judgements of an import."""
    own = frozenset(session.scalars(select(Judgement.id).where(_of_file(file))))
    carried = select(Judgement.id).where(Judgement.carried_from_id.in_(select(Judgement.id).where(_of_file(file))))
    items = select(Judgement.pool_item_id).where(_goes(file))
    packed = select(MachineLabels.topic_id).where(MachineLabels.label_file_id == file.id)
    topics = set(session.scalars(select(PoolItem.topic_id).where(PoolItem.id.in_(items)).union(packed)))
    return ImportedLabels(own, frozenset(session.scalars(carried)), tuple(sorted(topics)))


def release_labels(session: Session, removal: Removal, file: LabelFile, labels: ImportedLabels) -> None:
    """Remove the labels; the judge's earlier judgements become current again, and later ones stay."""
    heirs, current = _after_them(session, file, labels.all_ids)
    other = aliased(Judgement)
    lone = ~select(other.id).where(other.assignment_id == ASSIGNMENTS.c.id, ~_goes(file, other)).exists()
    with_labels = ASSIGNMENTS.c.id.in_(select(Judgement.assignment_id).where(_goes(file)))
    removal.take_out(
        {
            ASSIGNMENTS: and_(with_labels, lone),
            JUDGEMENTS: JUDGEMENTS.c.id.in_(select(Judgement.id).where(_goes(file))),
            MACHINE_LABELS: MACHINE_LABELS.c.label_file_id == file.id,
            FILES: FILES.c.id == file.id,
        }
    )
    for later, earlier in sorted(heirs.items()):
        removal.change(JUDGEMENTS.c.replaces_id, JUDGEMENTS.c.id == later, earlier)
    for some in chunks(sorted(current)):
        removal.change(JUDGEMENTS.c.current, JUDGEMENTS.c.id.in_(some), value=True)
    recount_taken(session, labels.topics)


def recount_taken(session: Session, topic_ids: Sequence[int]) -> None:
    """Recompute `taken` of all pool items of these topics."""
    person = select(User.id).where(User.kind == UserKind.PERSON)
    places = (
        select(func.count(Assignment.id))
        .where(
            Assignment.pool_item_id == PoolItem.id,
            Assignment.state != AssignmentState.RETURNED,
            Assignment.purpose.not_in(TAKES_NO_PLACE),
            Assignment.judge_id.in_(person),
        )
        .scalar_subquery()
    )
    for some in chunks(list(topic_ids)):
        session.execute(
            update(PoolItem).where(PoolItem.topic_id.in_(some), PoolItem.taken != places).values(taken=places),
            execution_options={"synchronize_session": False},
        )


def _after_them(session: Session, file: LabelFile, gone: frozenset[int]) -> tuple[dict[int, int], set[int]]:
    """Later judgement → the one that it replaces after the removal; and ids that become current again."""
    of_judge = select(Judgement.id, Judgement.replaces_id, Judgement.current).where(
        Judgement.judge_id == file.judge_id,
        Judgement.pool_item_id.in_(select(Judgement.pool_item_id).where(_goes(file))),
    )
    rows = session.execute(of_judge).all()
    replaces = {id_: earlier for id_, earlier, _ in rows}

    def before(id_: int | None) -> int | None:
        while id_ in gone:
            id_ = replaces[id_]
        return id_

    heirs = {
        id_: earlier
        for id_, replaced, _ in rows
        if id_ not in gone and replaced in gone and (earlier := before(replaced)) is not None
    }
    current = {earlier for id_, _, counts in rows if counts and id_ in gone and (earlier := before(id_)) is not None}
    return heirs, current


def _of_file(file: LabelFile, judgement: type[Judgement] = Judgement) -> ColumnElement[bool]:
    """Condition: client ids of the import; an archive keeps them, but the numbers before the checksum may differ."""
    pooled = select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id)
    return and_(
        judgement.judge_id == file.judge_id,
        judgement.client_id.like(f"{OF_A_FILE}%-{file.checksum[:24]}-%"),
        judgement.carried_from_id.is_(None),
        judgement.pool_item_id.in_(pooled.where(Topic.collection_id == file.collection_id)),
    )


def _goes(file: LabelFile, judgement: type[Judgement] = Judgement) -> ColumnElement[bool]:
    original = aliased(Judgement)
    carried = judgement.carried_from_id.in_(select(original.id).where(_of_file(file, original)))
    # Never NULL, since the condition is also negated.
    return or_(_of_file(file, judgement), and_(judgement.carried_from_id.is_not(None), carried))


def items_of(condition: ColumnElement[bool]) -> Select[int]:
    """Pool items whose topic or own columns satisfy the condition."""
    return select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(condition)


def counts_of_items(session: Session, items: Select[int]) -> dict[str, int]:
    """Numbers of pooled documents, of judgements (replaced ones included) and of judges."""
    judged = Judgement.pool_item_id.in_(items), SHOWN
    judges = session.scalar(select(func.count(Judgement.judge_id.distinct())).where(*judged)) or 0
    judgements = count_rows(session, select(Judgement.id).where(*judged))
    return {"documents": count_rows(session, items), "judgements": judgements, "judges": judges}


def held_items_since(since: datetime) -> Select[int]:
    """Items that somebody holds, or held until after `since`."""
    return select(Assignment.pool_item_id).where(
        Assignment.state != AssignmentState.DONE, Assignment.purpose != Purpose.CARRIED, Assignment.lease_until > since
    )


def count_in_hand(session: Session, items: Select[int], since: datetime) -> int:
    """Number of items that somebody holds, or held until after `since`."""
    # Few assignments are held: looking up their items takes a fraction of listing all items.
    is_one = items.where(PoolItem.id == Assignment.pool_item_id).correlate(Assignment).exists()
    return len(session.scalars(held_items_since(since).where(is_one).distinct()).all())


def refuse_in_hand(session: Session, items: Select[int], since: datetime) -> None:
    """Raise `ConflictError` when somebody holds one of the items, or held it until after `since`."""
    count = count_in_hand(session, items, since)
    if count:
        raise ConflictError(
            "Documents held by judges, or recently released and still open to them: %(count)d. Try again later.",
            count=count,
        )


def count_rows(session: Session, rows: Select[int]) -> int:
    """Number of rows that a query returns."""
    return session.scalars(select(func.count()).select_from(rows.subquery())).one()
