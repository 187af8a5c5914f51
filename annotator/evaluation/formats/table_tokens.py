"""Tokenises a chunk of table lines, as bytes and as 64-bit hashes."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES, SPLITTING_PAST_ASCII
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES

TAB, NEWLINE, RETURN, SPACE, HASH = b"\t\n\r #"
DELETE, NUL = b"\x7f", b"\0"
WORD_BYTES = 8
FRONT = b"\n" * 32  # padding: a window that ends with the first word may begin here
BACK = b"\n" + b" " * MAX_IDENTIFIER_BYTES  # padding: a window of any width may begin at the last word
COMMENT_LINE = re.compile(rb"^#.*\n", re.MULTILINE)

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Words = NDArray[np.uint64]  # little-endian on every machine, so that the first byte of a text is the lowest


class UnusualError(Exception):
    """Raised by vectorised parsing for data that the line-by-line parser must check; wrong, or only rare."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of each line of data: `data[starts[line, column]:ends[line, column]]`.

    `places` are the indices of the lines of data among all lines of the chunk; None when all are.
    """

    data: Bytes
    starts: Offsets
    ends: Offsets
    places: Offsets | None = None

    def column(self, column: int) -> tuple[Offsets, Offsets]:
        """The starts and ends of the words of a column."""
        return self.starts[:, column], self.ends[:, column]

    def first(self, column: int) -> bytes:
        """Return the word of the first line, which must exist."""
        return self.data[self.starts[0, column] : self.ends[0, column]].tobytes()


def tokens_of(chunk: bytes, columns: int) -> Tokens:
    """Tokenise whole lines; comment and blank lines have no tokens.

    Raises `UnusualError` for lines with another number of columns, invalid UTF-8, or control characters.
    """
    _check_characters(chunk)
    if not chunk.endswith(b"\n"):
        chunk += b"\n"
    data = np.frombuffer(b"".join((FRONT, chunk, BACK)), np.uint8)
    tokens = _set_apart_by_one_blank(data, len(FRONT) + len(chunk), columns)
    if tokens is not None:
        return tokens
    if chunk.startswith(b"#") or b"\n#" in chunk:
        data = np.frombuffer(b"".join((FRONT, COMMENT_LINE.sub(b"\n", chunk), BACK)), np.uint8)
    return _set_apart_by_any_blanks(data, columns)


def _check_characters(chunk: bytes) -> None:
    if DELETE in chunk or NUL in chunk:  # NUL is refused in comments too, which are removed before the next check
        raise UnusualError
    if chunk.isascii():
        return
    try:
        text = chunk.decode()
    except UnicodeDecodeError:
        raise UnusualError from None
    if SPLITTING_PAST_ASCII.search(text):
        raise UnusualError


def _set_apart_by_one_blank(data: Bytes, end: int, columns: int) -> Tokens | None:
    """Tokenise lines whose words are separated by one space or tab, as in nearly all files; None for others."""
    blanks = np.flatnonzero(data[len(FRONT) : end] <= SPACE)
    if blanks.size % columns or not blanks.size:
        return None
    blanks += len(FRONT)
    kinds = data[blanks]
    lines = blanks.size // columns
    within = np.count_nonzero(kinds == SPACE) + np.count_nonzero(kinds == TAB)
    if within != (columns - 1) * lines or not np.all(kinds[columns - 1 :: columns] == NEWLINE):
        return None
    starts = np.empty_like(blanks)
    starts[0] = len(FRONT)
    np.add(blanks[:-1], 1, out=starts[1:])
    if not np.all(starts < blanks):
        return None
    tokens = Tokens(data, starts.reshape(-1, columns), blanks.reshape(-1, columns))
    first = tokens.starts[:, 0]
    is_usual = np.all(tokens.ends[:, -1] - first < MAX_LINE_BYTES) and not np.any(data[first] == HASH)
    return tokens if is_usual else None


def _set_apart_by_any_blanks(data: Bytes, columns: int) -> Tokens:
    """Tokenise lines that each have `columns` words or none."""
    blank = data <= SPACE
    control = (data < TAB) | ((data > RETURN) & (data < SPACE))
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if control.any() or edges.size % (2 * columns):
        raise UnusualError
    bounds = edges.reshape(-1, 2 * columns)
    starts, ends = bounds[:, 0::2], bounds[:, 1::2]
    newlines = np.flatnonzero(data == NEWLINE)
    first, last = np.searchsorted(newlines, starts[:, 0]), np.searchsorted(newlines, starts[:, -1])
    one_line_each = np.array_equal(first, last) and bool(np.all(first[1:] > first[:-1]))
    too_long = np.any(np.diff(newlines) > MAX_LINE_BYTES)
    if not one_line_each or too_long or np.any(data[starts[:, 0]] == HASH):
        raise UnusualError
    return Tokens(data, starts, ends, first - len(FRONT))


def words_of(data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """Gather tokens as integers of eight bytes, shape (tokens, words), padded with zeros.

    Tokens have no zero bytes, so rows are equal exactly when the tokens are. Raises `UnusualError`
    for a token too long for an identifier.
    """
    lengths = ends - starts
    longest = int(lengths.max())
    if longest > MAX_IDENTIFIER_BYTES:
        raise UnusualError
    count = -(-longest // WORD_BYTES)
    windows = np.ndarray((data.size - count * WORD_BYTES + 1,), f"V{count * WORD_BYTES}", data, strides=(1,))
    words: Words = windows[starts].view("<u8").reshape(-1, count)
    # One mask for all tokens of equal length, which topics and tags mostly are, is faster than one for each.
    words &= masks(count)[longest if lengths.min() == longest else lengths]
    return words


def texts_of(data: Bytes, starts: Offsets, ends: Offsets) -> NDArray[np.bytes_]:
    """Gather tokens as an `S` array of minimum width; raises `UnusualError` as `words_of` does."""
    lengths = ends - starts
    width = int(lengths.max())
    if width > MAX_IDENTIFIER_BYTES:
        raise UnusualError
    windows = np.ndarray((data.size - width + 1,), f"S{width}", data, strides=(1,))
    texts: NDArray[np.bytes_] = windows[starts]
    if lengths.min() < width:  # mask the part of the window after the token
        keep = np.tri(width + 1, width, -1, dtype=np.uint8)
        texts.view(np.uint8).reshape(-1, width)[...] *= keep[lengths]
    return texts


def beginnings_of(tokens: Tokens, column: int) -> tuple[list[bytes], Offsets]:
    """Return the words of a column that differ from the line above, with the indices of their lines."""
    starts, ends = tokens.column(column)
    words = words_of(tokens.data, starts, ends)
    changes = words[1:, 0] != words[:-1, 0]
    for word in words.T[1:]:
        changes |= word[1:] != word[:-1]
    lines = np.concatenate(([0], np.flatnonzero(changes) + 1))
    bounds = zip(starts[lines].tolist(), ends[lines].tolist(), strict=True)
    return [tokens.data[start:end].tobytes() for start, end in bounds], lines


def one_text(tokens: Tokens, column: int, known: bytes | None) -> bytes:
    """Return the word of a column that is the same on every line, and equal to `known` if that is given.

    Raises `UnusualError` when a line has another word.
    """
    text = tokens.first(column) if known is None else known
    words = words_of(tokens.data, *tokens.column(column))
    padded = text.ljust(words.shape[1] * WORD_BYTES, b"\0")
    expected = np.frombuffer(padded, "<u8")
    if expected.size != words.shape[1] or any(np.any(words[:, place] != word) for place, word in enumerate(expected)):
        raise UnusualError
    return text


@lru_cache(maxsize=64)
def masks(count: int) -> Words:
    """For each length up to `count` words, masks of that many bytes; shape (lengths, words)."""
    kept = np.tri(count * WORD_BYTES + 1, count * WORD_BYTES, -1, dtype=np.uint8) * np.uint8(255)
    return kept.view("<u8")


# Odd multipliers with spread bits: 2^64 divided by the golden ratio, and a multiplier of splitmix64.
WORD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
LAST_FACTOR = np.uint64(0x94D049BB133111EB)
HALF_BITS = np.uint64(32)

Hashes = NDArray[np.uint64]


def hashes_of(words: Words) -> Hashes:
    """Hash documents, shape (documents, words).

    Trailing zero words do not change a hash, so it does not depend on the width of the widest docno.
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
    """View docnos as integers of eight bytes, shape (docnos, words), as `words_of` gathers them."""
    count = max(1, -(-docnos.itemsize // WORD_BYTES))
    return docnos.astype(f"S{count * WORD_BYTES}").view("<u8").reshape(-1, count)


def has_equals(hashes: Hashes) -> bool:
    """Whether any two hashes are equal."""
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))
