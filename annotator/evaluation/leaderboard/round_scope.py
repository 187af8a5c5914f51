"""Scoring of one round of several: its runs, and the removal of documents judged earlier (residual collection)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.qrels.samples import Samples
from annotator.evaluation.runs.rankings import decode_documents, encode_documents

Documents = NDArray[np.int32]
Run = Mapping[int, Documents]


@dataclass(frozen=True, eq=False)
class ResidualRuns:
    """Runs without the documents judged before, the others moved up."""

    runs: tuple[dict[int, Documents], ...]
    removed: tuple[int, ...]  # documents removed from each run, over all topics


def residual_runs(runs: Sequence[Run], judged_before: Mapping[int, Documents]) -> ResidualRuns:
    """Remove the documents judged before from runs, {topic key: document numbers best first}.

    Residual collection, as in TREC-COVID (Voorhees et al., SIGIR Forum 2020). A document that is judged again because
    its text changed should not be among those judged before.
    """
    tables = {topic: _table(documents) for topic, documents in judged_before.items()}
    left = tuple({topic: _without(ranking, tables.get(topic)) for topic, ranking in run.items()} for run in runs)
    before, after = ([sum(ranking.size for ranking in run.values()) for run in several] for several in (runs, left))
    return ResidualRuns(left, tuple(all_of - some for all_of, some in zip(before, after, strict=True)))


def residual_qrels(
    qrels: Mapping[int, Mapping[int, int]], judged_before: Mapping[int, Documents]
) -> dict[int, dict[int, int]]:
    """Remove the same documents from the qrels, {topic key: {document: grade}}, that score the residual runs.

    Topics without remaining grades are left out.
    """
    known = {topic: set(documents.tolist()) for topic, documents in judged_before.items()}
    left = {
        topic: {document: grade for document, grade in grades.items() if document not in known.get(topic, ())}
        for topic, grades in qrels.items()
    }
    return {topic: grades for topic, grades in left.items() if grades}


def _table(documents: Documents) -> NDArray[np.bool_]:
    """Mark the documents in a table, with one more slot, to which higher numbers are clipped."""
    table = np.zeros(int(documents.max(initial=0)) + 2, np.bool_)
    table[documents] = True
    return table


def _without(ranking: Documents, table: NDArray[np.bool_] | None) -> Documents:
    if table is None:
        return ranking
    return ranking[~table.take(ranking, mode="clip")]


Pair = tuple[int, int]  # topic key and document
JudgedBefore = Mapping[int, Mapping[int, str]]  # topic key → {document: docno}


@dataclass(frozen=True, eq=False)
class RoundScope:
    """The runs of one round, {run id}, and the residual collection that scores them.

    With `residual`, documents judged before, in these versions of the qrels, are removed from runs and qrels;
    `mark` changes when they may have changed.
    """

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]
    mark: Hashable
    judged: JudgedBefore = field(default_factory=dict)  # removed documents with docnos; empty without `residual`

    @property
    def key(self) -> Hashable:
        """A key that distinguishes scores of this scope from those of other rounds, whatever was judged before."""
        return (self.number, self.residual)

    @property
    def mark_of_scores(self) -> Hashable:
        """What distinguishes scores of this scope from earlier ones of the same round."""
        return (self.kept, self.mark)

    @property
    def name(self) -> str:
        """The name of the scope in tables and files."""
        return f"round {self.number}, {'residual' if self.residual else 'whole'}"

    @property
    def sentence(self) -> Sentence:
        """The notice shown beside the scores."""
        number: dict[str, object] = {"number": self.number}
        if not self.residual:
            return Sentence("Only the runs of round %(number)d are scored, against all that is judged.", number)
        if not self.kept:
            return Sentence(
                "Only the runs of round %(number)d are scored. Nothing was judged before it, so nothing is taken out.",
                number,
            )
        return Sentence(
            "Only the runs of round %(number)d are scored, on the residual collection: %(documents)d documents of "
            "topics that were judged before it are removed from the runs and from the qrels. They are those of the "
            "kept qrels, version %(versions)s, without those returned to the queue since because their text had "
            "changed.",
            {
                **number,
                "documents": sum(map(len, self.judged.values())),
                "versions": ", ".join(map(str, self.kept)),
            },
        )

    def grades_left(self, topics: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
        """The topics without the grades, and lines, of documents judged before."""
        judged = self.judged
        return {id_: topic.without(judged[id_]) if judged.get(id_) else topic for id_, topic in topics.items()}

    def lists_left(self, lists: Mapping[int, Sequence[Documents]]) -> dict[int, list[NDArray[np.int32]]]:
        """The lists of the runs, one a run for each topic, without documents judged before, the others moved up."""
        return {
            id_: [run[id_] for run in residual_runs([{id_: one} for one in of_runs], self.judged_documents).runs]
            for id_, of_runs in lists.items()
        }

    @cached_property
    def judged_documents(self) -> Mapping[int, Documents]:
        """The removed documents of each topic, as sorted arrays."""
        return {id_: np.array(sorted(documents), np.int32) for id_, documents in self.judged.items()}

    @property
    def changes_grades(self) -> bool:
        """Whether grades were removed, so that they differ from those of their source."""
        return self.residual and bool(self.kept)

    def places_left(self, topic: int, packed: bytes) -> NDArray[np.intp]:
        """The indices in a packed list of the remaining documents."""
        return np.flatnonzero(~np.isin(decode_documents(packed), self.judged_documents.get(topic, ())))


def pairs_within(scope: RoundScope | None, grades: Mapping[Pair, int]) -> Mapping[Pair, int]:
    """The remaining grades, {(topic, document): grade}, for scoring a round."""
    if scope is None or not scope.residual:
        return grades
    return {pair: grade for pair, grade in grades.items() if pair[1] not in scope.judged.get(pair[0], ())}


def qrels_within(scope: RoundScope | None, qrels: Mapping[int, Mapping[int, int]]) -> Mapping[int, Mapping[int, int]]:
    """The remaining grades, {topic: {document: grade}}, without topics that have none left."""
    return qrels if scope is None else residual_qrels(qrels, scope.judged_documents)


def lists_within(scope: RoundScope | None, lists: Mapping[int, bytes]) -> Mapping[int, bytes]:
    """The packed lists of a run, {topic: documents}, without documents judged before the round."""
    if scope is None or not scope.residual:
        return lists
    return {
        topic: encode_documents(decode_documents(packed)[scope.places_left(topic, packed)])
        for topic, packed in lists.items()
    }


def samples_within(scope: RoundScope | None, samples: Samples) -> Samples:
    """The samples of topics without documents judged before the round."""
    if scope is None or not scope.residual:
        return samples
    return {topic: sample.without(scope.judged.get(topic, ())) for topic, sample in samples.items()}


def notices_within(scope: RoundScope | None) -> tuple[Sentence, ...]:
    """The notices about the round shown beside scores."""
    return () if scope is None else (scope.sentence,)


def nothing_judged(scope: RoundScope | None) -> ConflictError:
    """The error when no grade remains to score by."""
    if scope is None or not scope.residual or not scope.kept:
        return ConflictError("Nothing is judged yet, so there is nothing to score against.")
    return ConflictError(
        "All judgements were made before round %(number)d, so there is nothing to score against.",
        number=scope.number,
    )


def no_run(scope: RoundScope | None) -> ConflictError:
    """The error when there is no run to score."""
    if scope is None:
        return ConflictError("There is no run to score yet.")
    return ConflictError("There is no run to score in round %(number)d.", number=scope.number)
