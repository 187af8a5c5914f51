"""Runs that rank the same documents in the same order, whatever their tags, scores and files are."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run


class _Sketch(NamedTuple):
    """What runs of one ranking have in common and is known without reading a list."""

    retrieved: int
    topics: int
    first_topic: int


def same_rankings(session: Session, collection_id: int) -> dict[int, tuple[str, ...]]:
    """By run id, the tags of other teams' runs in force that have the same ranking.

    Of a run without a team nobody knows whose it is: it counts as another team's. Two runs are rarely alike, so that
    one list of each is compared before all of them are.
    """
    sketches, teams, tags = {}, {}, {}
    for run_id, tag, team_id, retrieved, topics, first_topic in session.execute(
        select(Run.id, Run.tag, Run.team_id, Run.retrieved, func.count(), func.min(RankedList.topic_id))
        .join(RankedList, RankedList.run_id == Run.id)
        .where(Run.collection_id == collection_id, IN_FORCE)
        .group_by(Run.id, Run.tag, Run.team_id, Run.retrieved)
        .order_by(Run.id)
    ):
        sketches[run_id] = _Sketch(retrieved, topics, first_topic)
        teams[run_id], tags[run_id] = team_id, tag
    groups = _grouped(sketches, sketches.__getitem__)
    groups = [part for group in groups for part in _alike_in_first(session, group, sketches[group[0]].first_topic)]
    groups = [part for group in groups for part in _alike(session, group)]
    return {
        run: tuple(tags[other] for other in others)
        for group in groups
        for run in group
        if (others := [one for one in group if one != run and (teams[one] is None or teams[one] != teams[run])])
    }


def _grouped(runs: Iterable[int], key: Callable[[int], Hashable]) -> list[list[int]]:
    """Those runs that share their key with another."""
    groups = defaultdict(list)
    for run in runs:
        groups[key(run)].append(run)
    return [group for group in groups.values() if len(group) > 1]


def _alike_in_first(session: Session, runs: Collection[int], topic_id: int) -> list[list[int]]:
    """Those that rank the same for one topic."""
    documents: dict[int, bytes] = {}
    for some in chunks(list(runs)):
        rows = select(RankedList.run_id, RankedList.documents).where(
            RankedList.run_id.in_(some), RankedList.topic_id == topic_id
        )
        documents.update((run_id, hashlib.sha256(packed).digest()) for run_id, packed in session.execute(rows))
    return _grouped(runs, documents.__getitem__)


def _alike(session: Session, runs: Collection[int]) -> list[list[int]]:
    """Those that rank the same for every topic."""
    return _grouped(runs, {run: _digest(session, run) for run in runs}.__getitem__)


def _digest(session: Session, run_id: int) -> bytes:
    digest = hashlib.sha256()
    lists = select(RankedList.topic_id, RankedList.documents).where(RankedList.run_id == run_id)
    for topic_id, packed in session.execute(lists.order_by(RankedList.topic_id)):
        digest.update(b"%d %d " % (topic_id, len(packed)))
        digest.update(packed)
    return digest.digest()
