"""Judges' grades in accepted topics, now or at an earlier time: one opinion per judge and pool item.

An opinion is a grade; “cannot judge” and grades of second showings are not opinions.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, and_, func, or_, select
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import DECIDING
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.judging import Assignment, Judgement, Purpose
from annotator.storage.tables.people import MACHINES, User, UserKind
from annotator.storage.tables.pools import Pool, PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic, TopicState

# Core tables: mapped classes take twice as long per row.
_JUDGEMENT = cast("Table", Judgement.__table__)
_ITEM = cast("Table", PoolItem.__table__)
_TOPIC = cast("Table", Topic.__table__)
_ASSIGNMENT = cast("Table", Assignment.__table__)
_LATER = _JUDGEMENT.alias("later")

_said, _of_item, _of_topic = _JUDGEMENT.c, _ITEM.c, _TOPIC.c
_COLUMNS = (
    *(_said.id, _said.pool_item_id, _of_item.topic_id, _of_item.document_id),
    *(_said.judge_id, _said.grade, _said.assignment_id, _said.carried_from_id, _said.replaces_id),
)


# Ids of judgement, item, topic, document, judge; grade; ids of assignment, original and replaced judgement.
_Said = tuple[int, int, int, int, int, int, int, int | None, int | None]


class _Wanted(NamedTuple):
    """Topics and pool items to read; None means all."""

    topics: Collection[int] | None = None
    items: Collection[int] | None = None


class OpinionRow(NamedTuple):
    """A judge's grade of a pool item, with the judge's roles.

    `place` numbers the judges of an item in the list from 1, in order of their first judgement. A carried opinion was
    given to another document with the same text, and adjudicates if that one does.
    """

    judgement_id: int
    pool_item_id: int
    topic_id: int
    document_id: int
    judge: str
    grade: int
    place: int
    by_owner: bool
    adjudicates: bool
    is_machine: bool
    is_carried: bool
    judge_id: int


def opinions(
    session: Session,
    collection_id: int,
    *,
    machines: bool,
    topics: Collection[int] | None = None,
    items: Collection[int] | None = None,
    at: datetime | None = None,
) -> list[OpinionRow]:
    """All opinions on accepted topics, or on those among `topics`, ordered by each judge's first judgement.

    With `items`, only opinions on these pool items, equal to those of a full read.

    Adjudicators' opinions come last, ordered by their current judgement: the last one decides the item. Machines are
    included only with `machines`. `at` selects judgements that were current then; accepted topics, owners and
    duplicates are always the present ones.
    """
    wanted = _Wanted(topics, items)
    rows = _rows(session, collection_id, wanted, at, machines=machines)
    if not rows:
        return []
    ids, items, of_topics, documents, judges, grades, _, origins, _ = zip(*rows, strict=True)
    people = _people(session, set(judges))
    owners = _owners(session, collection_id)
    deciding = _deciding(session, rows, some_items=items is not None)
    columns = (
        *(ids, items, of_topics, documents, [people[judge][0] for judge in judges], grades, _places(items)),
        [owners.get(topic) == judge for topic, judge in zip(of_topics, judges, strict=True)],
        [id_ in deciding or origin in deciding for id_, origin in zip(ids, origins, strict=True)],
        *([people[judge][1] for judge in judges], [origin is not None for origin in origins], judges),
    )
    # By columns, bypassing the named tuple's constructor: building rows one by one takes several times as long.
    listed = list(map(partial(tuple.__new__, OpinionRow), zip(*columns, strict=True)))
    return _decisions_last(listed) if deciding else listed


def of_people(rows: Sequence[OpinionRow]) -> Sequence[OpinionRow]:
    """Opinions without those of machines, with `place` renumbered among people."""
    people = sorted((row for row in rows if not row.is_machine), key=lambda row: row.place)
    if len(people) == len(rows):
        return rows
    places = _places([row.pool_item_id for row in people])
    return _decisions_last([row._replace(place=place) for row, place in zip(people, places, strict=True)])


def _decisions_last(rows: list[OpinionRow]) -> list[OpinionRow]:
    return sorted(rows, key=lambda row: row.judgement_id if row.adjudicates else 0)


def _places(items: Sequence[int]) -> list[int]:
    """For each opinion its number among those of the same item, from 1."""
    if len(set(items)) == len(items):  # most documents have one judge
        return [1] * len(items)
    judges_of: dict[int, int] = {}
    places = []
    for item in items:
        place = judges_of[item] = judges_of.get(item, 0) + 1
        places.append(place)
    return places


def _rows(session: Session, collection_id: int, wanted: _Wanted, at: datetime | None, *, machines: bool) -> list[_Said]:
    """Rows of opinions, ordered by the judge's first judgement of the item."""
    statement = _of_collection(select(*_COLUMNS), collection_id).where(_said.grade.is_not(None))
    statement = statement.where(_said.current) if at is None else _as_of(statement, at)
    if not machines:
        statement = statement.where(_said.judge_id.not_in(MACHINES))
    rows: list[_Said] = _fetch(session, statement, wanted)
    first_words = _first_words(session, {row[1] for row in rows if row[8] is not None})
    if not first_words:  # most judges never change their mind
        return sorted(rows, key=itemgetter(0))
    return sorted(rows, key=lambda row: first_words.get((row[1], row[4]), row[0]))


