"""Documents of a topic with identical text: one is judged, and its judgements are carried over to the others.

The representative (standing) item is the one drawn or judged first, else a gold question, else the oldest. Duplicates
that a judge already holds, has judged or has labelled in a file keep their own judgements.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    String,
    Update,
    and_,
    bindparam,
    cast,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased

from annotator.storage.judging.judgement_writing import NewJudgement, append_judgements
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import HAS_IT, Assignment, AssignmentState, Judgement, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic
from annotator.storage.topics.revisions import raise_of_judges, raise_revisions

# Judgements by somebody to whom the document was shown.
SHOWN = Judgement.carried_from_id.is_(None)

# Columns that a carried judgement copies from its original.
CARRIED = ("judge_id", "grade", "cannot_judge", "guideline_version_id", "judged_at", "received_at", "late")

Duplicate = aliased(PoolItem)
Present = aliased(Judgement)


class _Item(NamedTuple):
    id: int
    taken: int
    known_grade: int | None
    duplicate_of_id: int | None
    first_drawn: int | None  # the first assignment of those held or done


def carry_over(session: Session, client_ids: Sequence[str]) -> None:
    """Carry these judgements over to the duplicates of their items, if they are current and not carried themselves.

    A duplicate that the judge has judged keeps that judgement.
    """
    _carry(session, Judgement.client_id.in_(client_ids))


def carry_over_all(session: Session, judge_id: int, topic_ids: Iterable[int]) -> None:
    """Carry over all current judgements of a judge for these topics."""
    for some in chunks(sorted(topic_ids)):
        _carry(session, Duplicate.topic_id.in_(some) & (Judgement.judge_id == judge_id))


def standing_item(session: Session, item_id: int) -> int:
    """The id of the representative of this item's duplicates, or the item's own id."""
    return session.scalars(select(PoolItem.duplicate_of_id).where(PoolItem.id == item_id)).one() or item_id


def settle_duplicates(session: Session, topic_ids: Sequence[int]) -> bool:
    """Update duplicates: release those whose text differs now, link new ones and carry over earlier judgements.

    Returns whether there are other duplicates now.
    """
    released = _no_duplicates_now(session, topic_ids)
    if released:
        _let_nobody_record(session, topic_ids)
        _release(session, released)
    links = {item: standing for group in _twins(session, topic_ids) for item, standing in _links(group)}
    if links:
        _let_nobody_record(session, topic_ids)
        _link(session, links)
        _carry(session, Duplicate.topic_id.in_(topic_ids))
    return bool(released or links)


def are_settled(session: Session, topic_ids: Sequence[int]) -> bool:
    """Whether `settle_duplicates` would change nothing but carry judgements over."""
    links = (link for group in _twins(session, topic_ids) for link in _links(group))
    return not _no_duplicates_now(session, topic_ids) and next(links, None) is None


def forget_loaded(session: Session) -> None:
    """Expire loaded pool items, which were changed by statements that bypass the session."""
    for item in session.identity_map.values():
        if isinstance(item, PoolItem):
            session.expire(item)


def _let_nobody_record(session: Session, topic_ids: Sequence[int]) -> None:
    """Lock these topics against new judgements until the transaction ends.

    A judgement stored meanwhile would miss a new duplicate, or be carried over to an item with another text.
    """
    topics = select(Topic.id).where(Topic.id.in_(topic_ids)).order_by(Topic.id)
    session.execute(topics.with_for_update())


def _no_duplicates_now(session: Session, topic_ids: Sequence[int]) -> Sequence[int]:
    """Ids of the duplicates whose text differs from their representative's."""
    standing, own, other = aliased(PoolItem), aliased(Document), aliased(Document)
    return session.scalars(
        select(PoolItem.id)
        .join(standing, standing.id == PoolItem.duplicate_of_id)
        .join(own, own.id == PoolItem.document_id)
        .join(other, other.id == standing.document_id)
        .where(PoolItem.topic_id.in_(topic_ids), own.text_hash.is_distinct_from(other.text_hash))
    ).all()


def _release(session: Session, duplicates: Sequence[int]) -> None:
    for some in chunks(list(duplicates)):
        _run(session, update(PoolItem).where(PoolItem.id.in_(some)).values(duplicate_of_id=None))
        carried = Judgement.pool_item_id.in_(some) & ~SHOWN & Judgement.current
        _run(session, update(Judgement).where(carried).values(current=False))
        shown_to_nobody = Assignment.pool_item_id.in_(some) & (Assignment.purpose == Purpose.CARRIED)
        _run(session, update(Assignment).where(shown_to_nobody).values(state=AssignmentState.RETURNED))
    raise_revisions(session, duplicates)
    forget_loaded(session)


def _twins(session: Session, topic_ids: Sequence[int]) -> Iterator[list[_Item]]:
    """Groups of two or more items of a topic with the same text."""
    # Grouping by hash reads all texts' rows once, the slow part; the few items in groups are looked up afterwards.
    several = session.scalars(
        select(func.aggregate_strings(cast(PoolItem.id, String), ","))
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.topic_id.in_(topic_ids), Document.text_hash.is_not(None))
        .group_by(PoolItem.topic_id, Document.text_hash)
        .having(func.count() > 1)
    ).all()
    groups = [sorted(map(int, ids.split(","))) for ids in several]
    items = _items(session, [item for group in groups for item in group])
    for group in groups:
        if group[0] in items:
            yield [items[item] for item in group]


