"""Adaptive strategies: Hedge, MaxMean and move-to-front choose the next documents from the judgements so far."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.pooling.topic_runs import Places, Ties, TopicRuns, Weights

Blocked = NDArray[np.bool_]  # one entry a place, and one more that is never blocked


@dataclass(frozen=True)
class Verdict:
    """A judgement as input of a strategy."""

    document: int
    is_relevant: bool | None  # None: the document cannot be judged
    run: int | None = None  # index of the run from which it was chosen; None if from none of them


@dataclass(frozen=True)
class Choice:
    """A document to judge next, and why."""

    document: int
    run: int  # index of the run from which it was chosen, or which contributed most to it
    reason: Mapping[str, float]  # a JSON value; `explain` formats it


class Adaptive(ABC):
    """The state of an adaptive strategy on one topic.

    The choices depend only on the runs and the verdicts so far, in their order: a new object with the same
    verdicts makes the same choices. Verdicts on documents that were never chosen count like
    any others; those on documents that no run has give no information on runs. The first verdict of a document
    counts; to replace one, create a new object. Not thread-safe.
    """

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1) -> None:
        """Start without verdicts; the seed is for random ties."""
        self.runs = runs
        self.preference = runs.preference(ties, seed)
        self.ties = ties
        self.seed = seed
        self._known = np.zeros(runs.candidates + 1, np.bool_)

    def learn(self, verdicts: Iterable[Verdict]) -> None:
        """Update the state with further verdicts."""
        for verdict in verdicts:
            place = self.runs.place_of.get(verdict.document)
            if place is not None and not self._known[place]:
                self._known[place] = True
                if verdict.is_relevant is not None:
                    row = None if verdict.run is None else self.runs.row_of[verdict.run]
                    self._learn(place, row, is_relevant=verdict.is_relevant)

    def choose(self, count: int = 1, out: Iterable[int] = ()) -> list[Choice]:
        """Choose up to `count` documents, fewer if there are no more; the state does not change.

        `out` are documents handed out without a verdict yet: they are skipped, and no run's estimate changes
        because of them. Of several choices, each skips the ones before it in the same way.
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
        """Update the state with a first verdict on a document; `row` is the run from which it was chosen, if known."""

    @abstractmethod
    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        """Return the place, the row and the reason of the best document that is not blocked; there must be one."""

    def _preferred(self, rows: NDArray[np.intp], places: NDArray[np.int32], blocked: Blocked) -> int:
        """Break a tie among runs that each propose a document: the index of the chosen one.

        Among runs that propose the same document, the one first in their own order; for random ties, any,
        drawn again whenever another document is blocked.
        """
        if self.ties is Ties.RANDOM:
            drawn = blake2b(f"{self.seed}\0{self.runs.topic}\0{np.count_nonzero(blocked)}".encode(), digest_size=8)
            return int.from_bytes(drawn.digest(), "big") % rows.size
        return int(np.argmin(self.runs.given[rows] if self.ties is Ties.FIRST_RUN else self.preference[places]))


def explain(reason: Mapping[str, float], run: str) -> Sentence:
    """Explain why a document was chosen, given the reason of a `Choice` and the tag of its run, if a run has it."""
    values: dict[str, object] = {"run": run, "rank": int(reason["rank"])}
    if reason.keys() & {"round", "fused", "chance"} or len(reason) == 1:
        return _explain_besides_runs(reason, values)
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


def _explain_besides_runs(reason: Mapping[str, float], values: dict[str, object]) -> Sentence:
    """Explain a choice by texts or by a machine's labels."""
    if "round" in reason:
        values |= {"round": int(reason["round"]), "score": f"{reason['score']:.3f}"}
        return Sentence("Rank %(rank)d by the classifier of round %(round)d, with a score of %(score)s.", values)
    if "fused" in reason:
        values["fused"] = f"{reason['fused']:.4f}"
        return Sentence(
            "No other document has more than its %(fused)s by reciprocal rank fusion; its best rank is %(rank)d, of "
            "%(run)s. No classifier had ranked it.",
            values,
        )
    if "chance" in reason:
        values["chance"] = f"{reason['chance']:.3f}"
        return Sentence(
            "Of no other document is the machine less certain, given the judgements: it is relevant with a chance of "
            "%(chance)s. Its best rank is %(rank)d, of %(run)s.",
            values,
        )
    return Sentence("The machine has not graded it. Its best rank is %(rank)d, of %(run)s.", values)


