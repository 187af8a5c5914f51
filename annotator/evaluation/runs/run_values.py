"""Runs as Python or NumPy values: scores by topic and docno, or arrays of docnos and scores by topic."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import require_identifier
from annotator.evaluation.runs.parsed_runs import ParsedList
from annotator.evaluation.runs.rankings import trec_order

MOST_SHOWN = 60  # characters of an invalid value in a message
NUMBER_KINDS = "iufO"  # of arrays: whole numbers, with and without sign, floats, and objects, such as large numbers
NO_NUMBERS = (str, bytes, bool, np.bool, type(None))

# A topic's documents: docno to score, or docnos and scores side by side.
Scored = Mapping[str, float] | tuple[Sequence[str] | NDArray[np.str_] | NDArray[np.bytes_], ArrayLike]


def lists_of(run: Mapping[str, Scored], *, single_precision: bool = False) -> dict[str, ParsedList]:
    """Rank a run given by topic number, in any order, as trec_eval does: score descending, then docno descending.

    With `single_precision` scores are compared as float32, as trec_eval 9 does. A topic may have no document. Raises
    `InvalidValueError` for a value that is not a run, a docno that is not one word or is repeated, and a score that is
    not finite.
    """
    return {
        require_identifier(topic): ranked(topic, *_columns(topic, scored), single_precision=single_precision)
        for topic, scored in run.items()
    }


def ranked(
    topic: str, docnos: NDArray[np.bytes_], scores: NDArray[np.float64], *, single_precision: bool = False
) -> ParsedList:
    """Rank the documents of one topic; raises `InvalidValueError` for a duplicate."""
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
    """Round the scores to float32 for compatibility with trec_eval 9; overflow gives infinity, as in C."""
    if not single:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def _columns(topic: str, scored: Scored) -> tuple[NDArray[np.bytes_], NDArray[np.float64]]:
    docnos, scores = _side_by_side(topic, scored)
    words = _words(docnos) if isinstance(docnos, np.ndarray) else list(docnos)
    encoded = np.array([require_identifier(word).encode() for word in words], np.bytes_)
    return encoded.reshape(len(words)), _scores(topic, scores, len(words))


def _side_by_side(topic: str, scored: object) -> tuple[Iterable[object], object]:
    match scored:
        case Mapping():
            return list(scored), list(scored.values())
        case (np.ndarray(ndim=1) as docnos, scores):
            return docnos, scores
        case (docnos, scores) if isinstance(docnos, Iterable) and not isinstance(docnos, str | bytes | np.ndarray):
            return docnos, scores
    raise InvalidValueError(
        "Runs are {name: {topic: {docno: score}}}, as {'bm25': {'401': {'FT911-3': 12.5}}}, or have docnos and scores "
        "side by side for each topic; topic %(topic)s has %(given)s instead.",
        topic=topic,
        given=_shown(scored),
    )


def _shown(given: object) -> str:
    shown = repr(given)
    return shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + "…"


def _words(docnos: NDArray[Any]) -> list[object]:
    listed: list[object] = docnos.tolist()
    return [_decoded(bytes(docno)) for docno in docnos] if docnos.dtype.kind == "S" else listed


def _decoded(docno: bytes) -> str:
    try:
        return docno.decode()
    except UnicodeDecodeError:
        raise InvalidValueError("The document id %(docno)s is not UTF-8.", docno=repr(docno)) from None


def _scores(topic: str, scores: object, documents: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(scores, np.float64) if _are_numbers(scores) else None
    except OverflowError:
        raise InvalidValueError(
            "Topic %(topic)s has a score beyond what a number can hold, ±1.8e308.", topic=topic
        ) from None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise InvalidValueError("Topic %(topic)s has a score that is no number.", topic=topic)
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


def _are_numbers(scores: object) -> bool:
    """Whether all are numbers, not numeric strings nor True and False, which NumPy converts to 1 and 0."""
    array = np.asarray(scores)
    if array.dtype.kind not in NUMBER_KINDS:
        return False
    listed = scores if isinstance(scores, list | tuple) else array.ravel().tolist() if array.dtype.kind == "O" else ()
    return not any(issubclass(kind, NO_NUMBERS) for kind in set(map(type, listed)))
