"""Ranked lists as arrays: trec_eval's order, and their bytes in the database."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

DOCUMENT_BYTES = 4  # of a document number in a packed ranked list


def trec_order(docnos: NDArray[np.bytes_], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the positions of one ranked list's rows, best first: trec_eval's order.

    Score descending; documents of equal score by docno descending, compared byte by byte. trec_eval 10 compares
    scores in double precision and never reads the rank column.
    """
    order = np.argsort(-scores, kind="stable")
    descending = scores[order]
    equals_next = descending[:-1] == descending[1:]
    if not equals_next.any():
        return order
    # Only rows inside a tie are sorted by docno: comparing bytes costs far more than comparing numbers.
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
    return np.frombuffer(packed, "<i4").astype(np.int32, copy=False)


def encode_scores(scores: NDArray[np.float64]) -> bytes:
    """Pack scores as little-endian float64, so that no score loses a digit."""
    return scores.astype("<f8", copy=False).tobytes()


def decode_scores(packed: bytes) -> NDArray[np.float64]:
    """Unpack scores; a read-only view of the bytes where the machine is little-endian."""
    return np.frombuffer(packed, "<f8").astype(np.float64, copy=False)


class Renumbering:
    """Other numbers for the documents of packed ranked lists, as when they go into another database."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        """Take what each number was, and what it is to be."""
        before = np.fromiter(numbers, np.int64, len(numbers))
        order = np.argsort(before)
        self._before = before[order]
        self._after = np.fromiter(numbers.values(), np.int64, len(numbers))[order]

    def __call__(self, packed: bytes) -> bytes:
        """The same list under the new numbers; `ValueError` when one is not among them."""
        documents = decode_documents(packed)
        places = np.searchsorted(self._before, documents)
        if len(documents) and (places.max() == len(self._before) or (self._before[places] != documents).any()):
            raise ValueError("a ranked list has a document that is not there")
        return encode_documents(self._after[places].astype(np.int32))
