"""Ranked lists as trec_eval 9 orders them, which keeps scores in 32 bits: more of them are equal."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.runs.rankings import decode_documents, decode_scores
from annotator.evaluation.runs.run_scores import in_single_precision

RankedDocuments = NDArray[np.int32]
# Run, topic, packed documents and, where they are to be ordered anew, packed scores.
PackedRow = tuple[int, int, bytes, bytes | None]


def newly_tied(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places of a list, scores descending, whose scores are equal in 32 bits to a neighbour's and were not before."""
    rounded = in_single_precision(scores)
    equal = rounded[:-1] == rounded[1:]
    if not (equal & (scores[:-1] != scores[1:])).any():
        return np.empty(0, np.intp)
    return np.flatnonzero(np.append(equal, False) | np.append(False, equal))


def in_order_of_9(
    documents: RankedDocuments, scores: NDArray[np.float64], docnos: Mapping[int, str]
) -> RankedDocuments:
    """Order a list anew, documents of equal rounded score by docno descending, byte by byte.

    `docnos` has those of the documents at the places that are `newly_tied`.
    """
    tied = newly_tied(scores)
    if not tied.size:
        return documents
    rounded = in_single_precision(scores)
    rows = sorted(tied.tolist(), key=lambda row: docnos[int(documents[row])].encode(), reverse=True)
    rows.sort(key=lambda row: -float(rounded[row]))
    ordered = documents.copy()
    ordered[tied] = documents[rows]
    return ordered


def tied_documents(rows: Iterable[PackedRow]) -> set[int]:
    """The documents whose docnos are needed to order these lists anew; none of lists without scores."""
    tied: set[int] = set()
    for _, _, documents, scores in rows:
        if scores is not None:
            tied.update(decode_documents(documents)[newly_tied(decode_scores(scores))].tolist())
    return tied


def unpack_lists(
    runs: Sequence[int], topics: Collection[int], rows: Iterable[PackedRow], docnos: Mapping[int, str]
) -> dict[int, list[RankedDocuments]]:
    """Of each topic the list of every run, in their order; empty where it has none. With scores it is ordered anew."""
    places = {run: place for place, run in enumerate(runs)}
    nothing = np.empty(0, np.int32)
    lists = {topic: [nothing] * len(runs) for topic in topics}
    for run, topic, packed, scores in rows:
        documents = decode_documents(packed)
        lists[topic][places[run]] = (
            documents if scores is None else in_order_of_9(documents, decode_scores(scores), docnos)
        )
    return lists
