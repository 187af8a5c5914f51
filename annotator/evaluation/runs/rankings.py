"""Ranked lists as arrays: trec_eval's order, the ranks of some documents, and their bytes in the database."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.table_tokens import Words
from annotator.evaluation.runs.run_scores import Scores, in_single_precision

DOCUMENT_BYTES = 4  # bytes of a document number in a packed ranked list
STORED_DOCUMENTS = np.dtype("<i4")


def trec_order(docnos: NDArray[np.bytes_], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of one ranked list's rows in trec_eval's order, best first.

    Score descending; documents of equal score by docno descending, compared byte by byte. trec_eval 10 compares
    scores in double precision and never reads the rank column.
    """
    order = np.argsort(-scores, kind="stable")
    descending = scores[order]
    equals_next = descending[:-1] == descending[1:]
    if not equals_next.any():
        return order
    # Only rows in a tie are sorted by docno: comparing bytes is much slower than comparing numbers.
    tied = np.flatnonzero(np.append(equals_next, False) | np.append(False, equals_next))
    rows = order[tied]
    rows = rows[np.argsort(docnos[rows], kind="stable")[::-1]]
    order[tied] = rows[np.argsort(-scores[rows], kind="stable")]
    return order


def encode_documents(documents: NDArray[np.int32]) -> bytes:
    """Pack document numbers as little-endian int32, as ranked lists are stored."""
    return documents.astype("<i4", copy=False).tobytes()


def decode_documents(packed: bytes) -> NDArray[np.int32]:
    """Unpack document numbers; a read-only view of the bytes where the machine is little-endian."""
    documents: NDArray[np.int32] = np.frombuffer(packed, STORED_DOCUMENTS)
    return documents if STORED_DOCUMENTS.isnative else documents.astype(np.int32)


def encode_scores(scores: NDArray[np.float64]) -> bytes:
    """Pack scores as little-endian float64, so that no score loses a digit."""
    return scores.astype("<f8", copy=False).tobytes()


def decode_scores(packed: bytes) -> NDArray[np.float64]:
    """Unpack scores; a read-only view of the bytes where the machine is little-endian."""
    return np.frombuffer(packed, "<f8").astype(np.float64, copy=False)


