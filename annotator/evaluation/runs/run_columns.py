"""Vectorised parser of runs with millions of lines: the same result as `read_lines`, or None for unusual files."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.file_kinds import COLUMNS, DOCNO, SCORE, TAG, TOPIC
from annotator.evaluation.formats.table_stream import chunks_of
from annotator.evaluation.formats.table_tokens import (
    Offsets,
    Tokens,
    UnusualError,
    beginnings_of,
    has_equals,
    hashes_of,
    one_text,
    texts_of,
    tokens_of,
    words_of_docnos,
)
from annotator.evaluation.runs.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.runs.rankings import trec_order
from annotator.evaluation.runs.run_scores import scores_of

KEPT_BYTES = 24 << 20
MAX_PIECES = 1 << 18  # of lists in fragments, as when topics alternate line by line; each costs 300 bytes

# The wanted columns of some lines, one array each.
Piece = tuple[NDArray[Any], ...]
# Extracts the columns of a chunk; the number is the count of the file's lines before it.
Gather = Callable[[Tokens, int], Piece]


@dataclass
class Collected:
    """The data read so far: the pieces of each topic's list, topics in order of first occurrence."""

    topics: AbstractSet[str] | None
    gather: Gather
    tag: bytes | None = None
    pieces: dict[bytes, list[Piece]] = field(default_factory=dict)
    lines: int = 0
    lines_before: int = 0
    piece_count: int = 0

    def take(self, chunk: bytes, *, check_tag: bool) -> None:
        """Add the lines of a chunk; raises `UnusualError` for other content."""
        tokens = tokens_of(chunk, COLUMNS)
        if tokens.starts.size:
            self.lines += len(tokens.starts)
            if check_tag:
                self.tag = one_text(tokens, TAG, self.tag)
            piece = self.gather(tokens, self.lines_before)
            self._take_lists(*beginnings_of(tokens, TOPIC), piece, len(tokens.starts))
        self.lines_before += len(tokens.starts) if tokens.places is None else chunk.count(b"\n")

    def _take_lists(self, names: list[bytes], begins: Offsets, columns: Piece, lines: int) -> None:
        lengths = np.diff(begins, append=lines)
        if len(set(names)) < len(names):  # topics alternate: group the lines by topic, in file order
            places: dict[bytes, int] = {}
            codes = [places.setdefault(name, len(places)) for name in names]
            order = np.argsort(np.repeat(codes, lengths), kind="stable")
            together = np.bincount(codes, weights=lengths).astype(np.int64)
            ordered = tuple(column[order] for column in columns)
            self._take_lists(list(places), np.cumsum(together) - together, ordered, lines)
            return
        self.piece_count += len(names)
        if self.piece_count > MAX_PIECES:
            raise UnusualError
        for name, begin, end in zip(names, begins.tolist(), (begins + lengths).tolist(), strict=True):
            if name not in self.pieces:
                self._greet(name)
            self.pieces[name].append(tuple(column[begin:end] for column in columns))

    def _greet(self, topic: bytes) -> None:
        if self.topics is not None and topic.decode() not in self.topics:
            raise UnusualError
        self.pieces[topic] = []


def collect(
    text: bytes, topics: AbstractSet[str] | None, tag: str | None, gather: Gather, *, chunk_bytes: int | None = None
) -> Collected:
    """Collect a run's columns by topic; raises `UnusualError` when the file is unusual in any way."""
    # As in `matching.files`: otherwise memory would be returned and cleared again for every chunk.
    np.empty(KEPT_BYTES, np.uint8)
    collected = Collected(topics, gather)
    for chunk in chunks_of(text, chunk_bytes=chunk_bytes):
        collected.take(chunk, check_tag=tag is None)
    if not collected.lines:
        raise UnusualError
    if tag is not None:
        collected.tag = tag.encode()
    return collected


def read_columns(text: bytes, topics: AbstractSet[str] | None, tag: str | None) -> ParsedRun | None:
    """Return the run, or None when the file is unusual in any way; uses about 60 bytes of memory a line."""
    try:
        collected = collect(text, topics, tag, _docnos_and_scores)
        # Pieces are released list by list, so that the run is never in memory twice.
        lists = {topic.decode(): _ranked(collected.pieces.pop(topic)) for topic in list(collected.pieces)}
    except UnusualError:
        return None
    return ParsedRun((collected.tag or b"").decode(), lists, collected.lines)


def _docnos_and_scores(tokens: Tokens, _lines_before: int) -> Piece:
    return texts_of(tokens.data, *tokens.column(DOCNO)), scores_of(tokens.data, *tokens.column(SCORE))


def _ranked(pieces: list[Piece]) -> ParsedList:
    docnos, scores = pieces[0]
    if len(pieces) > 1:
        docnos, scores = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if has_equals(hashes_of(words_of_docnos(docnos))) and np.unique(docnos).size < docnos.size:
        raise UnusualError
    if np.all(scores[:-1] > scores[1:]):
        return ParsedList(docnos, scores)
    order = trec_order(docnos, scores)
    return ParsedList(docnos[order], scores[order])
