"""Runs joined with grades: of states of the qrels, by database ids, or of a qrels file."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.contributions import Contributions
from annotator.evaluation.leaderboard.rescoring import (
    NOT_GRADED,
    RegradedRuns,
    SampledEntries,
    Scoring,
    pairs_of_samples,
)
from annotator.evaluation.leaderboard.rescoring import Pair as Pair
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, named_within
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.graded_topic import GradedTopic, topic_lines
from annotator.evaluation.qrels.qrels_format import UNJUDGED, QrelsRow
from annotator.evaluation.qrels.samples import NO_SAMPLES, Samples, TopicSample, format_prels
from annotator.evaluation.runs.rankings import decode_documents

Cell = str | int | float | bool | None
Grades = NDArray[np.int16]


@dataclass(frozen=True)
class QrelsState:
    """The grades that runs are scored by: “live”, the current ones, or the number of a stored version."""

    name: str
    policy: str
    grades: int
    topics: int
    round: str | None = None  # as `ScoringScope.round_name`, when runs of one round are scored
    task: str | None = None  # the key, when runs of one task are scored

    @property
    def source(self) -> str:
        """The name of the state in tables and files."""
        return named_within(self.name, self.task, self.round)

    def beside(
        self, headings: Sequence[str], rows: Iterable[Sequence[Cell]], measure: str | None = None
    ) -> tuple[list[str], list[list[Cell]]]:
        """Extend a table so that every row names this state, and the measure if there is one, for stand-alone files."""
        about: dict[str, Cell] = {} if measure is None else {"measure": measure}
        about |= {"qrels": self.source, "policy": self.policy, "grades": self.grades, "qrels_topics": self.topics}
        return [*headings, *about], [[*row, *about.values()] for row in rows]


@dataclass(frozen=True, eq=False)
class GradedRuns:
    """Runs in their order, joined with every document that any of the states grades; one array of grades a state.

    The sample of `runs` is that of the first state.
    """

    runs: RegradedRuns
    grades: tuple[Grades, ...]
    place: Mapping[Pair, int]  # entry of each (topic, document)
    samples: tuple[SampledEntries | None, ...]  # one array for each state

    @classmethod
    def join(
        cls,
        lists: Sequence[Mapping[int, bytes]],
        states: Sequence[Mapping[Pair, int]],
        numbers: Mapping[int, str],
        samples: Sequence[Samples] = (),
    ) -> "GradedRuns":
        """Join runs, each {topic: documents packed}, with states of the qrels; topics are sorted by their `numbers`.

        `samples` has one entry for each state, for measures that estimate; empty if there are none to compute.
        """
        of_states = [
            {topic: sample[topic] for topic in {topic for topic, _ in grades} & sample.keys()}
            for grades, sample in zip(states, samples or [NO_SAMPLES] * len(states), strict=True)
        ]
        items = dict(enumerate(sorted(set().union(*states, *map(pairs_of_samples, of_states)))))
        unpacked = [{topic: decode_documents(packed) for topic, packed in run.items()} for run in lists]
        runs, entry = RegradedRuns.join_items(unpacked, items, numbers)
        place = {pair: entry[item] for item, pair in items.items()}
        sampled = tuple(SampledEntries.of(sample, items, entry) for sample in of_states)
        by_entry = tuple(_by_entry(grades, place) for grades in states)
        return cls(replace(runs, sample=sampled[0]), by_entry, place, sampled)

    def means(self, state: int, scoring: Scoring) -> Values:
        """Score every run by a state of the qrels and its sample, over the topics with grades."""
        return replace(self.runs, sample=self.samples[state]).means(self.grades[state], scoring)

    def contributions(self, finds: Iterable[tuple[Pair, int]], sources: Sequence[str]) -> Contributions:
        """Return the contributions of sources, from pairs of document and source; ungraded documents are left out."""
        known = [(self.place[pair], source) for pair, source in finds if pair in self.place]
        columns = np.array(known, np.intp).reshape(len(known), 2)
        return Contributions.of_pairs(columns[:, 0], columns[:, 1], sources, len(self.place))


def state_of(name: str, policy: str, grades: Mapping[Pair, int], *, scope: ScoringScope | None = None) -> QrelsState:
    """Count the grades of a state of the qrels, or of what remains of it for a round or a task."""
    of_round, task = (None, None) if scope is None else (scope.round_name, scope.task)
    return QrelsState(name, policy, len(grades), len({topic for topic, _ in grades}), of_round, task)


def documents_by_topic(pairs: Collection[Pair], topics: Collection[int]) -> dict[int, NDArray[np.int32]]:
    """Group the documents by topic, with an empty array for topics without any."""
    documents: dict[int, list[int]] = {topic: [] for topic in topics}
    for topic, document in pairs:
        documents[topic].append(document)
    return {topic: np.array(of_topic, np.int32) for topic, of_topic in documents.items()}


def _by_entry(grades: Mapping[Pair, int], place: Mapping[Pair, int]) -> Grades:
    by_entry = np.full(len(place), NOT_GRADED, np.int16)
    by_entry[[place[pair] for pair in grades]] = list(grades.values())
    return by_entry


def graded_topics(
    rows: Sequence[QrelsRow], topics: Mapping[str, int], documents: Mapping[str, int], unknown: int
) -> dict[int, GradedTopic]:
    """Group rows by topics, {number: key}; the strata of five-column rows are the sample.

    A document that is not in `documents`, {docno: number}, also counts, with its own number from `unknown`.
    """
    of_topics: dict[str, list[tuple[int, QrelsRow]]] = {number: [] for number in topics}
    for offset, row in enumerate(rows):
        of_topics[row.topic].append((documents.get(row.docno, unknown + offset), row))
    names = sorted({row.stratum for row in rows if row.stratum is not None}, key=natural_order)
    strata = {name: number for number, name in enumerate(names)}
    return {topics[number]: _graded_topic(number, listed, strata) for number, listed in of_topics.items()}


def notices_of_file(rows: Collection[QrelsRow], measures: Collection[Measure], *, is_sampled: bool) -> list[Sentence]:
    """The notice that a file lacks the sample of a sampled pool from which measures estimate."""
    estimates = [str(measure) for measure in measures if measure.definition.estimates]
    states_it = any(row.stratum is not None or row.grade == UNJUDGED for row in rows)
    if states_it or not estimates or not is_sampled:
        return []
    return [
        Sentence(
            "The pool is a sample, and the file does not state which documents were not drawn (-1). Estimates assume "
            "that it is complete: %(measures)s. Export the qrels with the sample for them.",
            {"measures": ", ".join(estimates)},
        )
    ]


def _graded_topic(number: str, listed: Sequence[tuple[int, QrelsRow]], strata: Mapping[str, int]) -> GradedTopic:
    grades = {document: row.grade for document, row in listed}
    if not strata:
        return GradedTopic.of(grades, topic_lines(number, [(row.docno, row.grade) for _, row in listed]))
    of_documents = {document: strata[row.stratum or ""] for document, row in listed}
    columns = [(number, row.docno, row.stratum or "", row.grade) for _, row in listed]
    sample = TopicSample(of_documents, frozenset(grades))
    return GradedTopic.of(grades, format_prels(columns, with_strata=True), sample=sample)
