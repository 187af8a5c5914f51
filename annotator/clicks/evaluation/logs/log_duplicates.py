"""Events of a log that stand in it twice."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID
from annotator.evaluation.formats.docno_hashes import LAST_FACTOR, WORD_FACTOR, Hashes

Columns = Mapping[str, NDArray[Any]]
BLOCK = 1 << 20  # events that are looked at together, so that what is made of them needs little memory
SHIFT = np.uint64(29)


def duplicates(columns: Columns) -> NDArray[np.bool_]:
    """Tell which events are the same as an earlier one in everything the log says.

    Only where it says when, and who by user or session: elsewhere two people may have done the same.
    """
    is_duplicate = np.zeros(columns["event"].size, np.bool_)
    says_who = (columns["user"] != NOT_SAID) | (columns["session"] != NOT_SAID)
    if not columns["times"].size or not says_who.any():
        return is_duplicate
    rows = _of_one_hash(_hashes(columns))
    later, earlier = rows[1:], rows[:-1]
    # A hash proposes, the columns decide.
    is_same = says_who[later]
    for column in columns.values():
        bits = column.view(np.int64) if column.dtype == np.float64 else column  # one NaN is not another
        is_same &= bits[later] == bits[earlier]
    is_duplicate[later[is_same]] = True
    return is_duplicate


def blocks_of(count: int) -> Iterator[slice]:
    """Divide so many events."""
    return (slice(begin, begin + BLOCK) for begin in range(0, count, BLOCK))


def _of_one_hash(hashes: Hashes) -> NDArray[np.intp]:
    """Return those of which another has the hash, these together and each as they stand."""
    ordered = np.sort(hashes)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not repeated.size:
        return np.empty(0, np.intp)
    is_repeated = np.zeros(hashes.size, np.bool_)
    for block in blocks_of(hashes.size):
        places = np.minimum(np.searchsorted(repeated, hashes[block]), repeated.size - 1)
        is_repeated[block] = repeated[places] == hashes[block]
    rows = np.flatnonzero(is_repeated)
    return rows[np.argsort(hashes[rows], kind="stable")]


def _hashes(columns: Columns) -> Hashes:
    hashes = np.zeros(columns["event"].size, np.uint64)
    for block in blocks_of(hashes.size):
        part = hashes[block]
        for column in columns.values():
            part *= WORD_FACTOR
            part += (
                column[block].view(np.uint64) if column.itemsize == part.itemsize else column[block].astype(np.uint64)
            )
            part ^= part >> SHIFT
            part *= LAST_FACTOR
    return hashes
