"""People's independent grades as columns, cached between requests and reread for judges whose judgements changed.

Left out are grades by machines and by adjudicators, who saw the other grades, and grades carried over from a document
with the same text.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, String, case, cast, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.leases import DECIDING
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import HAS_OWN_TIME, Judgement
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# How many collections a process keeps in this cache.
MOST_KEPT = 8


class GradeColumns(NamedTuple):
    """Current grades of some judges, one array element each, of all topics, accepted or not.

    All arrays are of signed 64-bit integers.
    """

    judgements: "array[int]"  # ids
    judges: "array[int]"  # ids
    items: "array[int]"  # ids of pool items
    topics: "array[int]"  # ids
    grades: "array[int]"
    own_times: "array[int]"  # 0 for an imported label, which has no time of its own, else 1


class GradesRead(NamedTuple):
    """Columns, and the ids of the judges for whom they are valid; entries of other judges may be stale."""

    judges: frozenset[int]
    columns: GradeColumns


@dataclass(frozen=True)
class PeoplesGrades:
    """People's grades in a collection: each judge is valid in exactly one of the readings. `judges` maps id to name."""

    readings: tuple[GradesRead, ...]
    judges: Mapping[int, str]


class _Print(NamedTuple):
    """Fingerprint of a judge's judgements. Rows are only appended, and their `current` flag switched."""

    judgements: int
    sum_of_ids: int
    sum_of_current_ids: int
    last_id: int
    last_client_id: str  # random, so that a restored database with another history of the same length differs


class _Kept(NamedTuple):
    """The cached readings of one collection, and the fingerprints of all judges when they were read."""

    prints: Mapping[int, _Print]
    readings: tuple[GradesRead, ...]


class GradesMemory:
    """Cache of people's grades in the collections of one database.

    Entries are replaced and never changed in place, so that concurrent requests may read them.
    """

    def __init__(self) -> None:
        """Create an empty cache."""
        self._kept: dict[int, _Kept] = {}

    def grades_of_people(self, session: Session, collection_id: int) -> PeoplesGrades:
        """Current grades of all people in a collection.

        The first call takes half a second for 200,000 judgements. Later calls take 30 ms to compare fingerprints, and
        reread only the judges whose judgements changed.
        """
        prints = _prints(session)
        before = self._kept.get(collection_id, _Kept({}, ()))
        stale = frozenset(judge for judge, print_ in prints.items() if before.prints.get(judge) != print_)
        fresh = prints.keys() - stale
        readings = [GradesRead(reading.judges & fresh, reading.columns) for reading in before.readings]
        if stale:
            readings.append(GradesRead(stale, _read(session, collection_id, stale if fresh else None)))
        now = tuple(reading for reading in readings if reading.judges)
        self._kept.pop(collection_id, None)  # reinsert at the end: least recently used entries are evicted first
        self._kept[collection_id] = _Kept(prints, now)
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return PeoplesGrades(now, _people(session))


def _prints(session: Session) -> dict[int, _Print]:
    """Judge id → fingerprint of all their judgements in the database; an index-only scan, 15 ms per 100,000 rows."""
    current = func.sum(Judgement.id).filter(Judgement.current)
    sums = session.execute(
        select(Judgement.judge_id, func.count(), func.sum(Judgement.id), current, func.max(Judgement.id)).group_by(
            Judgement.judge_id
        )
    ).all()
    last = select(Judgement.id, Judgement.client_id)
    client_ids = {
        id_: client_id
        for some in chunks([last_id for *_, last_id in sums])
        for id_, client_id in session.execute(last.where(Judgement.id.in_(some)))
    }
    return {
        judge: _Print(count, int(all_ids), int(current_ids or 0), last_id, client_ids[last_id])
        for judge, count, all_ids, current_ids, last_id in sums
    }


def _read(session: Session, collection_id: int, judges: frozenset[int] | None) -> GradeColumns:
    """Read the grades of these judges, or of all; a column as one string takes a third of the time of rows."""
    columns = (Judgement.id, Judgement.judge_id, Judgement.pool_item_id, PoolItem.topic_id, Judgement.grade)
    own_time = case((HAS_OWN_TIME, "1"), else_="0")
    statement = (
        select(*(_together(cast(column, String)) for column in columns), _together(own_time))
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Judgement.current, Judgement.grade.is_not(None), SHOWN)
        .where(Judgement.assignment_id.not_in(DECIDING))
    )
    several = (
        [statement]
        if judges is None
        else [statement.where(Judgement.judge_id.in_(some)) for some in chunks(list(judges))]
    )
    texts = zip(*(session.execute(one).one() for one in several), strict=True)
    return GradeColumns(*(_numbers(",".join(filter(None, column))) for column in texts))


def _together(column: ColumnElement[str]) -> ColumnElement[str]:
    return func.aggregate_strings(column, ",")


def _numbers(text: str) -> "array[int]":
    return array("q", map(int, text.split(",")) if text else ())


def _people(session: Session) -> dict[int, str]:
    """User id → name of everybody who is not a machine."""
    statement = select(User.id, User.name).where(User.kind != UserKind.MACHINE)
    return {id_: name for id_, name in session.execute(statement)}