def _items(session: Session, ids: Sequence[int]) -> dict[int, _Item]:
    """Item id → item, for those with a nonempty text."""
    first_drawn = (
        select(func.min(Assignment.id))
        .where(Assignment.pool_item_id == PoolItem.id, HAS_IT, Assignment.purpose != Purpose.CARRIED)
        .scalar_subquery()
    )
    statement = (
        select(PoolItem.id, PoolItem.taken, PoolItem.known_grade, PoolItem.duplicate_of_id, first_drawn)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Document.body != "")
    )
    return {
        item[0]: _Item(*item)
        for some in chunks(list(ids))
        for item in session.execute(statement.where(PoolItem.id.in_(some)))
    }


def _links(group: Sequence[_Item]) -> Iterable[tuple[int, int]]:
    """Pairs of duplicate and representative in a group of equal texts, for links that are missing."""
    stand_now = {row.duplicate_of_id for row in group}
    standing = min(
        (row for row in group if row.duplicate_of_id is None),
        key=lambda row: (
            row.taken == 0,
            row.first_drawn or 0,
            row.known_grade is None,
            row.id not in stand_now,
            row.id,
        ),
    )
    keep = {row.id for row in group if row.taken and row.duplicate_of_id is None}
    for row in group:
        is_untouched = row.taken == 0 and row.known_grade is None
        may_follow = is_untouched if row.duplicate_of_id is None else row.duplicate_of_id not in keep
        if may_follow and standing.id not in {row.id, row.duplicate_of_id}:
            yield row.id, standing.id


def _link(session: Session, links: dict[int, int]) -> None:
    # Checked again: somebody may have drawn it since it was read.
    is_untouched = or_(PoolItem.taken == 0, PoolItem.duplicate_of_id.is_not(None))
    nobody = {"judgements_wanted": 0, "is_overlap": False, "for_everyone": False}
    session.connection().execute(
        update(PoolItem)
        .where(PoolItem.id == bindparam("item"), is_untouched)
        .values(duplicate_of_id=bindparam("standing"), **nobody),
        [{"item": item, "standing": standing} for item, standing in sorted(links.items())],
    )
    forget_loaded(session)


def _carry(session: Session, concerned: ColumnElement[bool]) -> None:
    """Append the carried judgements that duplicates lack for current judgements of their representatives."""
    rows = session.execute(_not_carried().where(concerned)).all()
    if not rows:
        return
    # Per judge: others judge other documents of the topic at the same time.
    raise_of_judges(session, {(row.duplicate_id, row.judge_id) for row in rows})
    assignments = _carried_assignments(session, rows)
    append_judgements(
        session,
        (
            NewJudgement(
                f"{row.client_id}~{row.duplicate_id}" + (f".{row.before}" if row.before else ""),
                assignments[row.duplicate_id, row.judge_id],
                row.duplicate_id,
                **{name: getattr(row, name) for name in CARRIED},
                replaces_id=row.present_id,
                carried_from_id=row.id,
            )
            for row in rows
        ),
    )


def _not_carried() -> Select[*tuple[Any, ...]]:
    """Judgements of representatives, each paired with a duplicate to which it has not been carried over.

    `before` counts earlier carry-overs of the judgement to the item, before it was released and linked again.
    """
    earlier = aliased(Judgement)
    before = (
        select(func.count())
        .where(earlier.pool_item_id == Duplicate.id, earlier.carried_from_id == Judgement.id)
        .scalar_subquery()
    )
    in_hand = exists().where(
        Assignment.pool_item_id == Duplicate.id,
        Assignment.judge_id == Judgement.judge_id,
        HAS_IT,
    )
    is_older = and_(Present.carried_from_id.is_not(None), Present.carried_from_id != Judgement.id)
    return (
        select(
            *(Judgement.id, Judgement.client_id, *(getattr(Judgement, name) for name in CARRIED)),
            Duplicate.id.label("duplicate_id"),
            Present.id.label("present_id"),
            Present.assignment_id.label("present_assignment_id"),
            before.label("before"),
        )
        .join(Duplicate, Duplicate.duplicate_of_id == Judgement.pool_item_id)
        .outerjoin(
            Present,
            and_(Present.pool_item_id == Duplicate.id, Present.judge_id == Judgement.judge_id, Present.current),
        )
        .where(Judgement.current, SHOWN, or_(and_(Present.id.is_(None), ~in_hand), is_older))
        .order_by(Duplicate.id, Judgement.id)
    )


def _carried_assignments(session: Session, rows: Sequence[Row[*tuple[Any, ...]]]) -> dict[tuple[int, int], int]:
    """(duplicate, judge) → id of the assignment for carried judgements, created where there is none."""
    known = {(row.duplicate_id, row.judge_id): row.present_assignment_id for row in rows}
    made = [
        {
            "pool_item_id": row.duplicate_id,
            "judge_id": row.judge_id,
            "state": AssignmentState.DONE,
            "purpose": Purpose.CARRIED,
            "drawn_at": row.received_at,
            "lease_until": row.received_at,
        }
        for row in rows
        if row.present_id is None
    ]
    if made:
        new = insert(Assignment).returning(Assignment.pool_item_id, Assignment.judge_id, Assignment.id)
        known |= {(item, judge): id_ for item, judge, id_ in session.execute(new, made)}
    return known


def _run(session: Session, statement: Update) -> None:
    session.execute(statement, execution_options={"synchronize_session": False})
