"""Holes: the unjudged documents at the top of runs, and their union as documents to judge next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.leaderboard.collection_figures import Missing, share_of
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.runs.rankings import check_depths

DEPTHS = (10, 20, 100)
NOTHING_RETURNED = np.empty(0, np.int32)

Documents = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RunHoles:
    """The unjudged documents at the top of a run, over all topics; a shorter ranking is used in full."""

    tag: str
    depth: int
    shown: int  # number of documents down to the depth
    unjudged: int
    topics: int  # topics with at least one hole

    @property
    def share(self) -> Figure:
        """The unjudged share of the top, over all topics together."""
        return share_of(self.unjudged, self.shown, Missing.NOTHING_RETURNED)


@dataclass(frozen=True, eq=False)
class TopicHoles:
    """The unjudged documents at the top of any run for one topic, by number."""

    documents: Documents
    best_rank: Documents  # best rank in any run, from 1
    runs: Counts  # shape: depths, documents; the number of runs that have it so high

    def candidates(self, place: int, depth: int) -> Documents:
        """Return those within one of the depths: by best rank, then by number of runs descending, then by number."""
        inside = np.flatnonzero(self.best_rank <= depth)
        order = np.lexsort((self.documents[inside], -self.runs[place, inside], self.best_rank[inside]))
        return self.documents[inside[order]]


@dataclass(frozen=True, eq=False)
class Holes:
    """The holes of all runs, at every depth."""

    depths: tuple[int, ...]
    runs: tuple[tuple[RunHoles, ...], ...]  # one a run, each with one entry a depth
    topics: Mapping[int, TopicHoles]

    def candidates(self, depth: int) -> dict[int, Documents]:
        """Unite the holes of all runs at one of the depths, by topic; topics without holes are left out.

        Raises `InvalidValueError` for an unknown depth.
        """
        if depth not in self.depths:
            raise InvalidValueError("Holes were not computed for depth %(depth)d.", depth=depth)
        place = self.depths.index(depth)
        found = {topic: holes.candidates(place, depth) for topic, holes in self.topics.items()}
        return {topic: documents for topic, documents in found.items() if documents.size}


def find_holes(
    tags: Sequence[str],
    runs: Sequence[Mapping[int, Documents]],
    judged: Mapping[int, Documents],
    *,
    depths: Sequence[int] = DEPTHS,
) -> Holes:
    """Find the unjudged documents at the top of each run, {topic key: document numbers best first}, at several depths.

    `judged` has the judged documents of each topic that counts, an empty array where there is none yet. Raises
    `InvalidValueError` for a depth below 1.
    """
    check_depths(depths)
    shown, unjudged, topics = (np.zeros((len(runs), len(depths)), np.int64) for _ in range(3))
    by_topic = {}
    for topic, known in judged.items():
        tops = [run.get(topic, NOTHING_RETURNED)[: max(depths, default=0)] for run in runs]
        sizes = np.array([top.size for top in tops], np.int64)
        counts, by_topic[topic] = _of_topic(tops, known, depths)
        shown += np.minimum(sizes[:, np.newaxis], np.array(depths, np.int64))
        unjudged += counts
        topics += counts > 0
    columns = (shown.tolist(), unjudged.tolist(), topics.tolist())
    return Holes(
        tuple(depths),
        tuple(
            tuple(RunHoles(tag, *row) for row in zip(depths, *rows, strict=True))
            for tag, *rows in zip(tags, *columns, strict=True)
        ),
        by_topic,
    )


def _of_topic(tops: Sequence[Documents], judged: Documents, depths: Sequence[int]) -> tuple[Counts, TopicHoles]:
    """Count the unjudged documents of each run, (runs, depths), and collect them."""
    document = np.concatenate([NOTHING_RETURNED, *tops])
    sizes = np.array([top.size for top in tops], np.int64)
    run = np.repeat(np.arange(len(tops)), sizes)
    rank = np.arange(1, document.size + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    holes = np.flatnonzero(~np.isin(document, judged))
    documents, place = np.unique(document[holes], return_inverse=True)
    run, rank = run[holes], rank[holes]
    best = np.full(documents.size, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(best, place, rank.astype(np.int32))
    counts = np.zeros((len(tops), len(depths)), np.int64)
    runs = np.zeros((len(depths), documents.size), np.int64)
    for column, depth in enumerate(depths):
        inside = rank <= depth
        counts[:, column] = np.bincount(run[inside], minlength=len(tops))
        runs[column] = np.bincount(place[inside], minlength=documents.size)
    return counts, TopicHoles(documents, best, runs)
