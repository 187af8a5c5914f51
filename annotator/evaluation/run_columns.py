"""Reads a run by whole columns, for the millions of lines: either exactly what `run_lines` reads, or nothing."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.identifiers import MAX_IDENTIFIER_BYTES, SPLITTING_PAST_ASCII
from annotator.evaluation.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.rankings import trec_order
from annotator.evaluation.run_lines import COLUMNS
from annotator.evaluation.table_lines import MAX_LINE_BYTES

CHUNK_BYTES = 1 << 17  # its arrays stay in the processor's cache: twice as fast as a megabyte
MAX_PIECES = 1 << 18  # of lists that come in bits, as when topics take turns line by line; each costs 300 bytes
MAX_SCORE_BYTES = 64  # longer numbers exist, but not where speed matters
TAB, NEWLINE, RETURN, SPACE, DELETE, HASH = b"\t\n\r \x7f#"
PADDING = b"\n" + b" " * MAX_IDENTIFIER_BYTES  # a window of any width may begin at the last token
COMMENT_LINE = re.compile(rb"^#.*\n?", re.MULTILINE)
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits spread: 2^64 divided by the golden ratio
# With finiteness and float()'s own grammar this leaves exactly the decimal numbers of `run_lines`; NUL is padding.
MAY_BE_IN_A_SCORE = np.isin(np.arange(256), [0, *b"0123456789+-.eE"])

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Words = NDArray[np.bytes_]
Scores = NDArray[np.float64]


class UnusualError(Exception):
    """Something that the line by line reading must look at; it may be wrong, or only rare."""


@dataclass
class _Columns:
    """What the chunks so far have said: for each topic, in order of first appearance, the pieces of its list."""

    topics: AbstractSet[str] | None
    tag: bytes | None = None
    pieces: dict[bytes, list[tuple[Words, Scores]]] = field(default_factory=dict)
    lines: int = 0
    piece_count: int = 0

    def take(self, chunk: bytes, *, check_tag: bool) -> None:
        if not chunk.isascii() and SPLITTING_PAST_ASCII.search(chunk.decode()):
            raise UnusualError
        data = np.frombuffer(b"\n" + chunk + PADDING, np.uint8)
        starts, ends = _token_bounds(data)
        if not starts.size:
            return
        self.lines += len(starts)
        if check_tag:
            self._take_tag(_words(data, starts[:, 5], ends[:, 5]))
        topics = _words(data, starts[:, 0], ends[:, 0])
        self._take_lists(topics, _words(data, starts[:, 2], ends[:, 2]), _scores(data, starts[:, 4], ends[:, 4]))

    def _take_tag(self, tags: Words) -> None:
        if self.tag is None:
            self.tag = bytes(tags[0])
        if np.any(tags != self.tag):
            raise UnusualError

    def _take_lists(self, topics: Words, docnos: Words, scores: Scores) -> None:
        begins = np.concatenate(([0], np.flatnonzero(topics[1:] != topics[:-1]) + 1))
        names: list[bytes] = topics[begins].tolist()
        if len(set(names)) < len(names):  # topics take turns: bring each together, its lines in file order
            order = _topic_order(names, np.diff(begins, append=len(topics)))
            self._take_lists(topics[order], docnos[order], scores[order])
            return
        self.piece_count += len(names)
        if self.piece_count > MAX_PIECES:
            raise UnusualError
        for name, begin, end in zip(names, begins, [*begins[1:], len(topics)], strict=True):
            if name not in self.pieces:
                self._greet(name)
            self.pieces[name].append((docnos[begin:end], scores[begin:end]))

    def _greet(self, topic: bytes) -> None:
        if self.topics is not None and topic.decode() not in self.topics:
            raise UnusualError
        self.pieces[topic] = []

    def run(self, tag: str | None) -> ParsedRun:
        """Rank each list, letting go of its pieces on the way, so that the run never stands in memory twice."""
        lists = {topic.decode(): _ranked(self.pieces.pop(topic)) for topic in list(self.pieces)}
        return ParsedRun(tag if tag is not None else (self.tag or b"").decode(), lists, self.lines)


def read_columns(text: bytes, topics: AbstractSet[str] | None, tag: str | None) -> ParsedRun | None:
    """Return the run, or None when anything about the file is unusual; about 60 bytes of memory a line."""
    columns = _Columns(topics)
    try:
        for chunk in _chunks(text):
            columns.take(chunk, check_tag=tag is None)
        return columns.run(tag) if columns.lines else None
    except UnusualError:
        return None


def _chunks(text: bytes) -> Iterator[bytes]:
    """Yield the text in pieces that end with a line, without the comment lines."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + CHUNK_BYTES, start + CHUNK_BYTES + MAX_LINE_BYTES) + 1
        if not end and len(text) - start > CHUNK_BYTES + MAX_LINE_BYTES:
            raise UnusualError
        chunk = text[start : end or len(text)]
        has_comment = chunk.startswith(b"#") or b"\n#" in chunk
        yield COMMENT_LINE.sub(b"", chunk) if has_comment else chunk
        start += len(chunk)


