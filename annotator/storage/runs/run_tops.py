"""The first documents of a run's ranked lists, stored once more in few rows: what pools are planned from.

A ranked list is a row of its own, and fetching half a million rows takes seconds, whatever is read of each.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, groupby, starmap
from typing import NamedTuple

from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, exists, func, select
from sqlalchemy.orm import Session

from annotator.storage.collections.checking import Finding
from annotator.storage.site.bulk_insert import fetch_rows, insert_rows
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.runs import RUN_TOPS, RankedList, Run, RunTops
from annotator.storage.tables.topics import Topic

TOP = 100  # documents of a list: a plan shows depths up to 100 at least, and few pools are deeper
NUMBER_BYTES = 4
TOP_BYTES = TOP * NUMBER_BYTES
TOPICS_TOGETHER = 64  # consecutive ids, whichever of them a run has
ROWS_AT_ONCE = 100
MOST_NAMED = 10
COLUMNS = (RunTops.run_id, RunTops.topics, RunTops.sizes, RunTops.documents)
_LACKS = exists().where(RankedList.run_id == Run.id) & ~exists().where(RunTops.run_id == Run.id)


class PackedTops(NamedTuple):
    """The tops of a run for some topics: their ids, the bytes of each top, both in 32 bits, and the tops themselves."""

    run_id: int
    topics: bytes
    sizes: bytes
    documents: bytes


def add_tops(session: Session, run_id: int, lists: Iterable[tuple[int, bytes]]) -> None:
    """Insert the tops of all ranked lists of a run: (topic id, packed documents)."""
    columns = ("run_id", "topic_group", "topics", "sizes", "documents")
    insert_rows(session, RUN_TOPS, columns, ((run_id, *row) for row in _packed(lists)), at_once=ROWS_AT_ONCE)


def tops_in_lists(session: Session, run_id: int) -> list[tuple[int, bytes]]:
    """(topic id, top) of each ranked list of a run, as stored in the list itself."""
    tops = select(RankedList.topic_id, func.substr(RankedList.documents, 1, TOP_BYTES))
    return fetch_rows(session, tops.where(RankedList.run_id == run_id))


def complete_tops(session: Session, collection_id: int, topic_id: int) -> None:
    """Add the tops of a restored topic to runs that lack them: it may have been deleted before tops were stored."""
    add_missing_tops(session, Run.collection_id == collection_id)
    runs = select(Run.id).where(Run.collection_id == collection_id)
    in_lists = select(RankedList.run_id, func.substr(RankedList.documents, 1, TOP_BYTES))
    wanted = in_lists.where(RankedList.run_id.in_(runs), RankedList.topic_id == topic_id)
    of_group = RunTops.run_id.in_(runs) & (RunTops.topic_group == _group_of(topic_id))
    stored = {row[0]: PackedTops(*row) for row in fetch_rows(session, select(*COLUMNS).where(of_group))}
    for run_id, top in fetch_rows(session, wanted):
        before = _tops_of(stored[run_id]) if run_id in stored else {}
        if before is None or topic_id not in before:
            before = _group_in_lists(session, run_id, _group_of(topic_id)) if before is None else before
            session.execute(delete(RunTops).where(of_group, RunTops.run_id == run_id))
            add_tops(session, run_id, {**before, topic_id: top}.items())


def add_missing_tops(session: Session, which: ColumnElement[bool] | None = None) -> int:
    """Add the tops of all runs, or of these, that have ranked lists and no tops; returns the number of such runs.

    A program from before tops were stored may have stored such runs. An import stores tops after its lists.
    """
    runs = select(Run.id).join(Collection, Collection.id == Run.collection_id).where(~Collection.being_imported, _LACKS)
    lacking = session.scalars(runs if which is None else runs.where(which)).all()
    for run_id in lacking:
        add_tops(session, run_id, tops_in_lists(session, run_id))
    return len(lacking)


def read_tops(
    session: Session, run_ids: Sequence[int], topic_ids: Iterable[int]
) -> Iterator[tuple[frozenset[int], list[PackedTops] | None]]:
    """The tops of the runs, ordered by run id, for some of these topics after the other.

    The rows also have other topics, with ids near to these. None in place of tops where only the ranked lists have
    everything: a run has no tops, or they are damaged.
    """
    # Rendered into the statement: there may be more runs than a database allows bound values.
    wanted: BindParameter[int] = bindparam("runs", value=list(run_ids), expanding=True, literal_execute=True)
    if session.scalars(select(Run.id).where(Run.id.in_(wanted), _LACKS).limit(1)).first() is not None:
        yield frozenset(topic_ids), None
        return
    rows = select(*COLUMNS).where(RunTops.run_id.in_(wanted)).order_by(RunTops.run_id)
    for group, topics in groupby(sorted(topic_ids), key=_group_of):
        if tops := list(starmap(PackedTops, fetch_rows(session, rows.where(RunTops.topic_group == group)))):
            yield frozenset(topics), tops if all(map(_is_readable, tops)) else None


def check_tops(session: Session) -> Finding:
    """Compare the stored tops of each run with its ranked lists, and name the runs where they differ.

    Tops of deleted topics stay, since a deleted topic may be restored; they are not compared.
    """
    different = [named for _, named in different_tops(session)]
    named = f" ({', '.join(different[:MOST_NAMED])})" if different else ""
    return Finding(f"Runs whose stored tops are not those of their ranked lists{named}", len(different))


def different_tops(session: Session) -> list[tuple[int, str]]:
    """The id of each run whose stored tops are not those of its ranked lists, and its collection and tag as named."""
    topics = set(session.scalars(select(Topic.id)))
    runs = select(Run.id, Run.tag, Collection.slug).join(Collection, Collection.id == Run.collection_id)
    return [
        (run_id, f"{slug} {tag}")
        for run_id, tag, slug in session.execute(runs.where(~Collection.being_imported).order_by(Run.id)).all()
        if _stored(session, run_id, topics) != dict(tops_in_lists(session, run_id))
    ]


def store_tops_again(session: Session, run_id: int) -> None:
    """Replace the stored tops of a run by those of its ranked lists; a run that was deleted meanwhile stays so.

    Those of deleted topics go, too: they are added when a topic is restored.
    """
    if session.get(Run, run_id, with_for_update=True) is None:
        return
    session.execute(delete(RunTops).where(RunTops.run_id == run_id))
    add_tops(session, run_id, tops_in_lists(session, run_id))


def _stored(session: Session, run_id: int, topics: AbstractSet[int]) -> dict[int, bytes] | None:
    """The stored tops of these topics; None when any of the run are damaged."""
    tops: dict[int, bytes] = {}
    for row in fetch_rows(session, select(*COLUMNS).where(RunTops.run_id == run_id)):
        some = _tops_of(PackedTops(*row))
        if some is None:
            return None
        tops |= some
    return {topic: tops[topic] for topic in tops.keys() & topics}


def _group_in_lists(session: Session, run_id: int, group: int) -> dict[int, bytes]:
    return {topic: top for topic, top in tops_in_lists(session, run_id) if _group_of(topic) == group}


def _is_readable(packed: PackedTops) -> bool:
    """Whether the row is as long as it states: one size for each topic, of documents that are there."""
    if len(packed.topics) != len(packed.sizes) or len(packed.sizes) % NUMBER_BYTES:
        return False
    sizes = _numbers(packed.sizes)
    are_whole = min(sizes, default=0) >= 0 and not any(size % NUMBER_BYTES for size in set(sizes))
    return are_whole and sum(sizes) == len(packed.documents)


def _tops_of(packed: PackedTops) -> dict[int, bytes] | None:
    """The tops of a row by topic; None for a damaged one."""
    if not _is_readable(packed):
        return None
    ends = list(accumulate(_numbers(packed.sizes)))
    pieces = (packed.documents[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
    return dict(zip(_numbers(packed.topics), pieces, strict=True))


def _packed(lists: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """Group of topics, their ids, the bytes of each top, and all tops; each of the first two in 32 bits."""
    in_order = sorted((topic, documents[:TOP_BYTES]) for topic, documents in lists)
    for group, some in groupby(in_order, key=lambda one: _group_of(one[0])):
        topics, tops = zip(*some, strict=True)
        yield group, _integers(topics), _integers([len(top) for top in tops]), b"".join(tops)


def _group_of(topic_id: int) -> int:
    return topic_id // TOPICS_TOGETHER


def _integers(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def _numbers(packed: bytes) -> Sequence[int]:
    return struct.unpack(f"<{len(packed) // NUMBER_BYTES}i", packed)
