"""Index of qrels: look-up of the entry of a document of a topic."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.table_tokens import Hashes, Words, hashes_of, words_of_docnos
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.runs.rankings import Positions

HALF_BITS = np.uint64(32)
SLOTS_AN_ENTRY = 4


class QrelsIndex:
    """A `QrelsTable` for look-ups by topic and docno; a hash only proposes, the bytes decide.

    Each topic has its own slots, about four for each entry, so that the look-ups of a list stay close together.
    A hash falls into one of them, `slots` gives the range of its entries. Can be pickled.
    """

    def __init__(self, table: QrelsTable) -> None:
        self.topics = {topic.encode(): position for position, topic in enumerate(table.topics)}
        sizes = np.diff(table.first)
        # A topic without entries has an empty slot, and one more is for all unknown topics.
        self.slot_counts = np.append(sizes * SLOTS_AN_ENTRY + 1, 1).astype(np.uint64)
        self.first_slots = np.concatenate(([0], np.cumsum(self.slot_counts[:-1]))).astype(np.int64)
        words = words_of_docnos(table.docnos)
        hashes = hashes_of(words)
        slots = self._slots_of(hashes, np.repeat(np.arange(sizes.size), sizes))
        self.entries: Positions = np.argsort(slots, kind="stable")
        self.hashes: Hashes = hashes[self.entries]
        self.words: Words = np.asfortranarray(words[self.entries])  # compared word by word
        counts = np.bincount(slots, minlength=int(self.first_slots[-1]) + 1)
        self.slots: NDArray[np.int32] = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)

    def _slots_of(self, hashes: Hashes, topics: Positions) -> Positions:
        """Map the hashes of each topic to its slots; topics from `len(self.topics)` on are unknown."""
        within = ((hashes >> HALF_BITS) * self.slot_counts[topics]) >> HALF_BITS
        return within.view(np.int64) + self.first_slots[topics]

    def find(self, hashes: Hashes, words: Words, topics: Positions) -> tuple[Positions, Positions]:
        """Return which of these documents are in the table, ascending, and the entry of each.

        `hashes` are those of `words`; `topics` are indices into the table, `len(self.topics)` for unknown ones.
        """
        slots = self._slots_of(hashes, topics)
        start, end = self.slots[slots], self.slots[1:][slots]
        rows = np.flatnonzero(start < end)
        start, end = start[rows], end[rows]
        found_rows, found = [], []
        while rows.size:
            same = np.flatnonzero(self.hashes[start] == hashes[rows])
            same = same[self._are_equal(start[same], words, rows[same])]
            found_rows.append(rows[same])
            found.append(start[same])
            start = start + 1
            going_on = start < end
            going_on[same] = False
            rows, start, end = rows[going_on], start[going_on], end[going_on]
        if not found:
            return np.empty(0, np.intp), np.empty(0, np.intp)
        matched, places = np.concatenate(found_rows), np.concatenate(found)
        order = np.argsort(matched)
        return matched[order], self.entries[places[order]]

    def _are_equal(self, places: NDArray[np.int32], words: Words, rows: Positions) -> NDArray[np.bool_]:
        """Whether all bytes of the docnos are equal."""
        equal = np.ones(rows.size, np.bool_)
        shared = min(self.words.shape[1], words.shape[1])
        for word in range(shared):
            equal &= self.words[:, word][places] == words[:, word][rows]
        for word in range(shared, self.words.shape[1]):
            equal &= self.words[:, word][places] == 0
        for word in range(shared, words.shape[1]):
            equal &= words[:, word][rows] == 0
        return equal