def _token_bounds(data: Bytes) -> tuple[Offsets, Offsets]:
    """Return where the tokens start and end, both of shape (lines, 6), when each line has six or none."""
    blank = data <= SPACE
    control = (data < TAB) | ((data > RETURN) & (data < SPACE)) | (data == DELETE)
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if control.any() or edges.size % (2 * COLUMNS):
        raise UnusualError
    bounds = edges.reshape(-1, 2 * COLUMNS)
    starts, ends = bounds[:, 0::2], bounds[:, 1::2]
    newlines = np.flatnonzero(data == NEWLINE)
    first, last = np.searchsorted(newlines, starts[:, 0]), np.searchsorted(newlines, starts[:, -1])
    one_line_each = np.array_equal(first, last) and bool(np.all(first[1:] > first[:-1]))
    too_long = np.any(np.diff(newlines) > MAX_LINE_BYTES)
    if not one_line_each or too_long or np.any(data[starts[:, 0]] == HASH):
        raise UnusualError
    return starts, ends


def _words(data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """Gather tokens of at most `MAX_IDENTIFIER_BYTES` bytes as an `S` array."""
    lengths = ends - starts
    width = int(lengths.max())
    if width > MAX_IDENTIFIER_BYTES:
        raise UnusualError
    windows = np.ndarray((data.size - width + 1,), f"S{width}", data, strides=(1,))
    words: Words = windows[starts]
    if lengths.min() < width:  # blank out what the window shows of the next token
        keep = np.tri(width + 1, width, -1, dtype=np.uint8)
        words.view(np.uint8).reshape(-1, width)[...] *= keep[lengths]
    return words


def _scores(data: Bytes, starts: Offsets, ends: Offsets) -> Scores:
    words = _words(data, starts, ends)
    if words.itemsize > MAX_SCORE_BYTES or not MAY_BE_IN_A_SCORE[words.view(np.uint8)].all():
        raise UnusualError
    try:
        scores = words.astype(np.float64)  # by Python's own float(), so to the last bit
    except ValueError:
        raise UnusualError from None
    if not np.isfinite(scores).all():
        raise UnusualError
    return scores


def _topic_order(names: list[bytes], lengths: Offsets) -> Offsets:
    """Return the order of lines in which each topic is in one piece, topics by first appearance."""
    places: dict[bytes, int] = {}
    codes = [places.setdefault(name, len(places)) for name in names]
    return np.argsort(np.repeat(codes, lengths), kind="stable")


def _ranked(pieces: list[tuple[Words, Scores]]) -> ParsedList:
    docnos, scores = pieces[0]
    if len(pieces) > 1:
        docnos = np.concatenate([piece for piece, _ in pieces])
        scores = np.concatenate([piece for _, piece in pieces])
    if _has_duplicates(docnos):
        raise UnusualError
    if np.all(scores[:-1] > scores[1:]):
        return ParsedList(docnos, scores)
    order = trec_order(docnos, scores)
    return ParsedList(docnos[order], scores[order])


def _has_duplicates(docnos: Words) -> bool:
    """Tell whether a document comes twice; sorting hashes is ten times as fast as sorting the ids themselves."""
    words_each = -(-docnos.itemsize // 8)
    words = docnos.astype(f"S{8 * words_each}").view(np.uint64).reshape(-1, words_each)
    hashes = words[:, 0].copy()
    for word in words.T[1:]:
        hashes = hashes * HASH_FACTOR + word
    hashes.sort()
    return bool(np.any(hashes[1:] == hashes[:-1])) and np.unique(docnos).size < docnos.size
