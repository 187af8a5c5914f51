"""Removal of judgements: counts shown before items are deleted, and undoing an import of labels.

Undoing makes the replaced judgements current again, and the items want judges again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import ColumnElement, Select, Table, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.collections.removal import Removal, is_among
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.site.bulk_insert import chunks, fetch_rows
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
    """The stored judgements of an import; an archive keeps client ids, but the numbers before the checksum may differ.

    With them go those that were carried over from them.
    """
    of_file = (
        select(Judgement.id, PoolItem.topic_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(
            Judgement.judge_id == file.judge_id,
            Judgement.client_id.like(f"{OF_A_FILE}%-{file.checksum[:24]}-%"),
            Judgement.carried_from_id.is_(None),
            Topic.collection_id == file.collection_id,
        )
    )
    own = fetch_rows(session, of_file)
    carried = []
    if own:
        items = select(Judgement.id, PoolItem.topic_id).join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        from_them = is_among(session, JUDGEMENTS.c.carried_from_id, [id_ for id_, _ in own])
        carried = fetch_rows(session, items.where(from_them))
    packed = session.scalars(select(MachineLabels.topic_id).where(MachineLabels.label_file_id == file.id)).all()
    topics = sorted({*(topic for _, topic in (*own, *carried)), *packed})
    return ImportedLabels(frozenset(id_ for id_, _ in own), frozenset(id_ for id_, _ in carried), tuple(topics))


def release_labels(session: Session, removal: Removal, file: LabelFile, labels: ImportedLabels) -> None:
    """Remove the labels; the judge's earlier judgements become current again, and later ones stay."""
    gone = sorted(labels.all_ids)
    heirs, current = _after_them(session, file.judge_id, labels.all_ids)
    roots: dict[Table, ColumnElement[bool]] = {
        MACHINE_LABELS: MACHINE_LABELS.c.label_file_id == file.id,
        FILES: FILES.c.id == file.id,
    }
    if gone:
        roots[JUDGEMENTS] = is_among(session, JUDGEMENTS.c.id, gone)
        lone = _only_for_them(session, gone)
        if lone:
            roots[ASSIGNMENTS] = is_among(session, ASSIGNMENTS.c.id, lone)
    removal.take_out(roots)
    for later, earlier in sorted(heirs.items()):
        removal.change(JUDGEMENTS.c.replaces_id, JUDGEMENTS.c.id == later, earlier)
    if current:
        removal.change(JUDGEMENTS.c.current, is_among(session, JUDGEMENTS.c.id, sorted(current)), value=True)
    recount_taken(session, labels.topics)


def _only_for_them(session: Session, gone: Sequence[int]) -> list[int]:
    """The assignments that have no other judgements than these, sorted."""
    with_them = select(Judgement.assignment_id).where(is_among(session, JUDGEMENTS.c.id, gone))
    assignments = sorted({id_ for (id_,) in fetch_rows(session, with_them)})
    of_them = select(Judgement.id, Judgement.assignment_id)
    of_them = of_them.where(is_among(session, JUDGEMENTS.c.assignment_id, assignments))
    gone_ids = set(gone)
    kept = {assignment for id_, assignment in fetch_rows(session, of_them) if id_ not in gone_ids}
    return [id_ for id_ in assignments if id_ not in kept]


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


def _after_them(session: Session, judge_id: int, gone: frozenset[int]) -> tuple[dict[int, int], set[int]]:
    """Later judgement → the one that it replaces after the removal; and ids that become current again."""
    if not gone:
        return {}, set()
    # Those that are carried over from labels are of the same judge.
    items = select(Judgement.pool_item_id).where(is_among(session, JUDGEMENTS.c.id, sorted(gone)))
    of_judge = select(Judgement.id, Judgement.replaces_id, Judgement.current).where(
        Judgement.judge_id == judge_id, Judgement.pool_item_id.in_(items)
    )
    rows = fetch_rows(session, of_judge)
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
