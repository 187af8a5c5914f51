"""One round of a collection that has several: which runs are scored, and what is taken out because it was known."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.live_scores import GradedTopic
from annotator.evaluation.reusability.residual_collection import Documents, residual_runs

JudgedBefore = Mapping[int, Mapping[int, str]]  # topic key → {document: docno}


@dataclass(frozen=True, eq=False)
class RoundScope:
    """The runs of one round, {run id}, and how they are scored.

    `residual` takes what was judged before, and kept as these versions of the qrels, out of runs and qrels; `read`
    gives it when it is needed, and `mark` changes when it may have become another.
    """

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]
    mark: Hashable
    read: Callable[[], JudgedBefore]

    @property
    def key(self) -> Hashable:
        """Tells scores of this scope from those of any other."""
        return (self.number, self.residual, self.kept, self.mark)

    @property
    def name(self) -> str:
        """The same in the words in which tables and files name what they were scored against."""
        return f"round {self.number}, {'residual' if self.residual else 'whole'}"

    @property
    def sentence(self) -> Sentence:
        """The same for whoever reads the scores."""
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
            "topics that were judged before it are taken out of the runs and out of the qrels. They are those of the "
            "kept qrels, version %(versions)s, without what was put back since because its text had changed.",
            {
                **number,
                "documents": sum(map(len, self._judged.values())),
                "versions": ", ".join(map(str, self.kept)),
            },
        )

    def grades_left(self, topics: Mapping[int, GradedTopic]) -> dict[int, GradedTopic]:
        """The topics without the grades, and lines, of what was judged before."""
        return {id_: self._without(id_, topic) for id_, topic in topics.items()}

    def lists_left(self, lists: Mapping[int, Sequence[Documents]]) -> dict[int, list[NDArray[np.int32]]]:
        """The lists of the runs, one a run for each topic, without what was judged before, the others moved up."""
        judged = {id_: np.array(sorted(documents), np.int32) for id_, documents in self._judged.items()}
        return {
            id_: [run[id_] for run in residual_runs([{id_: one} for one in of_runs], judged).runs]
            for id_, of_runs in lists.items()
        }

    @cached_property
    def _judged(self) -> JudgedBefore:
        return self.read() if self.residual else {}

    def _without(self, id_: int, topic: GradedTopic) -> GradedTopic:
        known = self._judged.get(id_)
        if not known:
            return topic
        docnos = {docno.encode() for docno in known.values()}
        lines = [line for line in topic.lines.splitlines(keepends=True) if line.split()[2] not in docnos]
        grades = {document: grade for document, grade in topic.grades.items() if document not in known}
        return replace(topic, grades=grades, lines=b"".join(lines), values=OrderedDict())
