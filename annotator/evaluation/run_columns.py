"""Reads a run by whole columns, for the millions of lines: either exactly what `run_lines` reads, or nothing."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.docno_hashes import has_equals, hashes_of, words_of_docnos
from annotator.evaluation.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.rankings import trec_order
from annotator.evaluation.run_lines import COLUMNS, DOCNO, SCORE, TAG, TOPIC
from annotator.evaluation.run_scores import Scores, scores_of
from annotator.evaluation.table_stream import chunks_of
from annotator.evaluation.table_tokens import (
    Offsets,
    UnusualError,
    beginnings_of,
    one_text,
    texts_of,
    tokens_of,
)

MAX_PIECES = 1 << 18  # of lists that come in bits, as when topics take turns line by line; each costs 300 bytes

Docnos = NDArray[np.bytes_]


@dataclass
class _Columns:
    """What the chunks so far have said: for each topic, in order of first appearance, the pieces of its list."""

    topics: AbstractSet[str] | None
    tag: bytes | None = None
    pieces: dict[bytes, list[tuple[Docnos, Scores]]] = field(default_factory=dict)
    lines: int = 0
    piece_count: int = 0

    def take(self, chunk: bytes, *, check_tag: bool) -> None:
        tokens = tokens_of(chunk, COLUMNS)
        if not tokens.starts.size:
            return
        self.lines += len(tokens.starts)
        if check_tag:
            self.tag = one_text(tokens, TAG, self.tag)
        docnos, scores = texts_of(tokens.data, *tokens.column(DOCNO)), scores_of(tokens.data, *tokens.column(SCORE))
        self._take_lists(*beginnings_of(tokens, TOPIC), docnos, scores)

    def _take_lists(self, names: list[bytes], begins: Offsets, docnos: Docnos, scores: Scores) -> None:
        lengths = np.diff(begins, append=scores.size)
        if len(set(names)) < len(names):  # topics take turns: bring each together, its lines in file order
            places: dict[bytes, int] = {}
            codes = [places.setdefault(name, len(places)) for name in names]
            order = np.argsort(np.repeat(codes, lengths), kind="stable")
            together = np.bincount(codes, weights=lengths).astype(np.int64)
            self._take_lists(list(places), np.cumsum(together) - together, docnos[order], scores[order])
            return
        self.piece_count += len(names)
        if self.piece_count > MAX_PIECES:
            raise UnusualError
        for name, begin, end in zip(names, begins.tolist(), (begins + lengths).tolist(), strict=True):
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
        for chunk in chunks_of(text):
            columns.take(chunk, check_tag=tag is None)
        return columns.run(tag) if columns.lines else None
    except UnusualError:
        return None


def _ranked(pieces: list[tuple[Docnos, Scores]]) -> ParsedList:
    docnos, scores = pieces[0]
    if len(pieces) > 1:
        docnos = np.concatenate([piece for piece, _ in pieces])
        scores = np.concatenate([piece for _, piece in pieces])
    if has_equals(hashes_of(words_of_docnos(docnos))) and np.unique(docnos).size < docnos.size:
        raise UnusualError
    if np.all(scores[:-1] > scores[1:]):
        return ParsedList(docnos, scores)
    order = trec_order(docnos, scores)
    return ParsedList(docnos[order], scores[order])
