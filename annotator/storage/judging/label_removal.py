"""Undoing an import of labels, and putting it back: what changes is computed without a lock, and changed under it.

Undoing makes the replaced judgements current again, and the items want judges again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Select, Table, and_, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.collections.removal import KeptRows, Removal, SavedRows, is_among, keep_rows
from annotator.storage.judging.foreseen_marks import MarksThen, OtherTaken, foresee_taken
from annotator.storage.pools.pools import PoolState, pool_state
from annotator.storage.site.bulk_insert import fetch_rows, ids_as_rows
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import (
    OF_A_FILE,
    TAKES_NO_PLACE,
    Assignment,
    AssignmentState,
    Judgement,
    LabelFile,
    MachineLabels,
)
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import EVERYBODY, Topic, TopicRevision
from annotator.storage.topics.revisions import give_to_everybody

JUDGEMENTS, ASSIGNMENTS, FILES, MACHINE_LABELS, ITEMS = (
    cast("Table", model.__table__) for model in (Judgement, Assignment, LabelFile, MachineLabels, PoolItem)
)
# What `prepare_return` has to know of saved assignments.
OF_ASSIGNMENTS = tuple(ASSIGNMENTS.c[name] for name in ("pool_item_id", "judge_id", "state", "purpose"))


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


class StateOfLabels(NamedTuple):
    """While it is equal, an import has the same judgements, in the same rows.

    The kind of its judge, and the revisions of its topics that changes by the judge or by others than judges raise.
    """

    judge: str
    revisions: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class LabelRelease:
    """What the removal of an import takes out and changes, while its labels have this state."""

    file_id: int
    judge_id: int
    labels: ImportedLabels
    state: StateOfLabels
    heirs: Mapping[int, int]
    current: frozenset[int]
    kept: Mapping[Table, KeptRows]
    places: tuple[int, ...]  # items that have one taken judgement less afterwards
    marks: MarksThen

    def holds(self, session: Session) -> bool:
        """Whether nothing of it has changed since it was read."""
        judge = session.scalar(select(LabelFile.judge_id).where(LabelFile.id == self.file_id))
        if judge is None or self.state != _state_of(session, judge, self.labels.topics):
            return False
        alone = self.kept[ASSIGNMENTS].ids if ASSIGNMENTS in self.kept else ()
        return not alone or _count_done(session, alone) == len(alone)


def prepare_release(session: Session, file: LabelFile) -> LabelRelease:
    """Read what `release_labels` takes out and changes; nearly all of the work, and it needs no lock."""
    labels = imported_labels(session, file)
    state = _state_of(session, file.judge_id, labels.topics)
    heirs, current = _after_them(session, file.judge_id, labels.all_ids)
    gone = sorted(labels.all_ids)
    alone = _only_for_them(session, gone) if gone else []
    rows = {JUDGEMENTS: gone, ASSIGNMENTS: alone}
    kept = {table: keep_rows(session, table, ids) for table, ids in rows.items() if ids}
    places = tuple(id_ for (id_,) in fetch_rows(session, _places(session, alone))) if alone else ()
    collection = session.get_one(Collection, file.collection_id)
    marks = foresee_taken(session, collection, labels.topics, OtherTaken(places, -1))
    return LabelRelease(file.id, file.judge_id, labels, state, heirs, frozenset(current), kept, places, marks)


def release_labels(session: Session, removal: Removal, release: LabelRelease) -> None:
    """Remove the labels; the judge's earlier judgements become current again, and later ones stay."""
    roots: dict[Table, ColumnElement[bool]] = {
        MACHINE_LABELS: MACHINE_LABELS.c.label_file_id == release.file_id,
        FILES: FILES.c.id == release.file_id,
    }
    removal.take_out(roots, release.kept)
    for later, earlier in sorted(release.heirs.items()):
        removal.change(JUDGEMENTS.c.replaces_id, JUDGEMENTS.c.id == later, earlier)
    if release.current:
        removal.change(JUDGEMENTS.c.current, is_among(session, JUDGEMENTS.c.id, sorted(release.current)), value=True)
    take_places(session, release.places, -1)
    if release.labels.carried:
        give_to_everybody(session, release.labels.topics, release.judge_id)


