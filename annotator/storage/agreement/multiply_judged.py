"""Pool items that two people or more have graded. Machines are left out; adjudicators' grades are decisions.

For organisers, and includes agreed and decided items; `adjudication_queue` has those still to be decided.
"""

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnExpressionArgument, and_, func, or_, select, text
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.leases import DECIDING
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import OF_PEOPLE, Assignment, Evidence, Judgement
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

_BY_ADJUDICATOR = Judgement.assignment_id.in_(DECIDING)
# Starts from the few adjudications and finds their judgements by the index on item and judge.
_DECISIONS = select(Judgement.id).join(
    Assignment,
    and_(
        Assignment.id == Judgement.assignment_id,
        Assignment.pool_item_id == Judgement.pool_item_id,
        Assignment.judge_id == Judgement.judge_id,
        text("assignment.purpose = 'adjudication'"),
    ),
)
# Adjudicators' own judgements and those carried over from them.
DECIDED = or_(
    _BY_ADJUDICATOR,
    func.coalesce(Judgement.carried_from_id, 0).in_(_DECISIONS),
)


class GradedItem(NamedTuple):
    """A pool item that two judges or more graded, with its lowest and highest grade."""

    id: int
    topic_id: int
    low: int
    high: int


class ItemRow(NamedTuple):
    """A pool item as a list shows it; `known_grade` is the correct grade of a gold question."""

    docno: str
    title: str
    has_text: bool
    known_grade: int | None


class ItemText(NamedTuple):
    """The text of a pool item, or its beginning where `is_cut`, and its language, empty if unknown."""

    body: str
    language: str
    is_cut: bool


class JudgementRow(NamedTuple):
    """A person's current judgement of a pool item; `is_carried` when carried over from one with the same text."""

    judgement_id: int
    judge: str
    grade: int | None
    cannot_judge: str | None
    note: str
    judged_at: datetime
    is_carried: bool


def graded_twice(session: Session, collection_id: int, judge_ids: Sequence[int] | None = None) -> list[GradedItem]:
    """Items of accepted topics that two judges or more graded, at least one of whom was shown the item itself.

    With `judge_ids`, only the grades of these judges count.
    """
    statement = (
        select(PoolItem.id, PoolItem.topic_id, func.min(Judgement.grade), func.max(Judgement.grade))
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(*_graded(collection_id), ~DECIDED)
        .group_by(PoolItem.id, PoolItem.topic_id)
        .having(func.count() > 1, func.count().filter(SHOWN) > 0)
    )
    if judge_ids is not None:
        statement = statement.where(Judgement.judge_id.in_(judge_ids))
    return [GradedItem._make(row) for row in session.execute(statement)]


def graded_by(session: Session, collection_id: int, judge_id: int) -> set[int]:
    """Ids of the items that a person graded, not as an adjudicator."""
    return set(
        session.scalars(
            select(Judgement.pool_item_id)
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(*_graded(collection_id), ~DECIDED, Judgement.judge_id == judge_id)
        )
    )


def people_who_graded(session: Session, collection_id: int) -> dict[str, int]:
    """Name → id of all people who graded anything of an accepted topic, sorted by name."""
    graded = (
        select(Judgement.id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(*_graded(collection_id), Judgement.judge_id == User.id)
    )
    rows = session.execute(select(User.name, User.id).where(graded.exists()).order_by(User.name))
    return {name: id_ for name, id_ in rows}


def items_by_id(session: Session, item_ids: Sequence[int]) -> dict[int, ItemRow]:
    """Item id → row of a list; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(PoolItem.id, Document.docno, Document.title, Document.body.is_not(None), PoolItem.known_grade)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids))
    )
    return {id_: ItemRow._make(row) for id_, *row in rows}


def titles_of_topics(session: Session, topic_ids: AbstractSet[int]) -> dict[int, str]:
    """Topic id → its title; the ids must fit into one statement."""
    return {id_: title for id_, title in session.execute(select(Topic.id, Topic.title).where(Topic.id.in_(topic_ids)))}


def texts_of(session: Session, item_ids: Sequence[int], most: int) -> dict[int, ItemText]:
    """Item id → its text, for items with one; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(PoolItem.id, func.substr(Document.body, 1, most), Document.language, func.length(Document.body) > most)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids), Document.body.is_not(None))
    )
    return {id_: ItemText(body, language or "", bool(is_cut)) for id_, body, language, is_cut in rows}


def judgements_on(session: Session, item_ids: Sequence[int]) -> dict[int, list[JudgementRow]]:
    """Item id → people's current judgements of it, oldest first; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(
            *(Judgement.pool_item_id, Judgement.id, User.name, Judgement.grade, Judgement.cannot_judge),
            *(Judgement.note, Judgement.judged_at, ~SHOWN),
        )
        .join(User, User.id == Judgement.judge_id)
        .where(Judgement.pool_item_id.in_(item_ids), Judgement.current, OF_PEOPLE)
        .order_by(Judgement.id)
    )
    words: dict[int, list[JudgementRow]] = defaultdict(list)
    for item_id, *row in rows:
        words[item_id].append(JudgementRow._make(row))
    return words


def evidence_of(session: Session, item_ids: Sequence[int]) -> dict[int, list[str]]:
    """Judgement id → its evidence passages in text order, for the judgements of these items."""
    rows = session.execute(
        select(Evidence.judgement_id, Evidence.text)
        .join(Judgement, Judgement.id == Evidence.judgement_id)
        .where(Judgement.pool_item_id.in_(item_ids))
        .order_by(Evidence.judgement_id, Evidence.start, Evidence.id)
    )
    evidence: dict[int, list[str]] = defaultdict(list)
    for judgement_id, marked in rows:
        evidence[judgement_id].append(marked)
    return evidence


def _graded(collection_id: int) -> tuple[ColumnExpressionArgument[bool], ...]:
    """Conditions for people's current grades in a collection's accepted topics."""
    return (
        Topic.collection_id == collection_id,
        ACCEPTED,
        Judgement.current,
        Judgement.grade.is_not(None),
        OF_PEOPLE,
    )
