"""Continuous active learning: a classifier of the judged texts says which documents to judge next.

AutoTAR of Cormack and Grossman, "Autonomy and reliability of continuous active learning for technology-assisted
review", arXiv:1504.06868, 2015: the topic's text is the first relevant document, some unjudged documents that are drawn
again in each round are presumed not relevant, and batches grow by a tenth. A thousand are presumed here, theirs are a
hundred: docs/performance.md has the figures.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.text_features import (
    COLUMNS,
    FIRST,
    IDF_POWER,
    SUFFIXES,
    Floats,
    Rows,
    TermCounts,
    TextFeatures,
    learning_library,
)

PRESUMED = 1000
GROWTH = 10  # a batch grows by one in so many
# Of logistic regression. Both classes weigh alike, however many documents each has.
COST, CLASS_WEIGHT, TOLERANCE, MOST_ITERATIONS = 2.0, "balanced", 0.1, 1000
DECIMALS = 5  # of scores: the last digits of a sum differ from one processor to another
HASH_BYTES = 16


def next_batch(batch: int) -> int:
    """The size of the batch after one of this size: a tenth more, at least one."""
    return batch - (-batch // GROWTH)


def presumed_negatives(features: TextFeatures, candidates: Rows, *, seed: int, topic: str, round_: int) -> Rows:
    """Draw up to 1,000 of the candidates that have text, ascending."""
    having = np.sort(candidates)
    having = having[~features.is_empty[having]]
    random = _random("presumed", seed, topic, round_)
    return np.sort(random.choice(having, min(PRESUMED, having.size), replace=False, shuffle=False))


def relevance_scores(
    features: TextFeatures,
    topic_text: str,
    relevant: Rows,
    not_relevant: Rows,
    candidates: Rows,
    *,
    seed: int,
    topic: str,
    round_: int,
) -> Floats | None:
    """How likely each document is relevant, as a decision value of logistic regression, greater if more so.

    The classifier is trained on the topic's text as a relevant document, the judged documents, and 1,000 of the
    candidates, the unjudged documents, as documents that are not relevant. The value depends on which rows are given,
    not on their order. A document without text has minus infinity.

    Returns None when nothing can be learnt: no relevant document has text, nor has the topic, or there is no other
    document. Raises `InvalidValueError` where scikit-learn is not installed.
    """
    presumed = presumed_negatives(features, candidates, seed=seed, topic=topic, round_=round_)
    about = features.of_text(topic_text)
    positive = np.sort(relevant)
    negative = np.concatenate([np.sort(not_relevant), presumed])
    has_topic = not about.is_empty[0]
    if not negative.size or not (has_topic or (~features.is_empty[positive]).any()):
        return None
    counts = features.counts.select(np.concatenate([positive, negative]))
    training = TextFeatures(TermCounts.join([about.counts, counts] if has_topic else [counts]), features.idf)
    is_relevant = np.arange(len(training)) < positive.size + has_topic
    weights, offset = _fit(training, is_relevant)
    scores = np.round(features.scores(weights) + offset, DECIMALS)
    return np.where(features.is_empty, np.float32(-np.inf), scores)


def _fit(training: TextFeatures, is_relevant: NDArray[np.bool_]) -> tuple[Floats, np.float32]:
    """Fit logistic regression: the weight of each column, and the constant."""
    is_used = np.zeros(COLUMNS, np.bool_)
    is_used[training.counts.columns] = True
    used = np.flatnonzero(is_used)
    # The dual solver of liblinear, on few columns, takes a tenth of the time that others take.
    model = learning_library("sklearn.linear_model").LogisticRegression(
        C=COST,
        class_weight=CLASS_WEIGHT,
        solver="liblinear",
        dual=True,
        tol=TOLERANCE,
        max_iter=MOST_ITERATIONS,
        random_state=0,
    )
    model.fit(training.matrix()[:, used].astype(np.float64), is_relevant)
    weights = np.zeros(COLUMNS, np.float32)
    weights[used] = model.coef_[0]
    return weights, np.float32(model.intercept_[0])


def training_hash(
    topic_text: str,
    relevant: Iterable[str],
    not_relevant: Iterable[str],
    presumed: Iterable[str],
    *,
    seed: int,
    topic: str,
    round_: int,
) -> str:
    """A hash of everything that a classifier was trained on, and how: 32 hexadecimal digits.

    Documents are given by what identifies them with their texts, in any order.
    """
    terms = (COLUMNS, SUFFIXES, FIRST, IDF_POWER)
    settings = (*terms, PRESUMED, COST, CLASS_WEIGHT, TOLERANCE, MOST_ITERATIONS, seed, round_)
    digest = blake2b(digest_size=HASH_BYTES)
    for part in (
        [repr(settings), topic, topic_text],
        *(sorted(identities) for identities in (relevant, not_relevant, presumed)),
    ):
        digest.update(len(part).to_bytes(8, "big"))
        for text in part:
            encoded = text.encode(errors="surrogatepass")
            # With its length, so that no two lists of texts are the same bytes.
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


class Batch(NamedTuple):
    """Documents to judge next, the most likely relevant first, and their scores; None where nothing could be learnt."""

    rows: Rows
    scores: Floats | None


def learning_batches(
    features: TextFeatures,
    topic_text: str,
    is_relevant: NDArray[np.bool_],
    *,
    seed: int,
    topic: str = "",
    judged_before: Sequence[int] = (),
    preference: NDArray[np.float64] | None = None,
    grows: bool = True,
    largest: int | None = None,
) -> Iterator[Batch]:
    """Choose all documents, batch by batch, each by the judgements of those before.

    `is_relevant` is of each row, and is looked up once a row was chosen; `judged_before` are rows that were judged
    before the first batch and are chosen no more. Batches have one document, or grow by a tenth from one, to `largest`.

    Of equal scores the document with the lesser `preference` comes first; so do documents without text, after all
    others, and all documents while nothing can be learnt. Without it, preferences are drawn at random.
    """
    if preference is None:
        preference = _random("ties", seed, topic, 0).random(len(features))
    is_judged = np.zeros(len(features), np.bool_)
    is_judged[list(judged_before)] = True
    size, round_ = 1, 1
    while (candidates := np.flatnonzero(~is_judged)).size:
        relevant, not_relevant = np.flatnonzero(is_judged & is_relevant), np.flatnonzero(is_judged & ~is_relevant)
        scores = relevance_scores(
            features, topic_text, relevant, not_relevant, candidates, seed=seed, topic=topic, round_=round_
        )
        keys = (preference[candidates],) if scores is None else (preference[candidates], -scores[candidates])
        chosen = candidates[np.lexsort(keys)[:size]]
        yield Batch(chosen, None if scores is None else scores[chosen])
        is_judged[chosen] = True
        size, round_ = min(next_batch(size) if grows else 1, largest or len(features)), round_ + 1


def order_by_learning(
    features: TextFeatures,
    topic_text: str,
    is_relevant: NDArray[np.bool_],
    *,
    seed: int,
    topic: str = "",
    preference: NDArray[np.float64] | None = None,
    grows: bool = True,
) -> Rows:
    """The order in which all documents of a topic are chosen, as rows; see `learning_batches`."""
    batches = learning_batches(
        features, topic_text, is_relevant, seed=seed, topic=topic, preference=preference, grows=grows
    )
    return np.concatenate([np.empty(0, np.intp), *(batch.rows for batch in batches)])


def _random(purpose: str, seed: int, topic: str, round_: int) -> np.random.Generator:
    """A generator that depends on all of these, alike in every process."""
    # The zero bytes separate topic 1 in round 23 from topic 12 in round 3.
    digest = blake2b(f"{purpose}\0{seed}\0{topic}\0{round_}".encode(errors="surrogatepass"), digest_size=HASH_BYTES)
    return np.random.default_rng(int.from_bytes(digest.digest(), "big"))
