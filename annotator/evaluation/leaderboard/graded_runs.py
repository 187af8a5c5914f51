"""Runs joined with the grades of one state of the qrels or of several, by the numbers that the database gives."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.contributions import Contributions
from annotator.evaluation.leaderboard.rescoring import (
    NOT_GRADED,
    RegradedRuns,
    SampledEntries,
    Scoring,
    pairs_of_samples,
)
from annotator.evaluation.leaderboard.rescoring import Pair as Pair
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.samples import NO_SAMPLES, Samples
from annotator.evaluation.qrels.settling import Rules, Voice, settle_voices
from annotator.evaluation.runs.rankings import decode_documents

Cell = str | int | float | bool | None
Grades = NDArray[np.int16]


class PairVoice(Voice, Protocol):
    """What a judge says of a pool item, and which topic and document that is."""

    @property
    def topic_id(self) -> int:
        """The topic."""

    @property
    def document_id(self) -> int:
        """The document."""


@dataclass(frozen=True)
class QrelsState:
    """Which grades runs are scored by: “live”, those of this moment, or the number of a version that was kept."""

    name: str
    policy: str
    grades: int
    topics: int
    round: str | None = None  # as `RoundScope.name`, where the runs of one round are scored

    @property
    def source(self) -> str:
        """How tables and files name it."""
        return self.name if self.round is None else f"{self.name}, {self.round}"

    def beside(
        self, headings: Sequence[str], rows: Iterable[Sequence[Cell]], measure: str | None = None
    ) -> tuple[list[str], list[list[Cell]]]:
        """A table whose every row names this state, and the measure if there is one, for files that stand alone."""
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
    place: Mapping[Pair, int]  # which entry a topic's document is
    samples: tuple[SampledEntries | None, ...]  # one a state

    @classmethod
    def join(
        cls,
        lists: Sequence[Mapping[int, bytes]],
        states: Sequence[Mapping[Pair, int]],
        numbers: Mapping[int, str],
        samples: Sequence[Samples] = (),
    ) -> "GradedRuns":
        """Join runs, each {topic: documents packed}, with states of the qrels; topics stand by their `numbers`.

        `samples` has one entry a state, for measures that estimate; none where there are none to compute.
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
        """Score every run by a state of the qrels and its sample, over the topics of which it grades something."""
        return replace(self.runs, sample=self.samples[state]).means(self.grades[state], scoring)

    def contributions(self, finds: Iterable[tuple[Pair, int]], sources: Sequence[str]) -> Contributions:
        """Say which source has which document, by pairs of the two; what no state grades is left out."""
        known = [(self.place[pair], source) for pair, source in finds if pair in self.place]
        columns = np.array(known, np.intp).reshape(len(known), 2)
        return Contributions.of_pairs(columns[:, 0], columns[:, 1], sources, len(self.place))


def settled_pairs(said: Sequence[PairVoice], rules: Rules) -> dict[Pair, int]:
    """Settle what judges say, and give the grades by topic and document."""
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    return {pairs[item]: grade for item, grade in settle_voices(said, rules).grades.items()}


def state_of(name: str, policy: str, grades: Mapping[Pair, int], *, of_round: str | None = None) -> QrelsState:
    """Count what a state of the qrels has, or what is left of it for a round."""
    return QrelsState(name, policy, len(grades), len({topic for topic, _ in grades}), of_round)


def documents_by_topic(pairs: Collection[Pair], topics: Collection[int]) -> dict[int, NDArray[np.int32]]:
    """Gather the documents of each topic, none of some."""
    documents: dict[int, list[int]] = {topic: [] for topic in topics}
    for topic, document in pairs:
        documents[topic].append(document)
    return {topic: np.array(of_topic, np.int32) for topic, of_topic in documents.items()}


def _by_entry(grades: Mapping[Pair, int], place: Mapping[Pair, int]) -> Grades:
    by_entry = np.full(len(place), NOT_GRADED, np.int16)
    by_entry[[place[pair] for pair in grades]] = list(grades.values())
    return by_entry
