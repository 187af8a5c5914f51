"""Runs as values of Python or NumPy: scores by topic and docno, or arrays of docnos and scores by topic."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.identifiers import require_identifier
from annotator.evaluation.parsed_runs import ParsedList
from annotator.evaluation.rankings import trec_order

# A topic's documents: docno to score, or docnos and scores side by side.
Scored = Mapping[str, float] | tuple[Sequence[str] | NDArray[np.str_] | NDArray[np.bytes_], ArrayLike]


def lists_of(run: Mapping[str, Scored], *, single_precision: bool = False) -> dict[str, ParsedList]:
    """Rank a run given by topic number, in any order, as trec_eval does: score descending, then docno descending.

    With `single_precision` scores are compared as float32, as trec_eval 9 does. A topic may have no document. Raises
    `InvalidValueError` for a docno that is no word or comes twice, and for a score that is no finite number.
    """
    return {
        require_identifier(topic): ranked(topic, *_columns(topic, scored), single_precision=single_precision)
        for topic, scored in run.items()
    }


def ranked(
    topic: str, docnos: NDArray[np.bytes_], scores: NDArray[np.float64], *, single_precision: bool = False
) -> ParsedList:
    """Rank the documents of one topic; raises `InvalidValueError` when one comes twice."""
    order = trec_order(docnos, in_precision(scores, single=single_precision))
    in_order = docnos[order]
    names, counts = np.unique(in_order, return_counts=True)
    if names.size < in_order.size:
        raise InvalidValueError(
            "Document %(docno)s is in topic %(topic)s twice.",
            docno=bytes(names[np.argmax(counts > 1)]).decode(),
            topic=topic,
        )
    return ParsedList(in_order, scores[order])


def in_precision(scores: NDArray[np.float64], *, single: bool) -> NDArray[np.float64]:
    """Round the scores to float32 when trec_eval 9 is to be followed; what is too large becomes infinite, as in C."""
    if not single:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def _columns(topic: str, scored: Scored) -> tuple[NDArray[np.bytes_], NDArray[np.float64]]:
    docnos, scores = (list(scored), list(scored.values())) if isinstance(scored, Mapping) else scored
    if isinstance(docnos, np.ndarray) and docnos.dtype.kind == "S":
        words = [bytes(docno).decode() for docno in docnos.tolist()]
    else:
        words = docnos.tolist() if isinstance(docnos, np.ndarray) else list(docnos)
    encoded = np.array([require_identifier(word).encode() for word in words], np.bytes_)
    return encoded.reshape(len(words)), _scores(topic, scores, len(words))


def _scores(topic: str, scores: ArrayLike, documents: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError("Topic %(topic)s has a score that is no number.", topic=topic) from None
    if numbers.shape != (documents,):
        raise InvalidValueError(
            "Topic %(topic)s has %(documents)d documents, but its scores have the shape %(shape)s.",
            topic=topic,
            documents=documents,
            shape=numbers.shape,
        )
    if not np.isfinite(numbers).all():
        raise InvalidValueError("Topic %(topic)s has a score that is not finite.", topic=topic)
    return numbers
