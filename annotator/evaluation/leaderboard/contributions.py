"""Contributions to the pool: the runs, teams or searches that found each judged document, and unique contributions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.collection_figures import Missing, share_of
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns
from annotator.evaluation.metrics.figures import Figure

NOBODY, SEVERAL = -1, -2

Grades = NDArray[np.integer]  # one value an entry, `NOT_GRADED` without a grade


@dataclass(frozen=True, eq=False)
class Contributions:
    """The entries (documents of topics) that each source (a run, a team, people who searched) has in its pool."""

    sources: tuple[str, ...]
    has: NDArray[np.bool_]  # shape: sources, entries

    @classmethod
    def of_tops(
        cls, runs: RegradedRuns, source_of: Sequence[int], sources: Sequence[str], depths: Sequence[int]
    ) -> "Contributions":
        """Take the top of every run down to its pooled depth, 0 for a run that is not pooled."""
        inside = runs.rank <= np.array(depths, np.int64)[runs.run]
        has = np.zeros((len(sources), runs.entry_topic.size), np.bool_)
        has[np.array(source_of, np.intp)[runs.run[inside]], runs.entry[inside]] = True
        return cls(tuple(sources), has)

    @classmethod
    def of_pairs(
        cls, entry: NDArray[np.intp], source: NDArray[np.intp], sources: Sequence[str], entries: int
    ) -> "Contributions":
        """Take parallel arrays of entries and sources, as stored; duplicates are allowed."""
        has = np.zeros((len(sources), entries), np.bool_)
        has[source, entry] = True
        return cls(tuple(sources), has)

    @cached_property
    def only_source(self) -> NDArray[np.intp]:
        """For each entry, the index of the one source that has it, `NOBODY`, or `SEVERAL`."""
        count = self.has.sum(axis=0)
        one = self.has.argmax(axis=0) if len(self.sources) else np.zeros(count.size, np.intp)
        only: NDArray[np.intp] = np.where(count == 1, one, np.where(count == 0, NOBODY, SEVERAL))
        return only

    def feeding(self, grades: Grades) -> NDArray[np.bool_]:
        """For each source, whether it contributed a judged document to the pool."""
        feeding: NDArray[np.bool_] = np.count_nonzero(self.has[:, grades > NOT_GRADED], axis=1) > 0
        return feeding


@dataclass(frozen=True)
class SourceFinds:
    """The judged documents that one source contributed to the pool."""

    source: str
    pooled: bool  # whether it contributed any document, judged or not
    judged: int
    relevant: int
    only_judged: int  # unique to this source
    only_relevant: int
    share_of_relevant: Figure  # unique relevant documents as a share of all relevant ones


@dataclass(frozen=True)
class WhoFoundWhat:
    """The sources in their order, and the distribution of relevant documents over them."""

    sources: tuple[SourceFinds, ...]
    relevant: int
    relevant_by_sources: tuple[int, ...]  # number of relevant documents with 0, 1, 2 and so on sources

    @property
    def found_by_one(self) -> Figure:
        """The share of relevant documents with a single source."""
        ones = self.relevant_by_sources[1] if len(self.relevant_by_sources) > 1 else 0
        return share_of(ones, self.relevant, Missing.NOTHING_RELEVANT)


def who_found_what(
    contributions: Contributions, grades: Grades, relevant_from: int, pooled: Collection[int] | None = None
) -> WhoFoundWhat:
    """Count the judged, relevant and unique documents that each source contributed to the pool.

    `pooled` are the indices of the sources with any pooled document; by default, those with judged documents.
    """
    is_judged = grades > NOT_GRADED
    is_relevant = is_judged & (grades >= relevant_from)
    relevant = int(np.count_nonzero(is_relevant))
    only = contributions.only_source
    is_only = only >= 0
    columns = [contributions.has[:, which].sum(axis=1).tolist() for which in (is_judged, is_relevant)] + [
        np.bincount(only[is_only & which], minlength=len(contributions.sources)).tolist()
        for which in (is_judged, is_relevant)
    ]
    finds = tuple(
        SourceFinds(
            source,
            bool(judged) if pooled is None else place in pooled,
            judged,
            found,
            alone,
            best,
            share_of(best, relevant, Missing.NOTHING_RELEVANT),
        )
        for place, (source, judged, found, alone, best) in enumerate(zip(contributions.sources, *columns, strict=True))
    )
    spread = np.bincount(contributions.has[:, is_relevant].sum(axis=0), minlength=len(contributions.sources) + 1)
    return WhoFoundWhat(finds, relevant, tuple(spread.tolist()))
