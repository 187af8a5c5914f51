"""Codes for what a log names, such as users, documents, queries: equal texts have one, in order of appearance."""

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, Codes
from annotator.evaluation.formats.docno_hashes import hashes_of
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES
from annotator.evaluation.formats.table_tokens import WORD_BYTES, Bytes, Offsets, UnusualError, Words, masks
from annotator.evaluation.runs.docno_numbers import DocnoNumbers

MOST_NAME_BYTES = MAX_IDENTIFIER_BYTES  # of a user, a session, a document, a variant
MOST_TEXT_BYTES = 1000  # of a query
SHIFT = np.uint64(32)


def words_up_to(most_bytes: int, data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """Gather tokens as `table_tokens.words_of` does, of any length up to this one; there must be so much room behind.

    Raises `UnusualError` for a longer one.
    """
    lengths = ends - starts
    longest = int(lengths.max(initial=1))
    if longest > most_bytes:
        raise UnusualError
    count = max(1, -(-longest // WORD_BYTES))
    windows = np.ndarray((data.size - count * WORD_BYTES + 1,), f"V{count * WORD_BYTES}", data, strides=(1,))
    words: Words = windows[starts].view("<u8").reshape(-1, count)
    words &= masks(count)[lengths]
    return words


class Names:
    """Codes for many different names of moderate length, such as users or documents."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers = DocnoNumbers()

    @property
    def count(self) -> int:
        """How many there are."""
        return self._numbers.count

    def codes_of(self, words: Words) -> Codes:
        """Return the codes of names, shape (names, words); of the empty name it is `NOT_SAID`."""
        is_said = words[:, 0] != 0
        if is_said.all():
            return self._numbers.numbers_of(words)
        codes = np.full(len(words), NOT_SAID, np.int32)
        if is_said.any():
            codes[is_said] = self._numbers.numbers_of(words[is_said])
        return codes

    def texts(self) -> tuple[str, ...]:
        """Return the names in the order of their codes; none may have a blank inside."""
        return tuple(self._numbers.docnos_of(np.arange(self.count, dtype=np.int32)))


class Pairs:
    """Codes for pairs of codes, as of a user and what one of her sessions is called."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers = DocnoNumbers()

    @property
    def count(self) -> int:
        """How many there are."""
        return self._numbers.count

    def codes_of(self, firsts: Codes, seconds: Codes) -> Codes:
        """Return the codes of pairs; `NOT_SAID` where the second is not said, whatever the first."""
        codes = np.full(firsts.size, NOT_SAID, np.int32)
        rows = np.flatnonzero(seconds != NOT_SAID)
        if rows.size:
            # One more than each, as no word may be zero.
            high, low = ((half[rows].astype(np.int64) + 2).view(np.uint64) for half in (firsts, seconds))
            codes[rows] = self._numbers.numbers_of(((high << SHIFT) | low)[:, np.newaxis])
        return codes


class Texts:
    """Codes for texts of which the same come again and again, such as queries, kept as they are."""

    def __init__(self) -> None:
        """Begin with none."""
        self._codes: dict[bytes, int] = {b"": NOT_SAID}

    def codes_of(self, words: Words) -> Codes:
        """Return the codes of texts, shape (texts, words); of the empty text it is `NOT_SAID`.

        Raises `UnusualError` when two texts have one hash, which `code_of` can tell apart.
        """
        first, inverse = _distinct(words)
        texts = words[first].view(f"S{words.shape[1] * WORD_BYTES}").ravel().tolist()
        codes = [self._codes.setdefault(text, len(self._codes) - 1) for text in texts]
        return np.array(codes, np.int32)[inverse]

    def code_of(self, text: bytes) -> int:
        """Return the code of one text."""
        return self._codes.setdefault(text, len(self._codes) - 1)

    def texts(self) -> tuple[str, ...]:
        """Return the texts in the order of their codes."""
        return tuple(text.decode() for text in self._codes if text)


def _distinct(words: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each text comes first, and of each row which of these it is; a hash proposes, the words decide."""
    hashes = hashes_of(words)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(words[first[inverse]], words):
        raise UnusualError
    order = np.argsort(first)  # texts are numbered as they come, not as they hash
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return first[order], places[inverse]
