"""The grades that people gave on their own, as columns, kept between requests and read again where they changed.

Left out are machines, adjudicators as such, who knew of the others, and what was carried over from a document with the
same text, of which nobody was shown the other.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, String, case, cast, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.judging import DECIDING
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import HAS_OWN_TIME, Judgement
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# Of how many collections the columns are kept in a process.
MOST_KEPT = 8


class GradeColumns(NamedTuple):
    """Present grades, an entry each, of some judges; those of topics that do not count are among them.

    The arrays hold whole numbers of 64 bits.
    """

    judgements: "array[int]"  # ids
    judges: "array[int]"  # ids
    items: "array[int]"  # ids of pool items
    topics: "array[int]"  # ids
    grades: "array[int]"
    own_times: "array[int]"  # 0 for a label of a file, else 1


class GradesRead(NamedTuple):
    """Columns, and the judges of whom they hold what counts; of others there may be entries out of date."""

    judges: frozenset[int]
    columns: GradeColumns


@dataclass(frozen=True)
class PeoplesGrades:
    """What the people of a collection said, each of them in one of the readings; judges by id."""

    readings: tuple[GradesRead, ...]
    judges: Mapping[int, str]


class _Print(NamedTuple):
    """What tells that a judge has said something since: judgements are only added, and are current or not."""

    judgements: int
    sum_of_ids: int
    sum_of_current_ids: int
    last_id: int
    last_client_id: str  # made by chance: another history of the same length, as of a database put back, has another


class _Kept(NamedTuple):
    """The readings of one collection, and the prints of all judges when theirs was made."""

    prints: Mapping[int, _Print]
    readings: tuple[GradesRead, ...]


class GradesMemory:
    """What people said in the collections of one database, kept between requests.

    What is kept is replaced and never changed, so that requests may read it at the same time.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._kept: dict[int, _Kept] = {}

    def grades_of_people(self, session: Session, collection_id: int) -> PeoplesGrades:
        """Every person's present grades.

        200,000 judgements are read once, in half a second; from then on 30 ms find out who has judged since, and what
        these said is read again, whatever has become of it.
        """
        prints = _prints(session)
        before = self._kept.get(collection_id, _Kept({}, ()))
        stale = frozenset(judge for judge, print_ in prints.items() if before.prints.get(judge) != print_)
        fresh = prints.keys() - stale
        readings = [GradesRead(reading.judges & fresh, reading.columns) for reading in before.readings]
        if stale:
            readings.append(GradesRead(stale, _read(session, collection_id, stale if fresh else None)))
        now = tuple(reading for reading in readings if reading.judges)
        self._kept.pop(collection_id, None)  # so that the last one used is the last one forgotten
        self._kept[collection_id] = _Kept(prints, now)
        for oldest in list(self._kept)[:-MOST_KEPT]:
            self._kept.pop(oldest, None)
        return PeoplesGrades(now, _people(session))


def _prints(session: Session) -> dict[int, _Print]:
    """Judge → print of all their judgements in this database: from an index alone, which takes 15 ms a 100,000."""
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
    """Read what these judges say, or all of them; a column is one text, which takes a third of the time of rows."""
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
    """The names of all who are no machines."""
    statement = select(User.id, User.name).where(User.kind != UserKind.MACHINE)
    return {id_: name for id_, name in session.execute(statement)}
