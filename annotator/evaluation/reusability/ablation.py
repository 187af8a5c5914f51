"""Judgement ablation: runs scored repeatedly with random subsets of the grades."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.collection_figures import Missing, tau_figure
from annotator.evaluation.leaderboard.contributions import Grades
from annotator.evaluation.leaderboard.rescoring import NO_DOCNOS, NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.join_qrels import judge_matched
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.significance.rank_correlation import Similarity, similarities

MOST_ROWS = 1 << 19  # joined at a time: they fit the processor's cache, and memory stays bounded

Kept = NDArray[np.bool_]  # one per entry


def thinned_means(
    runs: RegradedRuns,
    grades: NDArray[np.integer],
    kept: Sequence[Kept],
    scorings: Sequence[Scoring],
    *,
    advance: Callable[[], None],
) -> Values:
    """Compute every run's mean over topics from only the kept grades, once for each subset.

    Shape: subsets, scorings, runs. `grades` has one per entry, `NOT_GRADED` where there is none. All topics with a
    grade count, also those with none kept: there a run has its score without judgements. Raises
    `InvalidValueError` when nothing is graded. `advance` is called after each subset, `steps` times in all.
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
    """Return how often `thinned_means` calls `advance`."""
    return choices * sum(1 for _ in _pieces(runs))


@dataclass(frozen=True, eq=False)
class _Joined:
    """Some runs joined with all grades, with the qrels entry of each row that may be removed."""

    judged: JudgedRankings
    of_row: NDArray[np.intp]
    of_grade: NDArray[np.intp]

    @classmethod
    def of(cls, runs: RegradedRuns, grades: NDArray[np.integer], begin: int, end: int, rows: slice) -> "_Joined":
        """Join the runs from `begin` to `end`, whose rows are `rows`."""
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
        # The order of each topic's grades in a batch: best first, ties in entry order.
        best_first = np.lexsort((-of_entries.astype(np.int32), np.repeat(np.arange(topics.size), counts)))
        return cls(judge_matched(table, matched), entries[entry], entries[best_first])

    def keep(self, kept: Kept) -> JudgedRankings:
        """Remove all entries that are not kept from the qrels, as if unjudged."""
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
    """Split the runs into blocks of bounded size: first run, one past the last, and their rows."""
    bounds = np.searchsorted(runs.run, np.arange(len(runs.retrieved) + 1))
    begin = 0
    while begin < len(runs.retrieved):
        within = int(np.searchsorted(bounds, bounds[begin] + MOST_ROWS, side="right")) - 1
        end = min(max(within, begin + 1), len(runs.retrieved))
        yield begin, end, slice(int(bounds[begin]), int(bounds[end]))
        begin = end


SHARES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
DRAWS = 5
SAME_RANKING = 0.9  # rankings with at least this tau are commonly considered equivalent (Voorhees 2000)


@dataclass(frozen=True)
class AblationStep:
    """The runs scored with a share of the judgements, over all draws."""

    share: float
    judgements: int  # the same in every draw
    relevant: float  # relevant ones among these, mean over draws
    values: tuple[float, ...]  # of each run, mean over draws
    tau: Figure  # Kendall's tau-b with the ranking by all judgements, mean over the draws in which it exists
    least_tau: Figure
    greatest_tau: Figure
    tau_ap: Figure

    @property
    def mean(self) -> Figure:
        """The mean of all runs' values."""
        return Figure(sum(self.values) / len(self.values)) if self.values else Figure(None, Missing.NO_RUN)


@dataclass(frozen=True)
class Ablation:
    """The ablation of one measure; steps go from most judgements to fewest, `full` has the values with all."""

    measure: Measure
    full: tuple[float, ...]
    steps: tuple[AblationStep, ...]
    draws: int
    seed: int

    @property
    def share_that_suffices(self) -> float | None:
        """The least share from which on every share keeps the ranking; None when there is none."""
        enough = None
        for step in self.steps:
            if step.tau.value is None or step.tau.value < SAME_RANKING:
                break
            enough = step.share
        return enough


