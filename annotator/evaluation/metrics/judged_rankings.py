"""A batch of rankings joined with the qrels, the input of every measure."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class GradedRows:
    """The retrieved documents of a batch from some grade on, sorted by ranking, then by rank."""

    ranking: NDArray[np.intp]
    rank: NDArray[np.int32]  # from 1
    grade: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class RelevantRows(GradedRows):
    """The same with what binary measures need."""

    nth: NDArray[np.intp]  # index of this relevant document in its ranking, from 1
    nonrelevant_above: NDArray[np.intp]  # judged documents above it that are not relevant
    retrieved: NDArray[np.intp]  # of each ranking: relevant documents retrieved
    existing: NDArray[np.intp]  # of each ranking: relevant documents of its topic, retrieved or not

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """The precision at the rank of each; cached, as measures share it."""
        return self.nth / self.rank


@dataclass(frozen=True, eq=False)
class UnjudgedRows:
    """The retrieved documents that the qrels list with a negative grade: in the pool, but not judged.

    A row is a document; rows are sorted by ranking, then by rank.
    """

    ranking: NDArray[np.intp]
    rank: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Strata:
    """The strata from which documents to judge were sampled, numbered over all topics together."""

    of_row: NDArray[np.intp]  # of each judged row
    of_unjudged: NDArray[np.intp]  # of each unjudged row
    of_grade: NDArray[np.intp]  # of each of the topics' grades
    topic: NDArray[np.intp]  # of each stratum
    pooled: NDArray[np.intp]  # of each stratum: number of documents, judged or not


@dataclass(frozen=True, eq=False)
class SubtopicRows:
    """Grades by subtopic: of the retrieved documents, and of all that the qrels list.

    Subtopics are numbered over all topics together, those of a topic in the order in which the qrels first name them.
    """

    row: NDArray[np.intp]  # of each grade of a retrieved document: its row among the judged ones, ascending
    subtopic: NDArray[np.intp]
    grade: NDArray[np.int16]
    topic: NDArray[np.intp]  # of each subtopic, ascending
    listed_document: NDArray[np.intp]  # of each grade of the qrels, by topic: its document, numbered by docno
    listed_subtopic: NDArray[np.intp]
    listed_grade: NDArray[np.int16]

    def relevant_documents(self, grade: int) -> NDArray[np.float64]:
        """Count the documents of each subtopic with this grade or a better one, retrieved or not."""
        relevant = self.listed_subtopic[self.listed_grade >= grade]
        return np.bincount(relevant, minlength=self.topic.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """A batch of rankings joined with the qrels; stores only documents that are both retrieved and in the qrels.

    A row is a document with a grade of 0 or more; rows are sorted by ranking, then by rank. A negative grade in the
    means pooled but unjudged, as for trec_eval; such documents have rows of their own, in `unjudged`.
    """

    ranking: NDArray[np.intp]  # of each row: index of its ranking, ascending
    rank: NDArray[np.int32]  # of each row: from 1, counting judged and unjudged documents
    grade: NDArray[np.int16]
    first_row: NDArray[np.intp]  # index of each ranking's first row; one longer than there are rankings
    retrieved: NDArray[np.intp]  # of each ranking: number of documents, judged or not
    topic: NDArray[np.intp]  # of each ranking: index of its topic
    topic_grade: NDArray[np.int16]  # every judged document's grade, by topic, best first; retrieved or not
    topic_first: NDArray[np.intp]  # index of each topic's first grade; one longer than there are topics
    unjudged: UnjudgedRows
    strata: Strata
    subtopics: SubtopicRows | None = None  # of qrels that have them
    _relevant: dict[int, RelevantRows] = field(default_factory=dict, init=False, repr=False)

    def at_least(self, grade: int) -> RelevantRows:
        """Return the rows with this grade or a better one; cached, as measures share it."""
        if grade not in self._relevant:
            self._relevant[grade] = self._pick(grade)
        return self._relevant[grade]

    def graded(self, grade: int) -> GradedRows:
        """Return the rows with this grade or a better one, without the columns that only binary measures need."""
        if grade in self._relevant:
            return self._relevant[grade]
        rows = np.flatnonzero(self.grade >= grade)
        return GradedRows(self.ranking[rows], self.rank[rows], self.grade[rows])

    @property
    def with_subtopics(self) -> SubtopicRows:
        """The grades by subtopic, of a measure that needs them."""
        if self.subtopics is None:
            raise ValueError("this measure needs qrels with subtopics")
        return self.subtopics

    def existing(self, grade: int) -> NDArray[np.intp]:
        """Count each topic's documents with this grade or a better one, retrieved or not."""
        good_enough = np.concatenate(([0], np.cumsum(self.topic_grade >= grade)))
        return np.diff(good_enough[self.topic_first])

    @cached_property
    def best_grade(self) -> NDArray[np.int16]:
        """The best grade that any document of each topic has; 0 for a topic without judgements."""
        padded = np.append(self.topic_grade, np.int16(0))
        return np.where(np.diff(self.topic_first) > 0, padded[self.topic_first[:-1]], np.int16(0))

    @cached_property
    def judged_only(self) -> "JudgedRankings":
        """The condensed lists: each ranking without its unjudged documents, the others moved up (trec_eval -J)."""
        nothing = UnjudgedRows(self.unjudged.ranking[:0], self.unjudged.rank[:0])
        return replace(
            self,
            rank=(np.arange(1, self.ranking.size + 1) - self.first_row[self.ranking]).astype(np.int32),
            retrieved=np.diff(self.first_row),
            unjudged=nothing,
            strata=replace(self.strata, of_unjudged=self.strata.of_unjudged[:0]),
        )

    def _pick(self, grade: int) -> RelevantRows:
        rows = np.flatnonzero(self.grade >= grade)
        ranking = self.ranking[rows]
        retrieved = np.bincount(ranking, minlength=self.retrieved.size)
        # Rows are sorted by ranking: repeating takes half the time of looking up.
        nth = np.arange(1, rows.size + 1) - np.repeat(np.cumsum(retrieved) - retrieved, retrieved)
        judged_above = rows - np.repeat(self.first_row[:-1], retrieved)
        existing = self.existing(grade)[self.topic]
        return RelevantRows(
            ranking, self.rank[rows], self.grade[rows], nth, judged_above - (nth - 1), retrieved, existing
        )
