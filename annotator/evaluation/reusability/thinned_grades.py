"""Runs scored by some of the grades, many times over: joined once, then scored without what is taken out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.rescoring import NO_DOCNOS, NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.join_qrels import judge_matched
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.qrels_table import QrelsTable

MOST_ROWS = 1 << 19  # joined at a time: they stay near the processor, and many runs do not fill the memory

Kept = NDArray[np.bool_]  # one an entry


def thinned_means(
    runs: RegradedRuns,
    grades: NDArray[np.integer],
    kept: Sequence[Kept],
    scorings: Sequence[Scoring],
    *,
    advance: Callable[[], None],
) -> Values:
    """Score every run over the topics by only those grades that are kept, once for each choice of them.

    Shape: choices, scorings, runs. `grades` has one an entry, `NOT_GRADED` where there is none. All topics of which
    something is graded count, also where nothing is kept: there a run has what it has without judgements. Raises
    `InvalidValueError` when nothing is graded. `advance` is called after each choice, `steps` times in all.
    """
    means = np.empty((len(kept), len(scorings), len(runs.retrieved)))
    for begin, end, rows in _pieces(runs):
        joined = _Joined.of(runs, grades, begin, end, rows)
        for place, choice in enumerate(kept):
            judged = joined.keep(choice)
            for which, scoring in enumerate(scorings):
                values = scoring.measure.values(judged, scoring.relevant_from, best_grade=scoring.best_grade)
                means[place, which, begin:end] = scoring.measure.over_topics(values.reshape(end - begin, -1))
            advance()
    return means


def steps(runs: RegradedRuns, choices: int) -> int:
    """How often `thinned_means` advances."""
    return choices * sum(1 for _ in _pieces(runs))


@dataclass(frozen=True, eq=False)
class _Joined:
    """Some runs joined with all grades, with the entry of everything that may be taken out."""

    judged: JudgedRankings
    of_row: NDArray[np.intp]
    of_grade: NDArray[np.intp]

    @classmethod
    def of(cls, runs: RegradedRuns, grades: NDArray[np.integer], begin: int, end: int, rows: slice) -> "_Joined":
        """Join the runs from `begin` to `end`, which have these rows."""
        entries = np.flatnonzero(grades > NOT_GRADED)
        topics, counts = np.unique(runs.entry_topic[entries], return_counts=True)
        number = np.full(grades.size, -1, np.intp)
        number[entries] = np.arange(entries.size)
        entry = number[runs.entry[rows]]
        is_graded = np.flatnonzero(entry >= 0)
        of_topic = np.zeros(len(runs.topics), np.intp)
        of_topic[topics] = np.arange(topics.size)
        topic = of_topic[runs.row_topic[rows][is_graded]]
        run, rank, entry = runs.run[rows][is_graded], runs.rank[rows][is_graded], entry[is_graded]
        bounds = np.searchsorted(run, np.arange(begin, end + 1)).tolist()
        matched = [
            MatchedRun("", retrieved, topic[first:last], rank[first:last], entry[first:last], 0)
            for retrieved, first, last in zip(runs.retrieved[begin:end, topics], bounds[:-1], bounds[1:], strict=True)
        ]
        of_entries = grades[entries].astype(np.int16)
        first_entry = np.concatenate(([0], np.cumsum(counts)))
        table = QrelsTable(tuple(runs.topics[place] for place in topics.tolist()), first_entry, NO_DOCNOS, of_entries)
        # The order in which a batch keeps the grades of each topic: best first, ties in their order.
        best_first = np.lexsort((-of_entries.astype(np.int32), np.repeat(np.arange(topics.size), counts)))
        return cls(judge_matched(table, matched), entries[entry], entries[best_first])

    def keep(self, kept: Kept) -> JudgedRankings:
        """Take all that is not kept out of the qrels, as if nobody had judged it."""
        judged = self.judged
        rows, grades = np.flatnonzero(kept[self.of_row]), np.flatnonzero(kept[self.of_grade])
        of_grade = judged.strata.of_grade[grades]
        return replace(
            judged,
            ranking=judged.ranking[rows],
            rank=judged.rank[rows],
            grade=judged.grade[rows],
            first_row=np.searchsorted(rows, judged.first_row),
            topic_grade=judged.topic_grade[grades],
            topic_first=np.searchsorted(grades, judged.topic_first),
            strata=replace(
                judged.strata,
                of_row=judged.strata.of_row[rows],
                of_grade=of_grade,
                pooled=np.bincount(of_grade, minlength=judged.strata.topic.size),
            ),
        )


def _pieces(runs: RegradedRuns) -> Iterator[tuple[int, int, slice]]:
    """Cut the runs into pieces of some rows: the first run, the one after the last, and their rows."""
    bounds = np.searchsorted(runs.run, np.arange(len(runs.retrieved) + 1))
    begin = 0
    while begin < len(runs.retrieved):
        within = int(np.searchsorted(bounds, bounds[begin] + MOST_ROWS, side="right")) - 1
        end = min(max(within, begin + 1), len(runs.retrieved))
        yield begin, end, slice(int(bounds[begin]), int(bounds[end]))
        begin = end
