"""Inspection of one topic: ranking of the runs, difficulty, and the runs that found its relevant documents."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import places, ranked_values
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.setting import Values


@dataclass(frozen=True)
class RankedRun:
    """A run's value for the topic and its rank from 1; ties share a rank."""

    tag: str
    value: float
    place: int | None  # None when the measure has no direction


@dataclass(frozen=True)
class Difficulty:
    """The distribution of all runs' values for a topic. A single run has no spread."""

    topic: str
    median: Figure
    lower_quartile: Figure
    upper_quartile: Figure
    deviation: Figure  # standard deviation, of the runs as a sample
    least: Figure
    greatest: Figure
    place: int | None  # rank from 1, the hardest first, by the median; ties share a rank

    @property
    def spread(self) -> Figure:
        """The interquartile range: the smaller, the less the topic distinguishes runs."""
        if self.deviation.value is None or self.upper_quartile.value is None or self.lower_quartile.value is None:
            return Figure(None, self.deviation.reason)
        return Figure(self.upper_quartile.value - self.lower_quartile.value)


@dataclass(frozen=True)
class FoundDocument:
    """A relevant document, and the runs and teams that have it within the inspected depth."""

    document: int
    grade: int
    runs: tuple[str, ...]
    teams: tuple[str, ...]
    best_rank: int | None  # None when no run has it

    @property
    def only_team(self) -> str | None:
        """The one team that found it."""
        return self.teams[0] if len(self.teams) == 1 else None


@dataclass(frozen=True)
class FoundDocuments:
    """The relevant documents of a topic, by grade descending, then by number of runs ascending."""

    documents: tuple[FoundDocument, ...]

    @property
    def by_grade(self) -> dict[int, int]:
        """The number of documents of each grade, best first."""
        return dict(sorted(Counter(found.grade for found in self.documents).items(), reverse=True))

    @property
    def by_runs(self) -> dict[int, int]:
        """The number of relevant documents by the number of runs that have them, 0 first."""
        return dict(sorted(Counter(len(found.runs) for found in self.documents).items()))

    @property
    def unique(self) -> dict[str, int]:
        """The number of documents that each team alone found, most first; teams without any are left out."""
        counts = Counter(found.only_team for found in self.documents if found.only_team is not None)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], natural_order(item[0]))))


def rank_runs(tags: Sequence[str], values: Values, better: Better) -> tuple[RankedRun, ...]:
    """Rank runs by their values for one topic, best first, ties by name."""
    place_of = places(ranked_values(better, values))
    rows = sorted(zip(tags, values.tolist(), place_of, strict=True), key=lambda row: (row[2], natural_order(row[0])))
    is_ranked = better is not Better.NEITHER
    return tuple(RankedRun(tag, value, place if is_ranked else None) for tag, value, place in rows)


def difficulties(topics: Sequence[str], values: Values, better: Better) -> tuple[Difficulty, ...]:
    """Compute the difficulty of each topic from the values of all runs, (runs, topics); topics keep their order."""
    runs = len(values)
    if not runs or not topics:
        none = Figure(None, Missing.NO_RUN)
        return tuple(Difficulty(topic, none, none, none, none, none, none, None) for topic in topics)
    low, lower, median, upper, high = np.percentile(values, (0, 25, 50, 75, 100), axis=0).tolist()
    deviations = map(Figure, values.std(axis=0, ddof=1).tolist()) if runs > 1 else repeat(Figure(None, Missing.ONE_RUN))
    hardness = _hardness(median, better)
    return tuple(
        Difficulty(
            topic,
            Figure(median[at]),
            Figure(lower[at]),
            Figure(upper[at]),
            deviation,
            Figure(low[at]),
            Figure(high[at]),
            hardness[at],
        )
        for at, (topic, deviation) in enumerate(zip(topics, deviations, strict=False))  # a single run has no quartiles
    )


def found_documents(
    rankings: Sequence[NDArray[np.int32]],
    tags: Sequence[str],
    teams: Sequence[str],
    grades: Mapping[int, int],
    relevant_from: int,
    *,
    depth: int | None = None,
) -> FoundDocuments:
    """Return the runs and teams that have each relevant document of a topic, within a depth or at any rank.

    `rankings` has every run's document numbers, best first, `teams` the team of each run. Names are in natural order.
    """
    relevant = np.array(sorted(document for document, grade in grades.items() if grade >= relevant_from), np.int64)
    finders: dict[int, list[tuple[int, int]]] = {document: [] for document in relevant.tolist()}
    for run, ranking in enumerate(rankings):
        rows = np.flatnonzero(np.isin(ranking[:depth], relevant))
        for row, document in zip(rows.tolist(), ranking[rows].tolist(), strict=True):
            finders[document].append((run, row + 1))
    found = (_found(document, grades[document], rows, tags, teams) for document, rows in finders.items())
    return FoundDocuments(tuple(sorted(found, key=lambda one: (-one.grade, len(one.runs), one.document))))


def _found(
    document: int, grade: int, rows: Sequence[tuple[int, int]], tags: Sequence[str], teams: Sequence[str]
) -> FoundDocument:
    return FoundDocument(
        document,
        grade,
        tuple(sorted((tags[run] for run, _ in rows), key=natural_order)),
        tuple(sorted({teams[run] for run, _ in rows}, key=natural_order)),
        min((rank for _, rank in rows), default=None),
    )


def _hardness(medians: Sequence[float], better: Better) -> list[int | None]:
    """Rank the topics, hardest first."""
    if better is Better.NEITHER:
        return [None] * len(medians)
    return list(places(-ranked_values(better, np.array(medians))))


@dataclass(frozen=True)
class RunOnTopic:
    """A run's value and rank for a topic, and the judged share of its top ten."""

    ranked: RankedRun
    team: str
    judged_share: float


@dataclass(frozen=True)
class TopicLook:
    """The inspection of one topic."""

    number: str
    difficulty: Difficulty
    runs: tuple[RunOnTopic, ...]  # best first
    found: FoundDocuments
    judged: int  # number of documents with a grade


def look_at_topics(scored: ScoredRuns) -> tuple[Difficulty, ...]:
    """Return the difficulty of each topic, in natural order."""
    every = difficulties(scored.numbers, scored.values, scored.better)
    return tuple(sorted(every, key=lambda one: natural_order(one.topic)))


def look_at_topic(scored: ScoredRuns, number: str, *, depth: int | None = None) -> TopicLook:
    """Inspect a topic; documents count as found within a depth of the runs, or at any rank.

    Raises `NotFoundError` when it is not scored.
    """
    topic = scored.topic(number)
    places = {tag: place for place, tag in enumerate(scored.tags)}
    grades = scored.qrels[scored.topics[topic]]
    lists = [scored.ranking(run, topic) for run in range(len(scored.tags))]
    return TopicLook(
        number=number,
        difficulty=difficulties(scored.numbers, scored.values, scored.better)[topic],
        runs=tuple(
            RunOnTopic(one, scored.teams[places[one.tag]], float(scored.judged[places[one.tag], topic]))
            for one in rank_runs(scored.tags, scored.values[:, topic], scored.better)
        ),
        found=found_documents(lists, scored.tags, scored.teams, grades, scored.state.relevant_from, depth=depth),
        judged=len(grades),
    )