class Renumbering:
    """New numbers for the documents of packed ranked lists, for example in another database."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        before = np.fromiter(numbers, np.int64, len(numbers))
        order = np.argsort(before)
        self._before = before[order]
        self._after = np.fromiter(numbers.values(), np.int64, len(numbers))[order]

    def __call__(self, packed: bytes) -> bytes:
        """Renumber a list; raises `ValueError` when a document has no new number."""
        documents = decode_documents(packed)
        places = np.searchsorted(self._before, documents)
        if len(documents) and (places.max() == len(self._before) or (self._before[places] != documents).any()):
            raise ValueError("a ranked list has a document that is not there")
        return encode_documents(self._after[places].astype(np.int32))


Positions = NDArray[np.intp]


KEY_BITS = 64
DISTINCT_BITS = 48


def ranks_of(rows: Positions, lists: Positions, begins: Positions, scores: Scores, words: Words) -> Positions:
    """Return the rank, from 1, of each of `rows` in its list: score descending, then docno (bytes) descending.

    A row is a retrieved document; list i is the rows from `begins[i]` to the next. `lists` names the list of each of
    `rows`. Only documents that share their score with one of `rows` are ever compared by docno.
    """
    falls = scores[1:] < scores[:-1]
    falls[begins[1:] - 1] = True
    if falls.all():
        return rows - begins[lists] + 1
    rises = scores[1:] > scores[:-1]
    rises[begins[1:] - 1] = False
    if not rises.any():
        return _with_ties(rows, np.arange(scores.size), rows, falls, words) - begins[lists] + 1
    list_of_row = np.repeat(np.arange(begins.size), np.diff(begins, append=scores.size))
    order = np.lexsort((-scores, list_of_row))
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    falls = scores[order[1:]] < scores[order[:-1]]
    falls[begins[1:] - 1] = True
    return _with_ties(places[rows], order, rows, falls, words) - begins[lists] + 1


def _with_ties(
    places: Positions, order: Positions, rows: Positions, falls: NDArray[np.bool_], words: Words
) -> Positions:
    """Return the ranks of `rows` after tie-breaking by docno; `places` are their ranks in `order` before it."""
    firsts = np.concatenate(([0], np.flatnonzero(falls) + 1))
    sizes = np.diff(firsts, append=order.size)
    ties = np.searchsorted(firsts, places, side="right") - 1
    shared = sizes[ties] > 1
    if not shared.any():
        return places
    is_open = np.zeros(firsts.size, np.bool_)
    is_open[ties[shared]] = True
    open_ties = np.flatnonzero(is_open)
    lengths = sizes[open_ties]
    ends = np.cumsum(lengths)
    spots = np.arange(ends[-1]) + np.repeat(firsts[open_ties] - (ends - lengths), lengths)
    members = order[spots]
    place_of_row = np.empty(order.size, np.intp)
    place_of_row[order] = np.arange(order.size)
    place_of_row[members[_order_within(np.repeat(np.arange(open_ties.size), lengths), words[members])]] = spots
    return place_of_row[rows]


def _order_within(ties: Positions, words: Words) -> Positions:
    """Sort documents by tie, and within a tie by docno descending.

    Sorting by tie and the first bits in which docnos differ leaves few ties to be sorted by all bytes.
    """
    last_first = [~word.byteswap() for word in words.T]
    if ties[-1] >> (KEY_BITS - DISTINCT_BITS):
        return np.lexsort((*reversed(last_first), ties))
    keys = (ties.astype(np.uint64) << np.uint64(DISTINCT_BITS)) | _distinct_bytes(last_first)
    order = np.argsort(keys)
    keys = keys[order]
    equals_next = keys[1:] == keys[:-1]
    spots = np.flatnonzero(np.append(equals_next, False) | np.append(False, equals_next))
    if spots.size:
        equal = order[spots]
        order[spots] = equal[np.lexsort((*(word[equal] for word in reversed(last_first)), ties[equal]))]
    return order


def _distinct_bytes(words: list[Words]) -> Words:
    """Return `DISTINCT_BITS` of each text from the first bit in which any two differ; first byte highest.

    At least two texts must differ, as they do in a tie.
    """
    place, word = next((place, word) for place, word in enumerate(words) if np.any(word != word[0]))
    following = words[place + 1] if place + 1 < len(words) else np.zeros_like(word)
    skipped = KEY_BITS - int(np.bitwise_or.reduce(word ^ word[0])).bit_length()
    distinct = word << np.uint64(skipped)
    if skipped:
        distinct |= following >> np.uint64(KEY_BITS - skipped)
    return distinct >> np.uint64(KEY_BITS - DISTINCT_BITS)


RankedDocuments = NDArray[np.int32]
# Run, topic, packed documents and packed scores, if the list is to be sorted again.
PackedRow = tuple[int, int, bytes, bytes | None]


def newly_tied(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices in a list, scores descending, of scores that tie with a neighbour only in single precision."""
    rounded = in_single_precision(scores)
    equal = rounded[:-1] == rounded[1:]
    if not (equal & (scores[:-1] != scores[1:])).any():
        return np.empty(0, np.intp)
    return np.flatnonzero(np.append(equal, False) | np.append(False, equal))


def in_order_of_9(
    documents: RankedDocuments, scores: NDArray[np.float64], docnos: Mapping[int, str]
) -> RankedDocuments:
    """Sort a list again, ties in single precision by docno descending in byte order.

    `docnos` has the docnos of the documents at the indices from `newly_tied`.
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
    """Return the documents whose docnos are needed to sort these lists again; none for lists without scores."""
    tied: set[int] = set()
    for _, _, documents, scores in rows:
        if scores is not None:
            tied.update(decode_documents(documents)[newly_tied(decode_scores(scores))].tolist())
    return tied


def unpack_lists(
    runs: Sequence[int], topics: Collection[int], rows: Iterable[PackedRow], docnos: Mapping[int, str]
) -> dict[int, list[RankedDocuments]]:
    """Of each topic the list of every run, in their order; empty where it has none. With scores it is sorted again."""
    places = {run: place for place, run in enumerate(runs)}
    nothing = np.empty(0, np.int32)
    lists = {topic: [nothing] * len(runs) for topic in topics}
    for run, topic, packed, scores in rows:
        documents = decode_documents(packed)
        lists[topic][places[run]] = (
            documents if scores is None else in_order_of_9(documents, decode_scores(scores), docnos)
        )
    return lists


def check_depths(depths: Iterable[int]) -> None:
    """Raise `InvalidValueError` for a depth below 1."""
    shallowest = min(depths, default=1)
    if shallowest < 1:
        raise InvalidValueError("The depth of a pool must be 1 or more, not %(depth)d.", depth=shallowest)
