"""Who found what: which run, team or search put each judged document into the pool, and which of them alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.collection_figures import Missing, share_of
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns
from annotator.evaluation.metrics.figures import Figure

NOBODY, SEVERAL = -1, -2

Grades = NDArray[np.integer]  # one an entry, `NOT_GRADED` where there is none


@dataclass(frozen=True, eq=False)
class Contributions:
    """Which source (a run, a team, people who searched) has which entry, a document of a topic, in its pool."""

    sources: tuple[str, ...]
    has: NDArray[np.bool_]  # shape: sources, entries

    @classmethod
    def of_tops(
        cls, runs: RegradedRuns, source_of: Sequence[int], sources: Sequence[str], depths: Sequence[int]
    ) -> "Contributions":
        """Take the top of every run, to the depth that was pooled of it; 0 for a run that fed no pool."""
        inside = runs.rank <= np.array(depths, np.int64)[runs.run]
        has = np.zeros((len(sources), runs.entry_topic.size), np.bool_)
        has[np.array(source_of, np.intp)[runs.run[inside]], runs.entry[inside]] = True
        return cls(tuple(sources), has)

    @classmethod
    def of_pairs(
        cls, entry: NDArray[np.intp], source: NDArray[np.intp], sources: Sequence[str], entries: int
    ) -> "Contributions":
        """Take pairs of an entry and a source, as they are stored; a pair may come twice."""
        has = np.zeros((len(sources), entries), np.bool_)
        has[source, entry] = True
        return cls(tuple(sources), has)

    @cached_property
    def only_source(self) -> NDArray[np.intp]:
        """Of each entry: the place of the one source that has it, `NOBODY`, or `SEVERAL`."""
        count = self.has.sum(axis=0)
        one = self.has.argmax(axis=0) if len(self.sources) else np.zeros(count.size, np.intp)
        only: NDArray[np.intp] = np.where(count == 1, one, np.where(count == 0, NOBODY, SEVERAL))
        return only

    def feeding(self, grades: Grades) -> NDArray[np.bool_]:
        """Of each source: whether it put anything into the pool that is judged."""
        feeding: NDArray[np.bool_] = np.count_nonzero(self.has[:, grades > NOT_GRADED], axis=1) > 0
        return feeding


@dataclass(frozen=True)
class SourceFinds:
    """What a source put into the pool, of the judged documents."""

    source: str
    pooled: bool  # whether it put anything into the pool, judged or not
    judged: int
    relevant: int
    only_judged: int  # that no other source has
    only_relevant: int
    share_of_relevant: Figure  # relevant documents that only it has, of all relevant ones


@dataclass(frozen=True)
class WhoFoundWhat:
    """The sources in their order, and how the relevant documents are spread over them."""

    sources: tuple[SourceFinds, ...]
    relevant: int
    relevant_by_sources: tuple[int, ...]  # how many relevant documents none, one, two and so on of the sources have

    @property
    def found_by_one(self) -> Figure:
        """The share of the relevant documents that a single source found."""
        ones = self.relevant_by_sources[1] if len(self.relevant_by_sources) > 1 else 0
        return share_of(ones, self.relevant, Missing.NOTHING_RELEVANT)


def who_found_what(
    contributions: Contributions, grades: Grades, relevant_from: int, pooled: Collection[int] | None = None
) -> WhoFoundWhat:
    """Count what each source put into the pool, of the judged and of the relevant documents, and what it alone did.

    `pooled` are the places of the sources that put anything in, judged or not; without it, those with judged documents.
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
