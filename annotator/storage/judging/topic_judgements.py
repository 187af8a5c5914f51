"""The judgements of topics: as stored, and packed by a worker, kept under the topic's revision.

A topic that was changed since is left to the reader, who reads its judgements as the worker does.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Table, func, literal, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    BESIDES_JUDGING,
    HAS_OWN_TIME,
    Assignment,
    CannotJudge,
    Judgement,
    Purpose,
    TopicJudgements,
)
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicRevision
from annotator.storage.topics.revisions import ChangedTopic, record_derived

_GIVEN = cast("Table", Judgement.__table__).c
NOTHING = b""


class StoredJudgement(NamedTuple):
    """A judgement that was not withdrawn; `first` is the judge's first judgement of the item.

    `adjudicates` holds for what was carried over from an adjudication, too.
    """

    id: int
    item: int
    document: int
    docno: str
    judge: int
    assignment: int
    grade: int | None
    seconds: float | None
    first: int
    is_current: bool
    adjudicates: bool
    is_carried: bool
    has_own_time: bool
    is_shown_again: bool
    replaces_another: bool


class PackedRow(NamedTuple):
    """The packed judgements of a topic."""

    judgements: bytes
    seconds: bytes
    docnos: bytes


class _Row(NamedTuple):
    """A judgement as the statement reads it."""

    id: int
    item: int
    topic: int
    document: int
    docno: str
    judge: int
    assignment: int
    grade: int | None
    cannot_judge: str | None
    seconds: float | None
    is_current: bool
    has_own_time: bool
    replaces: int | None
    carried_from: int | None


def judgements_of_topics(session: Session, topics: Collection[int]) -> dict[int, list[StoredJudgement]]:
    """Topic id → all judgements of its documents that were not withdrawn, replaced ones too, in no order."""
    judgements: dict[int, list[StoredJudgement]] = {topic: [] for topic in topics}
    for some in chunks(sorted(topics)):
        in_topics = PoolItem.topic_id.in_(some)
        rows = _rows(session, in_topics)
        for row, stored in zip(rows, _stored(rows, _special_purposes(session, in_topics)), strict=True):
            if stored is not None:
                judgements[row.topic].append(stored)
    return judgements


def _rows(session: Session, in_topics: ColumnElement[bool]) -> list[_Row]:
    statement = (
        select(
            *(_GIVEN.id, _GIVEN.pool_item_id, PoolItem.topic_id, PoolItem.document_id, Document.docno),
            *(_GIVEN.judge_id, _GIVEN.assignment_id, _GIVEN.grade, _GIVEN.cannot_judge, _GIVEN.seconds),
            *(_GIVEN.current, HAS_OWN_TIME, _GIVEN.replaces_id, _GIVEN.carried_from_id),
        )
        .select_from(PoolItem)
        .join(Judgement.__table__, _GIVEN.pool_item_id == PoolItem.id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(in_topics)
    )
    return list(map(_Row._make, fetch_rows(session, statement)))


def _special_purposes(session: Session, in_topics: ColumnElement[bool]) -> dict[int, str]:
    """Assignment id → purpose, for second showings and adjudications in these topics."""
    rows = session.execute(
        select(Assignment.id, Assignment.purpose)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .where(in_topics, BESIDES_JUDGING)
    )
    return {id_: purpose for id_, purpose in rows}


def _stored(rows: Sequence[_Row], purposes: Mapping[int, str]) -> list[StoredJudgement | None]:
    """What is told of each row; None for a withdrawn judgement and for a withdrawal."""
    withdrawn = {row.replaces for row in rows if row.cannot_judge == CannotJudge.WITHDRAWN}
    firsts: dict[tuple[int, int], int] = {}
    for row in rows:
        key = (row.item, row.judge)
        firsts[key] = min(row.id, firsts.get(key, row.id))
    assignments = {row.id: row.assignment for row in rows}
    return [
        None
        if row.id in withdrawn or row.cannot_judge == CannotJudge.WITHDRAWN
        else StoredJudgement(
            *(row.id, row.item, row.document, row.docno, row.judge, row.assignment, row.grade, row.seconds),
            first=row.id if row.replaces is None else firsts[row.item, row.judge],
            is_current=bool(row.is_current),
            adjudicates=purposes.get(assignments.get(row.carried_from or row.id, 0)) == Purpose.ADJUDICATION,
            is_carried=row.carried_from is not None,
            has_own_time=bool(row.has_own_time),
            is_shown_again=purposes.get(row.assignment) == Purpose.RE_SHOWN,
            replaces_another=row.replaces is not None,
        )
        for row in rows
    ]


def packed_judgements(
    session: Session, of_topics: ColumnElement[bool], *, docnos: bool = True, seconds: bool = True
) -> dict[int, PackedRow]:
    """Accepted topic id → its packed judgements, for the topics that were not changed since they were packed.

    Docnos and seconds are left empty where they are not wanted.
    """
    current = select(func.coalesce(func.sum(TopicRevision.revision), 0)).where(TopicRevision.topic_id == Topic.id)
    statement = (
        select(
            TopicJudgements.topic_id,
            TopicJudgements.judgements,
            TopicJudgements.seconds if seconds else literal(NOTHING),
            TopicJudgements.docnos if docnos else literal(NOTHING),
        )
        .join(Topic, Topic.id == TopicJudgements.topic_id)
        .where(of_topics, ACCEPTED, TopicJudgements.revision == current.scalar_subquery())
        .order_by(Topic.id)
    )
    return {row[0]: PackedRow._make(row[1:]) for row in fetch_rows(session, statement)}


def record_packed(session: Session, changed: Sequence[ChangedTopic], packed: Mapping[int, PackedRow]) -> None:
    """Record what was packed at these revisions, in place of what was recorded before."""
    rows = [{"topic_id": topic.id, "revision": topic.revision, **packed[topic.id]._asdict()} for topic in changed]
    record_derived(session, TopicJudgements, rows)