BETA = 0.1
DECIMALS = 9  # decimals of compared weights: sums of the same terms in another order differ in the 16th


class Hedge(Adaptive):
    """Take the document for which the runs speak most, each with the trust that judgements gave it: Hedge.

    A run that has the document at rank r of c candidates speaks for it with ln(c / r) / 2; one that does not have it,
    with the mean over the ranks it did not use. The document with the greatest sum of trust times this comes next. A
    judgement multiplies every run's trust by 0.1 to the power of what the run said: negative if the document is
    relevant, positive if not. Sums that differ by no more than rounding are equal, so that the order of late documents
    does not hang on the last bit of a float. Aslam, Pavlu and Savell, "A unified model for metasearch, pooling, and
    system evaluation", CIKM 2003.
    """

    def __init__(
        self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1, decimals: int | None = DECIMALS
    ) -> None:
        """Begin with equal trust in all runs; without `decimals` weights are compared to the last bit."""
        super().__init__(runs, ties=ties, seed=seed)
        self._decimals = decimals
        self._said = np.log(runs.candidates / np.arange(1, runs.candidates + 1)) / 2  # at each rank
        # What is left from each length on; after the last rank nothing is, and nobody asks for it.
        left = np.append(np.cumsum(self._said[::-1])[::-1], 0)[runs.lengths]
        self._absent = left / np.maximum(runs.candidates - runs.lengths, 1)
        entries = runs.entries
        self._present = self._said[entries.rank - 1] - self._absent[entries.row]
        # As logarithms, since a trust of 0.1^1000 is no number.
        self._trust = np.zeros(runs.given.size)
        self._weights: Weights | None = None

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:  # noqa: ARG002  every run learns
        said = self._absent.copy()
        rows, ranks = self.runs.holders(place)
        said[rows] = self._said[ranks - 1]
        self._trust += (-said if is_relevant else said) * np.log(BETA)
        self._weights = None

    def _shares(self) -> Weights:
        """Each run's share of all trust."""
        trust: Weights = np.exp(self._trust - self._trust.max())
        return trust / float(trust.sum())

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        shares = self._shares()
        if self._weights is None:
            absent = float((shares * self._absent).sum())
            self._weights = absent + self.runs.sums(shares[self.runs.entries.row] * self._present)
            if self._decimals is not None:
                self._weights = np.round(self._weights, self._decimals)
        free = np.where(blocked[:-1], -np.inf, self._weights)
        best = np.flatnonzero(free == free.max())
        place = int(best[np.argmin(self.preference[best])])
        rows, ranks = self.runs.holders(place)
        most = int(np.argmax(shares[rows] * self._said[ranks - 1]))
        reason = {
            "rank": int(ranks[most]),
            "weight": float(self._weights[place]),
            "trust": float(shares[rows[most]]),
        }
        return place, int(rows[most]), reason


class Update(Enum):
    """Which runs learn from a judgement."""

    ALL = "all"  # every run that has the document
    PULLED = "pulled"  # only the run from which it was chosen; all, when a judgement does not say one


