"""The single writer of judgements, for judging, imports and judgements carried over to duplicates."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, cast

from sqlalchemy import Dialect, Table, bindparam, insert, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import IS_PERSON
from annotator.storage.site.bulk_insert import (
    FoldedRows,
    bind_processor,
    chunks,
    insert_alike,
    insert_folded,
    insert_rows,
)
from annotator.storage.tables.judging import LEASE, Assignment, AssignmentState, Evidence, Judgement
from annotator.storage.tables.pools import PoolItem
from annotator.storage.topics.revisions import raise_revision

# Core tables cost a fraction of mapped classes.
ITEMS = cast("Table", PoolItem.__table__)
ASSIGNMENTS = cast("Table", Assignment.__table__)
JUDGEMENTS = cast("Table", Judgement.__table__)
EVIDENCE = cast("Table", Evidence.__table__)
# In the order of the table.
COLUMNS = (
    *("client_id", "assignment_id", "pool_item_id", "judge_id", "grade", "cannot_judge", "note", "seconds"),
    *("guideline_version_id", "judged_at", "received_at", "tab", "sequence", "late", "current"),
    *("replaces_id", "carried_from_id"),
)
ROWS_AT_ONCE = 10_000
DIALECTS_KEPT = 16

RETIRE = update(JUDGEMENTS).where(JUDGEMENTS.c.id.in_(bindparam("replaced", expanding=True))).values(current=False)
_OF_CLIENT = select(JUDGEMENTS.c.id).where(JUDGEMENTS.c.client_id == bindparam("client")).scalar_subquery()
KEEP = insert(EVIDENCE).values(judgement_id=_OF_CLIENT)
_EARLIER = JUDGEMENTS.alias("earlier")
FOLLOW = (
    update(JUDGEMENTS)
    .where(JUDGEMENTS.c.client_id == bindparam("later"))
    .values(replaces_id=select(_EARLIER.c.id).where(_EARLIER.c.client_id == bindparam("earlier")).scalar_subquery())
)
SET_STATE = update(ASSIGNMENTS).where(ASSIGNMENTS.c.id == bindparam("assignment_id")).values(state=bindparam("new"))
PUT_OFF = (
    update(ASSIGNMENTS)
    .where(ASSIGNMENTS.c.id == bindparam("assignment_id"))
    .values(state=AssignmentState.LATER.value, put_off_at=bindparam("at"))
)
LEASE_AGAIN = (
    update(ASSIGNMENTS).where(ASSIGNMENTS.c.id == bindparam("assignment_id")).values(lease_until=bindparam("until"))
)
TAKE = update(ITEMS).where(ITEMS.c.id == bindparam("item_id")).values(taken=ITEMS.c.taken + bindparam("places"))


class NewJudgement(NamedTuple):
    """A judgement to be stored; the one that it replaces becomes not current."""

    client_id: str
    assignment_id: int
    pool_item_id: int
    judge_id: int
    grade: int | None
    cannot_judge: str | None
    judged_at: datetime
    received_at: datetime
    guideline_version_id: int | None = None
    late: bool = False
    note: str = ""
    seconds: float | None = None
    tab: str = ""
    sequence: int | None = None
    current: bool = True
    replaces_id: int | None = None
    carried_from_id: int | None = None


class Passage(NamedTuple):
    """A passage kept as evidence, with its character offsets in the displayed text."""

    start: int
    end: int
    text: str


@dataclass
class Changes:
    """Everything that one request of a judge writes to the database."""

    judgements: list[NewJudgement] = field(default_factory=list)
    # Client id of a judgement → that of the one it replaces, when both are new.
    follows: dict[str, str] = field(default_factory=dict)
    evidence: list[tuple[str, Passage]] = field(default_factory=list)
    put_off: list[int] = field(default_factory=list)
    # Assignment id → new state.
    states: dict[int, AssignmentState] = field(default_factory=dict)
    # Item id → change of its count of judgements, applied if the judge is a person.
    places: dict[int, int] = field(default_factory=dict)
    topics: set[int] = field(default_factory=set)
    # Assignments held again after their judgement was withdrawn.
    reopened: set[int] = field(default_factory=set)


def append_judgements(session: Session, judgements: Iterable[NewJudgement]) -> None:
    """Insert judgements; the caller has locked their items and raised the topics' revisions."""
    session.flush()
    several = iter(judgements)
    while batch := list(islice(several, ROWS_AT_ONCE)):
        replaced = [one.replaces_id for one in batch if one.replaces_id is not None]
        for some in chunks(replaced):
            session.connection().execute(RETIRE, {"replaced": some})
        insert_rows(session, JUDGEMENTS, COLUMNS, _driver_rows(session, batch), at_once=ROWS_AT_ONCE)