def take_places(session: Session, items: Sequence[int], more: int) -> None:
    """Add this number to `taken` of the items."""
    if items:
        changed = update(ITEMS).where(is_among(session, ITEMS.c.id, items)).values(taken=ITEMS.c.taken + more)
        session.connection().execute(changed)


@dataclass(frozen=True, eq=False)
class LabelReturn:
    """What putting the labels of an import back changes beside their rows, while the pool has this state."""

    state: PoolState
    persons: frozenset[int]  # of the judges of the assignments
    judges: frozenset[int]
    places: tuple[int, ...]  # items that have one taken judgement more afterwards
    marks: MarksThen

    def holds(self, session: Session, collection_id: int) -> bool:
        """Whether nothing of it has changed since it was read."""
        return self.state == pool_state(session, collection_id) and self.persons == _persons(session, self.judges)


def prepare_return(session: Session, collection: Collection, saved: SavedRows) -> LabelReturn | None:
    """Compute what putting labels back changes; `saved` has the values of `OF_ASSIGNMENTS`, and is of an import.

    None if documents of the pool come back with them.
    """
    if ITEMS in saved.tables:
        return None
    judges = frozenset(judge_id for _, judge_id, _, _ in saved.values)
    persons = _persons(session, judges)
    places = sorted(
        item
        for item, judge_id, state, purpose in saved.values
        if judge_id in persons and state != AssignmentState.RETURNED and purpose not in TAKES_NO_PLACE
    )
    marks = foresee_taken(session, collection, saved.topics(session), OtherTaken(places, 1))
    return LabelReturn(pool_state(session, collection.id), persons, judges, tuple(places), marks)


def _persons(session: Session, judges: frozenset[int]) -> frozenset[int]:
    return frozenset(session.scalars(select(User.id).where(User.id.in_(judges), User.kind == UserKind.PERSON)))


def _places(session: Session, assignments: Sequence[int]) -> Select[int]:
    """The items of those of the assignments that are counted in `taken`, in their order."""
    return (
        select(Assignment.pool_item_id)
        .join(User, User.id == Assignment.judge_id)
        .where(
            is_among(session, ASSIGNMENTS.c.id, assignments),
            Assignment.state != AssignmentState.RETURNED,
            Assignment.purpose.not_in(TAKES_NO_PLACE),
            User.kind == UserKind.PERSON,
        )
        .order_by(Assignment.pool_item_id)
    )


def _count_done(session: Session, assignments: Sequence[int]) -> int:
    """How many of the assignments are completed: those that are not may change, without a judgement."""
    done = is_among(session, ASSIGNMENTS.c.id, assignments), Assignment.state == AssignmentState.DONE
    return session.scalars(select(func.count()).where(*done)).one()


def _state_of(session: Session, judge_id: int, topic_ids: Sequence[int]) -> StateOfLabels:
    of_topics = TopicRevision.topic_id.in_(ids_as_rows(session, topic_ids))
    parts = select(TopicRevision.topic_id, TopicRevision.judge_id, TopicRevision.revision).where(
        and_(of_topics, or_(TopicRevision.judge_id == judge_id, TopicRevision.judge_id == EVERYBODY))
    )
    kind = session.scalars(select(User.kind).where(User.id == judge_id)).one()
    return StateOfLabels(kind, tuple(sorted(map(tuple, fetch_rows(session, parts)))))


def _only_for_them(session: Session, gone: Sequence[int]) -> list[int]:
    """The assignments that have no other judgements than these, sorted."""
    with_them = select(Judgement.assignment_id).where(is_among(session, JUDGEMENTS.c.id, gone))
    assignments = sorted({id_ for (id_,) in fetch_rows(session, with_them)})
    of_them = select(Judgement.id, Judgement.assignment_id)
    of_them = of_them.where(is_among(session, JUDGEMENTS.c.assignment_id, assignments))
    gone_ids = set(gone)
    kept = {assignment for id_, assignment in fetch_rows(session, of_them) if id_ not in gone_ids}
    return [id_ for id_ in assignments if id_ not in kept]


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
