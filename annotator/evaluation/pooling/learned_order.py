"""The strategy `cal`: documents in the order in which a classifier of their texts finds them relevant."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.active_learning import presumed_negatives, relevance_scores, training_hash
from annotator.evaluation.pooling.adaptive import Adaptive, Blocked
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.pooling.text_features import TermCounts, TextFeatures, count_terms, weighted
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns

Documents = NDArray[np.int32]

# A row of a packed order: document, rank, score.
ROW = np.dtype([("document", "<i4"), ("rank", "<i4"), ("score", "<f4")])


class CandidateSet(Enum):
    """The documents from which a classifier chooses."""

    POOLED = "pooled"  # those of the runs
    CORPUS = "corpus"  # all of the collection that have a text, too


class BatchSize(Enum):
    """How many documents are chosen between two rounds of training."""

    ONE = "1"
    GROW = "grow"  # 1, and then a tenth more in every round


class ContinuousLearning(Adaptive):
    """Take the document whose text a classifier finds most likely relevant: continuous active learning.

    A logistic regression of word weights learns from the judged documents, from the topic's text as one more relevant
    document, and from 1,000 documents without a judgement as if they were not relevant, drawn again in every round.
    A worker trains it while judges go on; a round lasts for one document at first and a tenth more each time, or always
    for one. Documents without a text, and those that are needed before a round is over, come by reciprocal rank
    fusion. Cormack and Grossman, "Autonomy and Reliability of Continuous Active Learning for Technology-Assisted
    Review", 2015.
    """

    def __init__(self, runs: TopicRuns, *, seed: int = 1) -> None:
        """Break ties by the seed, as docnos may be dates."""
        super().__init__(runs, ties=Ties.RANDOM, seed=seed)

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:
        """Leave learning to `learn_order`, which needs the texts."""

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        fused = np.where(blocked[:-1], -np.inf, self.runs.rrf)
        best = np.flatnonzero(fused == fused.max())
        place = int(best[np.argmin(self.preference[best])])
        rows, ranks = self.runs.holders(place)
        return place, int(rows[0]), {"rank": int(ranks[0]), "fused": float(fused[place])}


@dataclass(frozen=True, eq=False)
class LearnedOrder:
    """Documents of a topic without a judgement, most likely relevant first, as one round of training ranked them."""

    documents: Documents
    ranks: NDArray[np.int32]  # from 1, among all documents without a judgement that have a text
    scores: NDArray[np.float32]  # distances from the boundary of the classifier

    def pack(self) -> bytes:
        """Pack it, 12 bytes a document."""
        rows = np.empty(self.documents.size, ROW)
        rows["document"], rows["rank"], rows["score"] = self.documents, self.ranks, self.scores
        return rows.tobytes()

    @classmethod
    def unpack(cls, packed: bytes) -> "LearnedOrder":
        """Unpack what `pack` returned."""
        rows = np.frombuffer(packed, ROW)
        return cls(rows["document"], rows["rank"], rows["score"])

    def first(self, count: int, out: Collection[int]) -> "LearnedOrder":
        """The first `count` documents that are not in `out`."""
        left = np.flatnonzero(~np.isin(self.documents, list(out)))[:count]
        return LearnedOrder(self.documents[left], self.ranks[left], self.scores[left])

    def with_new(self, count: int, known: Collection[int]) -> "LearnedOrder":
        """The first documents, `count` among them that are not in `known`, and none in `known` after these."""
        is_new = ~np.isin(self.documents, list(known))
        places = np.flatnonzero(is_new)[:count]
        kept = slice(0, int(places[-1]) + 1 if places.size == count else self.documents.size)
        return LearnedOrder(self.documents[kept], self.ranks[kept], self.scores[kept])


class HashedText(Protocol):
    """A document that has a text."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def docno(self) -> str:
        """Its docno."""

    @property
    def text_hash(self) -> str | None:
        """A hash of the text."""