class JudgedAtOnce(NamedTuple):
    """One of many judgements that a judge gave at the same time."""

    client_id: str
    assignment_id: int
    pool_item_id: int
    grade: int | None
    cannot_judge: str | None
    note: str
    replaces_id: int | None


def append_at_once(session: Session, judge_id: int, at: datetime, judgements: Sequence[JudgedAtOnce]) -> None:
    """Insert many judgements of a judge as `append_judgements` does, in a fraction of its time."""
    session.flush()
    for some in chunks([one.replaces_id for one in judgements if one.replaces_id is not None]):
        session.connection().execute(RETIRE, {"replaced": some})
    moment = _moment_processor(session.connection().dialect)(at)
    same = {"judge_id": judge_id, "judged_at": moment, "received_at": moment, "tab": "", "late": False, "current": True}
    insert_alike(session, JUDGEMENTS, JudgedAtOnce._fields, judgements, same=same, at_once=ROWS_AT_ONCE)


def append_folded(
    session: Session, judge_id: int, at: datetime, folded: FoldedRows, *, client_ids: str, first_assignment: int
) -> None:
    """Insert a judge's first judgements, by columns of `JudgedAtOnce`, into SQLite.

    Their client ids are those of the rows behind `client_ids`, and their assignments are numbered from the first.
    """
    session.flush()
    moment = _moment_processor(session.connection().dialect)(at)
    same = {"judge_id": judge_id, "judged_at": moment, "received_at": moment, "note": "", "tab": ""}
    before: dict[str, str | int] = {"client_id": client_ids, "assignment_id": first_assignment}
    insert_folded(session, JUDGEMENTS, folded, same=same | {"late": False, "current": True}, before=before)


def store_changes(session: Session, judge_id: int, changes: Changes, at: datetime) -> None:
    """Write a judge's changes; the caller has locked the assignments."""
    connection = session.connection()
    for topic_id in sorted(changes.topics):
        raise_revision(connection, topic_id, judge_id)
    append_judgements(session, changes.judgements)
    if changes.follows:
        pairs = [{"later": later, "earlier": earlier} for later, earlier in changes.follows.items()]
        connection.execute(FOLLOW, pairs)
    if changes.evidence:
        connection.execute(KEEP, [{"client": id_, **passage._asdict()} for id_, passage in changes.evidence])
    if changes.put_off:
        connection.execute(PUT_OFF, [{"assignment_id": id_, "at": at} for id_ in changes.put_off])
    if changes.reopened:
        connection.execute(LEASE_AGAIN, [{"assignment_id": id_, "until": at + LEASE} for id_ in changes.reopened])
    _take_places(session, judge_id, changes.places)
    if changes.states:
        new = [{"assignment_id": id_, "new": state.value} for id_, state in changes.states.items()]
        connection.execute(SET_STATE, new)


def _take_places(session: Session, judge_id: int, places: Mapping[int, int]) -> None:
    """Add the changes to `taken` of the items, unless the judge is a machine."""
    changed = [{"item_id": item_id, "places": count} for item_id, count in sorted(places.items()) if count]
    connection = session.connection()
    if changed and connection.execute(IS_PERSON, {"whose": judge_id}).first() is not None:
        connection.execute(TAKE, changed)


@lru_cache(maxsize=DIALECTS_KEPT)
def _moment_processor(dialect: Dialect) -> Callable[[object], object]:
    return bind_processor(dialect, JUDGEMENTS.c.judged_at)


def _driver_rows(session: Session, judgements: Sequence[NewJudgement]) -> Iterator[tuple[object, ...]]:
    """Values of `COLUMNS` in driver format; equal times are converted once."""
    process = _moment_processor(session.connection().dialect)
    moments = {at for one in judgements for at in (one.judged_at, one.received_at)}
    stored = {at: process(at) for at in moments}
    for one in judgements:
        yield (
            *(one.client_id, one.assignment_id, one.pool_item_id, one.judge_id, one.grade, one.cannot_judge),
            *(one.note, one.seconds, one.guideline_version_id, stored[one.judged_at], stored[one.received_at]),
            *(one.tab, one.sequence, one.late, one.current, one.replaces_id, one.carried_from_id),
        )
