"""Matches a run with qrels by whole columns, list after list as the file gives them: exactly, or not at all."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from annotator.evaluation.formats.docno_hashes import has_equals, hashes_of
from annotator.evaluation.formats.file_kinds import COLUMNS, DOCNO, SCORE, TAG, TOPIC
from annotator.evaluation.formats.table_tokens import (
    UnusualError,
    Words,
    beginnings_of,
    one_text,
    tokens_of,
    words_of,
)
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.parts import MatchedPart, MatchedRows
from annotator.evaluation.runs.ranks import Positions, ranks_of
from annotator.evaluation.runs.run_scores import Scores, in_single_precision, scores_of

LIST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)  # odd, its bits spread: a multiplier of splitmix64
KEPT_BYTES = 24 << 20


@dataclass
class _Matching:
    """What the chunks so far have said; the last list may still go on in the next chunk."""

    index: QrelsIndex
    single_precision: bool
    tag: bytes | None = None
    lengths: dict[bytes, int] = field(default_factory=dict)
    rows: list[MatchedRows] = field(default_factory=list)
    open_topic: bytes | None = None
    open_pieces: list[tuple[Words, Scores]] = field(default_factory=list)

    def take(self, chunk: bytes) -> None:
        tokens = tokens_of(chunk, COLUMNS)
        if not tokens.starts.size:
            return
        self.tag = one_text(tokens, TAG, self.tag)
        docnos = words_of(tokens.data, *tokens.column(DOCNO))
        scores = scores_of(tokens.data, *tokens.column(SCORE))
        if self.single_precision:
            scores = in_single_precision(scores)
        self._take_lists(*beginnings_of(tokens, TOPIC), docnos, scores)

    def _take_lists(self, names: list[bytes], begins: Positions, docnos: Words, scores: Scores) -> None:
        """Match the lists that are whole now, and keep the last, which may go on in the next chunk."""
        if names[0] != self.open_topic:
            self.close()
        last = int(begins[-1])
        if last:
            pieces = [*self.open_pieces, (docnos[:last], scores[:last])]
            kept = sum(piece.size for _, piece in self.open_pieces)
            lists = np.concatenate(([0], begins[1:-1] + kept))
            self._match(names[:-1], lists, pieces)
            self.open_pieces = []
        self.open_topic = names[-1]
        self.open_pieces.append((docnos[last:], scores[last:]))

    def close(self) -> None:
        """Match the list that was open: it is whole."""
        if self.open_topic is not None:
            self._match([self.open_topic], np.zeros(1, np.intp), self.open_pieces)
        self.open_topic, self.open_pieces = None, []

    def _match(self, names: list[bytes], begins: Positions, pieces: list[tuple[Words, Scores]]) -> None:
        docnos, scores = _in_one(pieces)
        lengths = np.diff(begins, append=scores.size)
        before = len(self.lengths)
        self.lengths.update(zip(names, lengths.tolist(), strict=True))
        if len(self.lengths) < before + len(names):  # a topic's lines come back later
            raise UnusualError
        hashes = hashes_of(docnos)
        if has_equals(hashes + np.repeat(np.arange(len(names)).astype(np.uint64) * LIST_FACTOR, lengths)):
            raise UnusualError  # a document comes twice, or two hashes are equal by chance
        absent = len(self.index.topics)
        topics = np.repeat(np.array([self.index.topics.get(name, absent) for name in names], np.intp), lengths)
        rows, entries = self.index.find(hashes, docnos, topics)
        lists = np.searchsorted(begins, rows, side="right") - 1
        self.rows.append(MatchedRows(topics[rows], ranks_of(rows, lists, begins, scores, docnos), entries))


def match_columns(chunks: Iterable[bytes], index: QrelsIndex, *, single_precision: bool) -> MatchedPart:
    """Match the lists of the chunks; raises `UnusualError` when anything about them is unusual, or there is none."""
    # The C library returns freed memory to the system at once, and every chunk would have it cleared anew. Of an array
    # this large that was dropped it learns to keep as much; never written to, the array itself takes none.
    np.empty(KEPT_BYTES, np.uint8)
    matching = _Matching(index, single_precision)
    for chunk in chunks:
        matching.take(chunk)
    matching.close()
    if matching.tag is None:
        raise UnusualError
    return MatchedPart(matching.tag, matching.lengths, matching.rows)


def _in_one(pieces: list[tuple[Words, Scores]]) -> tuple[Words, Scores]:
    if len(pieces) == 1:
        return pieces[0]
    width = max(words.shape[1] for words, _ in pieces)
    words = np.concatenate([np.pad(words, ((0, 0), (0, width - words.shape[1]))) for words, _ in pieces])
    return words, np.concatenate([scores for _, scores in pieces])