def refused_items(
    session: Session, collection_id: int, *, machines: bool, judge: str | None = None, at: datetime | None = None
) -> set[int]:
    """Pool items of accepted topics that any judge, or that judge, could not judge."""
    statement = _of_collection(select(_said.pool_item_id), collection_id).where(_said.cannot_judge.is_not(None))
    statement = statement.where(_said.current) if at is None else _as_of(statement, at)
    if not machines:
        statement = statement.where(_said.judge_id.not_in(MACHINES))
    if judge is not None:
        statement = statement.where(_said.judge_id.in_(select(User.id).where(User.name == judge)))
    return {item for (item,) in _fetch(session, statement, _Wanted())}


def pooled_items(session: Session, collection_id: int, at: datetime | None = None) -> dict[int, tuple[int, int]]:
    """Pool item id → (topic id, document id), for accepted topics, as the pool was at `at`."""
    statement = (
        select(PoolItem.id, PoolItem.topic_id, PoolItem.document_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
    )
    if at is not None:
        statement = statement.join(Pool, Pool.id == PoolItem.first_pool_id).where(Pool.built_at <= at)
    return {item: (topic, document) for item, topic, document in fetch_rows(session, statement)}


def _of_collection(statement: Select[*tuple[Any, ...]], collection_id: int) -> Select[*tuple[Any, ...]]:
    return (
        statement.select_from(_JUDGEMENT)
        .join(_ITEM, _of_item.id == _said.pool_item_id)
        .join(_TOPIC, _of_topic.id == _of_item.topic_id)
        .where(_of_topic.collection_id == collection_id, _of_topic.state == TopicState.ACCEPTED)
    )


def _as_of(statement: Select[*tuple[Any, ...]], at: datetime) -> Select[*tuple[Any, ...]]:
    """Restrict to judgements that counted at a time: received by then, and not replaced until later.

    A judgement that is neither current nor replaced never counted: it was outdated on arrival, or of a second showing.
    """
    later = _LATER.c
    counted = or_(and_(later.id.is_(None), _said.current), later.received_at > at)
    return (
        statement.join(_ASSIGNMENT, _ASSIGNMENT.c.id == _said.assignment_id)
        .outerjoin(_LATER, later.replaces_id == _said.id)
        .where(_said.received_at <= at, _ASSIGNMENT.c.purpose != Purpose.RE_SHOWN, counted)
    )


def _fetch(session: Session, statement: Select[*tuple[Any, ...]], wanted: _Wanted) -> list[Any]:
    """Rows of the statement as driver tuples, for the wanted topics or items."""
    if wanted.items is not None:
        some = (statement.where(_said.pool_item_id.in_(ids)) for ids in chunks(sorted(wanted.items)))
    elif wanted.topics is not None:
        some = (statement.where(_of_item.topic_id.in_(ids)) for ids in chunks(sorted(wanted.topics)))
    else:
        return fetch_rows(session, statement)
    return [row for of_some in some for row in fetch_rows(session, of_some)]


def _first_words(session: Session, items: Collection[int]) -> dict[tuple[int, int], int]:
    """(pool item id, judge id) → id of the first judgement, for all judges of these items."""
    statement = select(_said.pool_item_id, _said.judge_id, func.min(_said.id)).group_by(
        _said.pool_item_id, _said.judge_id
    )
    return {
        (item, judge): first
        for some in chunks(sorted(items))
        for item, judge, first in session.execute(statement.where(_said.pool_item_id.in_(some)))
    }


def _people(session: Session, ids: Collection[int]) -> dict[int, tuple[str, bool]]:
    """Judge id → (name, whether a machine)."""
    statement = select(User.id, User.name, User.kind)
    return {
        id_: (name, kind == UserKind.MACHINE)
        for some in chunks(sorted(ids))
        for id_, name, kind in session.execute(statement.where(User.id.in_(some)))
    }


def _owners(session: Session, collection_id: int) -> dict[int, int | None]:
    """Topic id → id of the owner, or None."""
    rows = session.execute(select(Topic.id, Topic.owner_id).where(Topic.collection_id == collection_id))
    return {topic: owner for topic, owner in rows}


def _deciding(session: Session, rows: Sequence[_Said], *, some_items: bool) -> set[int]:
    """Ids of current adjudications: among the rows, and among originals of carried judgements."""
    adjudications = set(session.scalars(DECIDING))
    if not adjudications:
        return set()
    deciding = {row[0] for row in rows if row[6] in adjudications}
    # For whole topics, the rows contain every original that counts.
    elsewhere = {row[7] for row in rows if row[7] is not None} - {row[0] for row in rows} if some_items else set()
    repeated = select(_said.id, _said.assignment_id).where(_said.current)
    for some in chunks(sorted(elsewhere)):
        found = fetch_rows(session, repeated.where(_said.id.in_(some)))
        deciding.update(id_ for id_, assignment in found if assignment in adjudications)
    return deciding
