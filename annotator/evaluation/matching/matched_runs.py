"""A run matched with qrels, joined from its parts: the retrieved documents that the qrels list."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.runs.rankings import Positions


@dataclass(frozen=True, eq=False)
class MatchedRun:
    """One run against one `QrelsTable`. A row is a retrieved document that the qrels list, judged or only pooled.

    Rows are sorted by topic in the table's order, then by rank.
    """

    tag: str
    retrieved: NDArray[np.intp]  # of each topic of the table: length of the run's list, 0 without one
    topic: NDArray[np.intp]  # of each row: index into the table's topics, ascending
    rank: NDArray[np.int32]  # of each row: from 1, counted over all documents of the list
    entry: NDArray[np.intp]  # of each row: index into the table's entries
    other_topics: int  # number of lists for topics that the qrels do not have


RANK_BITS = 32


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """Retrieved documents that the qrels list, of some lists of a run: topic of the table, rank from 1, entry."""

    topic: Positions
    rank: Positions
    entry: Positions


@dataclass(frozen=True, eq=False)
class MatchedPart:
    """Some complete lists of a run: their lengths, topics in order of occurrence, and their matched rows."""

    tag: bytes
    lengths: dict[bytes, int]
    rows: list[MatchedRows]


def joined_run(index: QrelsIndex, parts: Sequence[MatchedPart]) -> MatchedRun | None:
    """Join parts, at least one; None when they have two tags, or a topic in two of them."""
    lengths: dict[bytes, int] = {}
    for part in parts:
        lengths.update(part.lengths)
    if len(lengths) < sum(len(part.lengths) for part in parts) or len({part.tag for part in parts}) > 1:
        return None
    retrieved = np.zeros(len(index.topics), np.intp)
    other_topics = 0
    for name, length in lengths.items():
        position = index.topics.get(name)
        if position is None:
            other_topics += 1
        else:
            retrieved[position] = length
    topic, rank, entry = _in_order([rows for part in parts for rows in part.rows])
    return MatchedRun(parts[0].tag.decode(), retrieved, topic, rank.astype(np.int32), entry, other_topics)


def _in_order(rows: Sequence[MatchedRows]) -> tuple[Positions, Positions, Positions]:
    """Sort the rows by the table's topics, and by rank within a topic."""
    nothing = np.empty(0, np.intp)
    topic = np.concatenate([nothing, *(some.topic for some in rows)])
    rank = np.concatenate([nothing, *(some.rank for some in rows)])
    entry = np.concatenate([nothing, *(some.entry for some in rows)])
    places = (topic << RANK_BITS) + rank
    if np.all(places[1:] > places[:-1]):
        return topic, rank, entry
    order = np.argsort(places)
    return topic[order], rank[order], entry[order]