def ablate(
    runs: RegradedRuns,
    grades: Grades,
    scorings: Sequence[Scoring],
    *,
    seed: int,
    shares: Sequence[float] = SHARES,
    draws: int = DRAWS,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Ablation, ...]:
    """Score the runs with nested random samples of the judgements, in several draws.

    Each draw shuffles the judgements of every topic, and a share is a prefix of them, rounded to whole documents and
    at least one per topic (Buckley and Voorhees, SIGIR 2004, who sampled relevant and other documents separately).
    `shares` are above 0 and at most 1; `draws` is at least 1. Returns one result per scoring, none when nothing is
    judged. `advance` is called `steps_of_ablating` times.
    """
    if not np.any(grades > NOT_GRADED):
        return ()
    in_order = sorted(set(shares), reverse=True)
    random = np.random.default_rng(seed)
    kept = [np.ones(grades.size, np.bool_)]
    for _ in range(draws):
        kept += nested_samples(runs.entry_topic, grades, in_order, random)
    means = thinned_means(runs, grades, kept, scorings, advance=advance)
    samples = np.array(kept[1:]).reshape(draws, len(in_order), grades.size)
    return tuple(
        Ablation(
            scoring.measure,
            tuple(means[0, which].tolist()),
            _steps(in_order, samples, grades, scoring, means[:, which]),
            draws,
            seed,
        )
        for which, scoring in enumerate(scorings)
    )


def steps_of_ablating(runs: RegradedRuns, *, shares: Sequence[float] = SHARES, draws: int = DRAWS) -> int:
    """Return how often `ablate` calls `advance`."""
    return steps(runs, 1 + draws * len(set(shares)))


def nested_samples(
    topic: NDArray[np.intp], grades: Grades, shares: Sequence[float], random: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Sample the graded entries of each topic, one subset per share; smaller shares are subsets of greater ones."""
    graded = np.flatnonzero(grades > NOT_GRADED)
    order = graded[np.lexsort((random.random(graded.size), topic[graded]))]
    counts = np.bincount(topic[order])
    position = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    samples = []
    for share in shares:
        wanted = np.maximum(np.floor(share * counts + 0.5), 1)
        sample = np.zeros(grades.size, np.bool_)
        sample[order[position < wanted[topic[order]]]] = True
        samples.append(sample)
    return samples


def _steps(
    shares: Sequence[float], samples: NDArray[np.bool_], grades: Grades, scoring: Scoring, means: Values
) -> tuple[AblationStep, ...]:
    """Summarise the draws; `means` has one row for all judgements, then one for each draw and share."""
    full, sampled = means[0], means[1:].reshape(len(samples), len(shares), -1)
    judgements, relevant = (
        np.count_nonzero(samples[:, :, which], axis=2).mean(axis=0).tolist()
        for which in (grades > NOT_GRADED, grades >= scoring.relevant_from)
    )
    steps_taken = []
    for place, share in enumerate(shares):
        ordered = scoring.order(sampled[:, place])
        alike = similarities(np.broadcast_to(scoring.order(full), ordered.shape), ordered)
        values = tuple(sampled[:, place].mean(axis=0).tolist())
        figures = _figures(alike, full.size)
        steps_taken.append(AblationStep(share, round(judgements[place]), relevant[place], values, *figures))
    return tuple(steps_taken)


def _figures(alike: Sequence[Similarity], runs: int) -> tuple[Figure, Figure, Figure, Figure]:
    """Return mean, least and greatest tau, and the mean tau_AP."""
    taus = [one.tau for one in alike if one.tau is not None]
    aps = [one.tau_ap for one in alike if one.tau_ap is not None]
    if not taus or not aps:
        nothing = tau_figure(Similarity(None, None, None), runs)
        return nothing, nothing, nothing, nothing
    return Figure(sum(taus) / len(taus)), Figure(min(taus)), Figure(max(taus)), Figure(sum(aps) / len(aps))