class MaxMean(Adaptive):
    """Take the next document of the run of which most judged documents are relevant: MaxMean.

    Each run is an arm of a bandit: of its judged documents, r are relevant and n are not, and its mean is
    alpha / (alpha + beta) with alpha = 1 + r and beta = 1 + n. The best-ranked document without a judgement of the run
    with the greatest mean comes next. A judgement counts for every run that has the document, or with update=pulled
    only for the run it was chosen from. Losada, Parapar and Barreiro, SAC 2016 and Information Processing and
    Management 53(5), 2017.
    """

    RATE = 1.0

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1, update: Update = Update.ALL) -> None:
        super().__init__(runs, ties=ties, seed=seed)
        self._update = update
        self._relevant = np.zeros(runs.given.size)
        self._judged = np.zeros(runs.given.size)
        self._heads = np.zeros(runs.given.size, np.intp)
        self._rows = np.arange(runs.given.size)

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:
        pulled_only = self._update is Update.PULLED and row is not None
        rows = row if pulled_only else self.runs.holders(place)[0]
        self._relevant[rows] = self.RATE * self._relevant[rows] + is_relevant
        self._judged[rows] = self.RATE * self._judged[rows] + 1

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        # Judged documents stay judged, so that they need not be passed again.
        self._heads, _ = self._passed(self._known)
        heads, at_head = self._passed(blocked)
        alpha, beta = 1 + self._relevant, 1 + self._judged - self._relevant
        means = np.where(at_head < self.runs.candidates, alpha / (alpha + beta), -1)
        best = np.flatnonzero(means == means.max())
        row = int(best[self._preferred(best, at_head[best], blocked)])
        reason = {"rank": int(heads[row]) + 1, "alpha": float(alpha[row]), "beta": float(beta[row])}
        return int(at_head[row]), row, reason

    def _passed(self, blocked: Blocked) -> tuple[NDArray[np.intp], Places]:
        """Move every run past its blocked documents: the heads, and the places there."""
        heads = self._heads.copy()
        while True:
            at_head = self.runs.lists[self._rows, heads]
            stuck = blocked[at_head]
            if not stuck.any():
                return heads, at_head
            heads += stuck


class LastMaxMean(MaxMean):
    """Take the next document of the run whose last judged document is relevant: non-stationary MaxMean.

    As MaxMean, but r and n are multiplied by a rate before a judgement is added, and the rate is 0: only the last one
    counts, so that a run that stops finding relevant documents is left at once. Means then have three values, and ties
    decide much; they are drawn at random unless another rule is chosen. Losada, Parapar and Barreiro, Information
    Processing and Management 53(5), 2017.
    """

    RATE = 0.0


UNKNOWN, NOT_RELEVANT, RELEVANT = range(3)

# A run in the queue: misses since its last hit, its place in a tie, its row.
Standing = tuple[int, int, int]


class MoveToFront(Adaptive):
    """Follow a run while it finds relevant documents, then turn to the next: move-to-front.

    Every run begins with the highest priority. The next document of the run in front is judged; if it is relevant the
    run's priority becomes the highest again, else it falls by one. Documents that are judged already move their run
    likewise when it comes to them. This is the local form, topic by topic; the priority is kept as the number of misses
    since the last hit, so that it needs no highest value. Cormack, Palmer and Clarke, SIGIR 1998.
    """

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1) -> None:
        super().__init__(runs, ties=ties, seed=seed)
        self._rows: list[list[int]] = runs.lists.tolist()
        self._tie: list[int] = self.preference.tolist()
        self._given: list[int] = runs.given.tolist()
        self._verdicts = bytearray(runs.candidates)
        self._heads = [0] * len(self._rows)
        tops = [(row, places[0]) for row, places in enumerate(self._rows) if places[0] < runs.candidates]
        self._queue = [self._standing(0, row, top) for row, top in tops]
        heapq.heapify(self._queue)

    def _standing(self, misses: int, row: int, place: int) -> Standing:
        return misses, self._given[row] if self.ties is Ties.FIRST_RUN else self._tie[place], row

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:  # noqa: ARG002  every run that comes to the document learns
        self._verdicts[place] = RELEVANT if is_relevant else NOT_RELEVANT

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        # Where the known verdicts lead depends on nothing that is still to come, so that it need not be walked again.
        self._walk(self._heads, self._queue, self._known.tobytes())
        heads, queue = self._heads.copy(), self._queue.copy()
        self._walk(heads, queue, blocked.tobytes())
        misses, _, row = queue[0]
        return self._rows[row][heads[row]], row, {"rank": heads[row] + 1, "misses": misses}

    def _walk(self, heads: list[int], queue: list[Standing], blocked: bytes) -> None:
        """Move runs on, past blocked documents, until the one in front is at one that is not; some run has one."""
        end = self.runs.candidates
        while True:
            misses, _, row = queue[0]
            places, head = self._rows[row], heads[row]
            place = places[head]
            if not blocked[place]:
                return
            heads[row] = head + 1
            after = places[head + 1]
            if after == end:
                heapq.heappop(queue)
                continue
            verdict = self._verdicts[place]
            if verdict != UNKNOWN:
                misses = 0 if verdict == RELEVANT else misses + 1
            heapq.heapreplace(queue, self._standing(misses, row, after))
