"""Assigns a number to each docno of many runs, by a hash table that verifies the bytes."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES
from annotator.evaluation.formats.table_tokens import WORD_BYTES, Hashes, Words, hashes_of, words_of_docnos

FIRST_ROOM = 1 << 12  # initial number of documents
SLOTS_A_DOCUMENT = 4  # when slots are allocated; at least half as many remain, which keeps searches short
MOST_WORDS = MAX_IDENTIFIER_BYTES // WORD_BYTES
SORTED_WORDS = 4
NOBODY = -1

Numbers = NDArray[np.int32]
Positions = NDArray[np.intp]


class DocnoNumbers:
    """Numbers docnos from 0 in order of first occurrence; about 40 bytes of memory for a short one."""

    def __init__(self) -> None:
        self.count = 0
        # The words of all docnos concatenated, so that a long one does not widen all; with spare capacity.
        self._words: Words = np.zeros(FIRST_ROOM + MOST_WORDS, np.uint64)
        self._begins = np.zeros(FIRST_ROOM + 1, np.int64)
        self._hashes: Hashes = np.zeros(FIRST_ROOM, np.uint64)
        self._are_short = True
        self._slots: Numbers = np.full(FIRST_ROOM * SLOTS_A_DOCUMENT, NOBODY, np.int32)

    def numbers_of(self, words: Words) -> Numbers:
        """Return the numbers of docnos, shape (docnos, words) as `words_of` gathers them; new ones are added."""
        hashes = hashes_of(words)
        numbers = self._find(words, hashes)
        unknown = np.flatnonzero(numbers == NOBODY)
        while unknown.size:
            # Distinct docnos with equal hashes are added one at a time; this is rare.
            _, first = np.unique(hashes[unknown], return_index=True)
            new = unknown[np.sort(first)]
            self._add(words[new], hashes[new])
            numbers[unknown] = self._find(words[unknown], hashes[unknown])
            unknown = unknown[numbers[unknown] == NOBODY]
        return numbers

    def find(self, docnos: Iterable[str]) -> Numbers:
        """Return the numbers of docnos, -1 for unknown ones."""
        return self.find_words(words_of_docnos(np.array([docno.encode() for docno in docnos], np.bytes_)))

    def find_words(self, words: Words) -> Numbers:
        """Do as `find`, for docnos as `words_of` gathers them."""
        return self._find(words, hashes_of(words))

    def words_of(self, numbers: Numbers) -> Words:
        """Return the words of docnos, shape (numbers, words), padded with zeros."""
        begins = self._begins[numbers]
        lengths = self._begins[1:][numbers] - begins
        places = np.arange(max(1, int(lengths.max(initial=1))))
        words: Words = self._words[begins[:, np.newaxis] + places]
        words[places >= lengths[:, np.newaxis]] = 0
        return words

    def docnos_of(self, numbers: Numbers) -> list[str]:
        """Return the docnos as text."""
        words = self.words_of(numbers)
        docnos: list[bytes] = words.view(f"S{words.shape[1] * WORD_BYTES}").ravel().tolist()
        # Decode all by one call, joined by blanks, which docnos do not contain.
        return b" ".join(docnos).decode().split(" ") if docnos else []

    def in_byte_order(self, numbers: Numbers) -> Numbers:
        """Sort by docno in byte order, decided by the first `SORTED_WORDS` words."""
        words = self.words_of(numbers)[:, :SORTED_WORDS].byteswap()  # as big-endian numbers
        ordered: Numbers = numbers[np.lexsort(words.T[::-1])]
        return ordered

    def _first_slots(self, hashes: Hashes) -> Positions:
        # The high bits are mixed best.
        slots: Positions = (hashes >> np.uint64(65 - self._slots.size.bit_length())).view(np.int64)
        return slots

    def _find(self, words: Words, hashes: Hashes) -> Numbers:
        slots = self._first_slots(hashes)
        found: Numbers = self._slots[slots]
        others = np.flatnonzero(~self._are_equal(found, words, hashes))
        while others.size:
            others = others[found[others] != NOBODY]
            slots[others] = (slots[others] + 1) & (self._slots.size - 1)
            found[others] = self._slots[slots[others]]
            others = others[~self._are_equal(found[others], words[others], hashes[others])]
        return found

    def _are_equal(self, numbers: Numbers, words: Words, hashes: Hashes) -> NDArray[np.bool_]:
        """Compare with the docnos of these numbers; for `NOBODY` the result is arbitrary."""
        equal: NDArray[np.bool_] = self._hashes[numbers] == hashes
        if self._are_short and words.shape[1] == 1:
            return equal  # for one word, the hash is a bijection
        begins = self._begins[numbers]
        equal &= self._begins[1:][numbers] - begins == _lengths(words)
        for place, word in enumerate(words.T):
            # Behind the end of a stored docno another begins; that of an equal one ends where this one does.
            equal &= (self._words[begins + place] == word) | (word == 0)
        return equal

    def _add(self, words: Words, hashes: Hashes) -> None:
        """Add docnos with distinct hashes."""
        lengths = _lengths(words)
        self._are_short = self._are_short and int(lengths.max()) == 1
        first, last = self.count, self.count + hashes.size
        begin = int(self._begins[first])
        self._make_room(last, begin + int(lengths.sum()))
        self._begins[first + 1 : last + 1] = begin + np.cumsum(lengths)
        self._words[begin : self._begins[last]] = words[words != 0]
        self._hashes[first:last] = hashes
        self.count = last
        if last * 2 > self._slots.size:
            self._slots = np.full(1 << (last * SLOTS_A_DOCUMENT - 1).bit_length(), NOBODY, np.int32)
            first = 0
        self._take_slots(first, last)

    def _take_slots(self, first: int, last: int) -> None:
        numbers = np.arange(first, last, dtype=np.int32)
        slots = self._first_slots(self._hashes[first:last])
        while numbers.size:
            free = self._slots[slots] == NOBODY
            self._slots[slots[free]] = numbers[free]  # the last of several at one slot stays
            left = np.flatnonzero(self._slots[slots] != numbers)
            numbers, slots = numbers[left], (slots[left] + 1) & (self._slots.size - 1)

    def _make_room(self, documents: int, words: int) -> None:
        if documents > self._hashes.size:
            room = max(documents, 2 * self._hashes.size)
            self._hashes = np.concatenate((self._hashes, np.zeros(room - self._hashes.size, np.uint64)))
            self._begins = np.concatenate((self._begins, np.zeros(room + 1 - self._begins.size, np.int64)))
        if words + MOST_WORDS > self._words.size:
            room = max(words, 2 * self._words.size) + MOST_WORDS
            self._words = np.concatenate((self._words, np.zeros(room - self._words.size, np.uint64)))


def _lengths(words: Words) -> Positions:
    """Return the number of words of each docno: no word within one is zero."""
    lengths: Positions = np.count_nonzero(words, axis=1) if words.shape[1] > 1 else np.ones(len(words), np.int64)
    return lengths