@dataclass(frozen=True, eq=False)
class CandidateTexts:
    """The features of a topic's candidates and of its other judged documents, in an order that the seed determines."""

    documents: Documents
    is_candidate: NDArray[np.bool_]
    identities: Sequence[str]  # of each, its docno and a hash of its text
    features: TextFeatures

    def rows_of(self, documents: Collection[int]) -> NDArray[np.intp]:
        """The rows of those documents that have a text here."""
        return np.flatnonzero(np.isin(self.documents, list(documents)) & ~self.features.is_empty)

    def named(self, rows: NDArray[np.intp]) -> list[str]:
        """What identifies these rows."""
        return [self.identities[row] for row in rows.tolist()]


class _Draw(TypedDict):
    """What the documents are drawn by that are presumed not relevant."""

    seed: int
    topic: str
    round_: int


class _Identities(Sequence[str]):
    """What identifies each text, made when it is asked for."""

    def __init__(self, texts: Sequence[HashedText]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an index or a slice, as of every sequence
        if isinstance(index, slice):
            return _Identities(self._texts[index])
        return f"{self._texts[index].docno} {self._texts[index].text_hash}"


@dataclass(frozen=True, eq=False)
class CountedTexts:
    """Documents with a text, in the order of their rows, and the features of the texts."""

    texts: tuple[HashedText, ...]
    features: TextFeatures

    @classmethod
    def of(
        cls,
        texts: Sequence[HashedText],
        seed: int,
        read: Callable[[Sequence[int]], Iterable[str]],
        known: "CountedTexts | None" = None,
    ) -> "CountedTexts":
        """Count the terms of texts, which `read` returns by number, as far as they are not known.

        Their order is drawn by the seed: it breaks ties.
        """
        lots = judging_order([text.docno for text in texts], seed, "\0ties")
        in_order = tuple(texts[place] for place in np.argsort(lots, kind="stable").tolist())
        if known is not None and known.texts == in_order:
            return known
        before = () if known is None else known.texts
        places = {text: place for place, text in enumerate(before)}
        new = [text for text in in_order if text not in places]
        added = count_terms(read([text.id for text in new]))
        places |= {text: place for place, text in enumerate(new, len(before))}
        parts = [added] if known is None else [known.features.counts, added]
        counts = TermCounts.join(parts).select(np.array([places[text] for text in in_order], np.intp))
        return cls(in_order, weighted(counts))

    def candidates(self, among: Collection[int] | None = None) -> CandidateTexts:
        """The texts with those documents as candidates, or all."""
        documents = np.array([text.id for text in self.texts], np.int32)
        is_candidate = np.ones(documents.size, np.bool_) if among is None else np.isin(documents, list(among))
        return CandidateTexts(documents, is_candidate, _Identities(self.texts), self.features)


@dataclass(frozen=True)
class Training:
    """What a classifier learns from: the topic's number and text, whether judged documents are relevant, the draw."""

    topic: str
    text: str
    labels: Mapping[int, bool]  # by document
    seed: int
    round: int


@dataclass(frozen=True, eq=False)
class Learned:
    """The order by one round of training, None where there was nothing to learn from, and a hash of the training."""

    order: LearnedOrder | None
    training_hash: str


def learn_order(texts: CandidateTexts, training: Training) -> Learned:
    """Train a classifier and rank the candidates without a judgement; equal scores are in the order of `texts`."""
    relevant, not_relevant = (
        texts.rows_of([one for one, is_relevant in training.labels.items() if is_relevant is wanted])
        for wanted in (True, False)
    )
    is_judged = np.isin(texts.documents, list(training.labels))
    unjudged = np.flatnonzero(texts.is_candidate & ~texts.features.is_empty & ~is_judged)
    draw: _Draw = {"seed": training.seed, "topic": training.topic, "round_": training.round}
    presumed = presumed_negatives(texts.features, unjudged, **draw)
    hashed = training_hash(training.text, *map(texts.named, (relevant, not_relevant, presumed)), **draw)
    scores = relevance_scores(texts.features, training.text, relevant, not_relevant, unjudged, **draw)
    if scores is None:
        return Learned(None, hashed)
    of_unjudged = scores[unjudged]
    order = np.argsort(-of_unjudged, kind="stable")
    ranks = np.arange(1, order.size + 1, dtype=np.int32)
    return Learned(LearnedOrder(texts.documents[unjudged[order]], ranks, of_unjudged[order]), hashed)
