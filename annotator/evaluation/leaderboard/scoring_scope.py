"""What is scored of a collection: the runs of a round, on its residual collection or not, and those of a task."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.errors import ConflictError, NotFoundError, Sentence
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


Of = TypeVar("Of")


@dataclass(frozen=True, eq=False)
class ScoringScope:
    """The runs of one round, of one task, or of one task in one round, {run id}, and what they are scored on.

    With `residual`, documents judged before the round, in these versions of the qrels, are removed from runs and qrels;
    `mark` changes when they may have changed. `topics` are those of the task, by id; None for all of the collection.
    """

    runs: frozenset[int]
    round: int | None = None
    residual: bool = False
    kept: tuple[int, ...] = ()
    mark: Hashable = None
    task: str | None = None  # the key
    topics: frozenset[int] | None = None
    judged: JudgedBefore = field(default_factory=dict)  # removed documents with docnos; empty without `residual`

    @property
    def key(self) -> Hashable:
        """A key that distinguishes scores of this scope from those of others, whatever was judged before a round."""
        return (self.round, self.residual, self.task)

    @property
    def mark_of_scores(self) -> Hashable:
        """What distinguishes scores of this scope from earlier ones of the same round."""
        return (self.kept, self.mark)

    @property
    def name(self) -> str:
        """The name of the scope in tables and files."""
        return named_within("", self.task, self.round_name)

    @property
    def round_name(self) -> str | None:
        """The name of the round in tables and files, None without one."""
        return None if self.round is None else f"round {self.round}, {'residual' if self.residual else 'whole'}"

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The notices shown beside the scores."""
        found = []
        if self.task is not None:
            found.append(
                Sentence("Only the runs of the task “%(task)s” are scored, on its topics.", {"task": self.task})
            )
        if self.round is not None:
            found.append(self._of_round(self.round))
        return tuple(found)

    def _of_round(self, number: int) -> Sentence:
        values: dict[str, object] = {"number": number}
        if not self.residual:
            return Sentence("Only the runs of round %(number)d are scored, against all that is judged.", values)
        if not self.kept:
            return Sentence(
                "Only the runs of round %(number)d are scored. Nothing was judged before it, so nothing is taken out.",
                values,
            )
        return Sentence(
            "Only the runs of round %(number)d are scored, on the residual collection: %(documents)d documents of "
            "topics that were judged before it are removed from the runs and from the qrels. They are those of the "
            "kept qrels, version %(versions)s, without those returned to the queue since because their text had "
            "changed.",
            {
                **values,
                "documents": sum(map(len, self.judged.values())),
                "versions": ", ".join(map(str, self.kept)),
            },
        )

    def topics_left(self, of_topics: Mapping[int, Of]) -> dict[int, Of]:
        """The entries, by topic id, of topics that are scored."""
        return {id_: one for id_, one in of_topics.items() if self.topics is None or id_ in self.topics}

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
        """Whether grades are left out, so that they differ from those of their source."""
        return (self.residual and bool(self.kept)) or self.topics is not None

    def places_left(self, topic: int, packed: bytes) -> NDArray[np.intp]:
        """The indices in a packed list of the remaining documents."""
        return np.flatnonzero(~np.isin(decode_documents(packed), self.judged_documents.get(topic, ())))


def named_within(source: str, task: str | None, of_round: str | None) -> str:
    """The name of grades in tables and files, with that of the task and of the round whose runs they score."""
    return ", ".join(filter(None, [source, task and f"task {task}", of_round]))


def pairs_within(scope: ScoringScope | None, grades: Mapping[Pair, int]) -> Mapping[Pair, int]:
    """The remaining grades, {(topic, document): grade}, of what is scored."""
    if scope is None or not (scope.residual or scope.topics is not None):
        return grades
    return {
        (topic, document): grade
        for (topic, document), grade in grades.items()
        if (scope.topics is None or topic in scope.topics) and document not in scope.judged.get(topic, ())
    }


def topics_within(scope: ScoringScope | None, of_topics: Mapping[int, Of]) -> Mapping[int, Of]:
    """The entries, by topic id, of topics that are scored."""
    return of_topics if scope is None else scope.topics_left(of_topics)


def qrels_within(scope: ScoringScope | None, qrels: Mapping[int, Mapping[int, int]]) -> Mapping[int, Mapping[int, int]]:
    """The remaining grades, {topic: {document: grade}}, without topics that have none left."""
    return qrels if scope is None else residual_qrels(scope.topics_left(qrels), scope.judged_documents)


def lists_within(scope: ScoringScope | None, lists: Mapping[int, bytes]) -> Mapping[int, bytes]:
    """The packed lists of a run, {topic: documents}, without documents judged before the round."""
    if scope is None or not scope.residual:
        return lists
    return {
        topic: encode_documents(decode_documents(packed)[scope.places_left(topic, packed)])
        for topic, packed in lists.items()
    }


def samples_within(scope: ScoringScope | None, samples: Samples) -> Samples:
    """The samples of topics that are scored, without documents judged before the round."""
    if scope is None:
        return samples
    left = scope.topics_left(samples)
    return left if not scope.residual else {id_: one.without(scope.judged.get(id_, ())) for id_, one in left.items()}


def notices_within(scope: ScoringScope | None) -> tuple[Sentence, ...]:
    """The notices about the round and the task shown beside scores."""
    return () if scope is None else scope.sentences


def nothing_judged(scope: ScoringScope | None) -> ConflictError:
    """The error when no grade remains to score by."""
    residual = scope is not None and scope.residual and bool(scope.kept)
    if scope is None or (scope.task is None and not residual):
        return ConflictError("Nothing is judged yet, so there is nothing to score against.")
    if scope.task is None:
        return ConflictError(
            "All judgements were made before round %(number)d, so there is nothing to score against.",
            number=scope.round,
        )
    if not residual:
        return ConflictError(
            "No topic of the task “%(task)s” has a judgement yet, so there is nothing to score against.",
            task=scope.task,
        )
    return ConflictError(
        "No topic of the task “%(task)s” has a judgement that was made after the rounds before round %(number)d, so "
        "there is nothing to score against.",
        task=scope.task,
        number=scope.round,
    )


def no_run(scope: ScoringScope | None) -> ConflictError:
    """The error when there is no run to score."""
    if scope is None:
        return ConflictError("There is no run to score yet.")
    if scope.task is None:
        return ConflictError("There is no run to score in round %(number)d.", number=scope.round)
    if scope.round is None:
        return ConflictError("There is no run to score in the task “%(task)s”.", task=scope.task)
    return ConflictError(
        "There is no run of the task “%(task)s” to score in round %(number)d.", task=scope.task, number=scope.round
    )


def not_scored(tag: str, scope: ScoringScope) -> NotFoundError:
    """The error when a run is asked for that is not of the round, or not of the task."""
    if scope.task is None:
        return NotFoundError("The run %(tag)s is not one of round %(number)d.", tag=tag, number=scope.round)
    if scope.round is None:
        return NotFoundError("The run %(tag)s is not one of the task “%(task)s”.", tag=tag, task=scope.task)
    return NotFoundError(
        "The run %(tag)s is not one of the task “%(task)s” in round %(number)d.",
        tag=tag,
        task=scope.task,
        number=scope.round,
    )
