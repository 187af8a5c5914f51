"""The judgements of topics: as stored, and packed by a worker, kept under the topic's revision.

A topic that was changed since is left to the reader, who reads its judgements as the worker does.
"""

from collections.abc import Collection as SizedIterable
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Table, func, literal, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.collections import Collection
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
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicRevision
from annotator.storage.topics.revisions import ChangedTopic, record_derived

COLUMNS = 14  # of the statement
_GIVEN = cast("Table", Judgement.__table__).c
NOTHING = b""


class StoredJudgements(NamedTuple):
    """All judgements of some topics, one element each, in no order; withdrawals and what they withdraw, too.

    `replaces` and `carried_from` are 0 for a judgement that does neither. The assignments of adjudicators and of second
    showings are given by id.
    """

    id: Sequence[int]
    topic: Sequence[int]
    item: Sequence[int]
    document: Sequence[int]
    docno: Sequence[str]
    judge: Sequence[int]
    assignment: Sequence[int]
    grade: Sequence[int | None]
    seconds: Sequence[float | None]
    current: Sequence[int]
    withdraws: Sequence[int]
    own_time: Sequence[int]
    replaces: Sequence[int]
    carried_from: Sequence[int]
    adjudications: frozenset[int]
    second_showings: frozenset[int]


class Judge(NamedTuple):
    """An account that may have judged."""

    name: str
    is_machine: bool


class PackedRow(NamedTuple):
    """The packed judgements of a topic."""

    judgements: bytes
    seconds: bytes
    docnos: bytes


def stored_judgements(session: Session, topics: SizedIterable[int]) -> StoredJudgements:
    """All judgements of the documents of these topics."""
    statement = (
        select(
            *(_GIVEN.id, PoolItem.topic_id, _GIVEN.pool_item_id, PoolItem.document_id, Document.docno),
            *(_GIVEN.judge_id, _GIVEN.assignment_id, _GIVEN.grade, _GIVEN.seconds, _GIVEN.current),
            *(func.coalesce(_GIVEN.cannot_judge, "") == CannotJudge.WITHDRAWN, HAS_OWN_TIME),
            *(func.coalesce(_GIVEN.replaces_id, 0), func.coalesce(_GIVEN.carried_from_id, 0)),
        )
        .select_from(PoolItem)
        .join(Judgement.__table__, _GIVEN.pool_item_id == PoolItem.id)
        .join(Document, Document.id == PoolItem.document_id)
    )
    of_assignments = select(Assignment.id, Assignment.purpose).join(PoolItem, PoolItem.id == Assignment.pool_item_id)
    rows: list[tuple[Any, ...]] = []
    special: dict[str, set[int]] = {Purpose.ADJUDICATION: set(), Purpose.RE_SHOWN: set()}
    for some in chunks(sorted(topics)):
        in_topics = PoolItem.topic_id.in_(some)
        rows += fetch_rows(session, statement.where(in_topics))
        for id_, purpose in session.execute(of_assignments.where(in_topics, BESIDES_JUDGING)):
            special[purpose].add(id_)
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ((),) * COLUMNS
    return StoredJudgements._make([*columns, *map(frozenset, special.values())])


def judgements_then(stored: StoredJudgements, last: int) -> StoredJudgements:
    """The judgements as they were when the one with the id `last` was the last, current ones included."""
    latest: dict[tuple[int, int], int] = {}
    for id_, item, judge, assignment in zip(stored.id, stored.item, stored.judge, stored.assignment, strict=True):
        if id_ <= last and assignment not in stored.second_showings:
            latest[item, judge] = max(id_, latest.get((item, judge), 0))
    kept = [place for place, id_ in enumerate(stored.id) if id_ <= last]
    then = StoredJudgements._make(
        column if isinstance(column, frozenset) else [column[place] for place in kept] for column in stored
    )
    pairs = zip(then.id, then.item, then.judge, then.withdraws, strict=True)
    current = [latest.get((item, judge)) == id_ and not withdraws for id_, item, judge, withdraws in pairs]
    return then._replace(current=current)


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


def judges_by_id(session: Session) -> dict[int, Judge]:
    """Id → account, for all accounts."""
    rows = session.execute(select(User.id, User.name, User.kind))
    return {id_: Judge(name, kind == UserKind.MACHINE) for id_, name, kind in rows}


def names_of_topics(session: Session, topics: Sequence[int]) -> list[tuple[str, str]]:
    """The slug of the collection and the number of these topics."""
    named = select(Collection.slug, Topic.number).join(Collection, Collection.id == Topic.collection_id)
    return [
        (slug, number)
        for some in chunks(sorted(topics))
        for slug, number in session.execute(named.where(Topic.id.in_(some)).order_by(Topic.id))
    ]
