"""Numbers for documents: the words of their docnos, and hashes of 64 bits that propose which may be equal."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.table_tokens import WORD_BYTES, Words

# Odd numbers with their bits spread: 2^64 divided by the golden ratio, and a multiplier of splitmix64.
WORD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
LAST_FACTOR = np.uint64(0x94D049BB133111EB)
HALF_BITS = np.uint64(32)

Hashes = NDArray[np.uint64]


def hashes_of(words: Words) -> Hashes:
    """Hash documents, shape (documents, words).

    Words that are zero at the end change nothing, so it does not matter how wide the widest docno is.
    """
    hashes: Hashes = words[:, -1].copy()
    for word in words.T[-2::-1]:
        hashes *= WORD_FACTOR
        hashes += word
    hashes *= WORD_FACTOR
    hashes ^= hashes >> HALF_BITS
    hashes *= LAST_FACTOR
    return hashes


def words_of_docnos(docnos: NDArray[np.bytes_]) -> Words:
    """View docnos as numbers of eight bytes, shape (docnos, words), as `table_tokens.words_of` gathers them."""
    count = max(1, -(-docnos.itemsize // WORD_BYTES))
    return docnos.astype(f"S{count * WORD_BYTES}").view("<u8").reshape(-1, count)


def has_equals(hashes: Hashes) -> bool:
    """Tell whether any two are equal."""
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))
