"""What adaptive strategies share: they learn from the judgements so far, and choose the next documents to judge."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns

Blocked = NDArray[np.bool_]  # of each place, and of one more that is never blocked


@dataclass(frozen=True)
class Verdict:
    """A judgement as strategies see it."""

    document: int
    is_relevant: bool | None  # None: the document cannot be judged
    run: int | None = None  # from which it was chosen: index among the runs given; None if from none of them


@dataclass(frozen=True)
class Choice:
    """A document to judge next, and why."""

    document: int
    run: int  # from which it was chosen, or which spoke for it most: index among the runs given
    reason: Mapping[str, float]  # can be stored as JSON; `explain` says it


class Adaptive(ABC):
    """A strategy at work on one topic.

    The choices follow from the runs and the verdicts so far, in the order they came, and from nothing else: whoever
    gives the same verdicts to a new one gets the same choices. Verdicts on documents that were never chosen count as
    any other; those on documents that no run has tell nothing about runs. A document's first verdict counts; whoever
    wants another to count begins anew. Not for several threads at once.
    """

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1) -> None:
        """Begin without verdicts; the seed is of random ties."""
        self.runs = runs
        self.preference = runs.preference(ties, seed)
        self.ties = ties
        self.seed = seed
        self._known = np.zeros(runs.candidates + 1, np.bool_)

    def learn(self, verdicts: Iterable[Verdict]) -> None:
        """Take further verdicts in."""
        for verdict in verdicts:
            place = self.runs.place_of.get(verdict.document)
            if place is not None and not self._known[place]:
                self._known[place] = True
                if verdict.is_relevant is not None:
                    row = None if verdict.run is None else self.runs.row_of[verdict.run]
                    self._learn(place, row, is_relevant=verdict.is_relevant)

    def choose(self, count: int = 1, out: Iterable[int] = ()) -> list[Choice]:
        """Choose up to `count` documents, fewer when there are no more; asking changes nothing.

        `out` are documents that were handed out and have no verdict yet: they are passed over, and no run is thought
        better or worse for them. Of several choices, each passes over the ones before it in the same way.
        """
        blocked = self._known.copy()
        blocked[[place for place in map(self.runs.place_of.get, out) if place is not None]] = True
        choices: list[Choice] = []
        while len(choices) < count and not blocked[:-1].all():
            place, row, reason = self._next(blocked)
            choices.append(Choice(int(self.runs.documents[place]), int(self.runs.given[row]), reason))
            blocked[place] = True
        return choices

    @abstractmethod
    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:
        """Take in a verdict on a document that had none; `row` is the run from which it was chosen, if known."""

    @abstractmethod
    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        """Give the place, the row and the reason of the best document that is not blocked; there is one."""

    def _preferred(self, rows: NDArray[np.intp], places: NDArray[np.int32], blocked: Blocked) -> int:
        """Settle a tie among runs, each of which puts a document forward: the index of the one that goes first.

        Of runs that put the same document forward, the one that comes first in their own order; of random ties, any,
        drawn again whenever another document is blocked.
        """
        if self.ties is Ties.RANDOM:
            drawn = blake2b(f"{self.seed}\0{self.runs.topic}\0{np.count_nonzero(blocked)}".encode(), digest_size=8)
            return int.from_bytes(drawn.digest(), "big") % rows.size
        return int(np.argmin(self.runs.given[rows] if self.ties is Ties.FIRST_RUN else self.preference[places]))


def explain(reason: Mapping[str, float], run: str) -> Sentence:
    """Say why a document was chosen, given the reason of a `Choice` and the tag of its run."""
    values: dict[str, object] = {"run": run, "rank": int(reason["rank"])}
    if "misses" in reason:
        values["misses"] = int(reason["misses"])
        return Sentence(
            "Rank %(rank)d of %(run)s. Misses since its last hit: %(misses)d; no other run has fewer.", values
        )
    if "alpha" in reason:
        values |= {name: f"{reason[name]:g}" for name in ("alpha", "beta")}
        values["mean"] = f"{reason['alpha'] / (reason['alpha'] + reason['beta']):.3f}"
        return Sentence(
            "Rank %(rank)d of %(run)s, whose mean of %(mean)s (alpha %(alpha)s, beta %(beta)s) no other run exceeds.",
            values,
        )
    values |= {name: f"{reason[name]:.3f}" for name in ("weight", "trust")}
    return Sentence(
        "No other document has more than its weight of %(weight)s; most of it is from rank %(rank)d of %(run)s, "
        "trusted with %(trust)s.",
        values,
    )
