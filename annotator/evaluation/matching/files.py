"""Matching of runs with qrels: files as streams of columns or line by line, and ranked lists in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import COLUMNS, DOCNO, SCORE, TAG, TOPIC
from annotator.evaluation.formats.table_stream import chunks_of, is_packed
from annotator.evaluation.formats.table_tokens import (
    UnusualError,
    Words,
    beginnings_of,
    has_equals,
    hashes_of,
    one_text,
    tokens_of,
    words_of,
    words_of_docnos,
)
from annotator.evaluation.formats.unpacking import UNPACKED_LIMIT, is_too_large, read_stream, read_text
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.matched_runs import MatchedPart, MatchedRows, MatchedRun, joined_run
from annotator.evaluation.runs.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.runs.rankings import Positions, ranks_of, trec_order
from annotator.evaluation.runs.run_format import parse_run
from annotator.evaluation.runs.run_scores import Scores, in_single_precision, scores_of

LIST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)  # odd multiplier with spread bits, of splitmix64
KEPT_BYTES = 24 << 20


@dataclass
class _Matching:
    """The state of matching; the last list may continue in the next chunk."""

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
        """Match the complete lists, and keep the last, which may continue in the next chunk."""
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
        """Match the last list, which is now complete."""
        if self.open_topic is not None:
            self._match([self.open_topic], np.zeros(1, np.intp), self.open_pieces)
        self.open_topic, self.open_pieces = None, []

    def _match(self, names: list[bytes], begins: Positions, pieces: list[tuple[Words, Scores]]) -> None:
        docnos, scores = _in_one(pieces)
        lengths = np.diff(begins, append=scores.size)
        before = len(self.lengths)
        self.lengths.update(zip(names, lengths.tolist(), strict=True))
        if len(self.lengths) < before + len(names):  # a topic's lines are not together
            raise UnusualError
        hashes = hashes_of(docnos)
        if has_equals(hashes + np.repeat(np.arange(len(names)).astype(np.uint64) * LIST_FACTOR, lengths)):
            raise UnusualError  # a duplicate document, or a hash collision
        absent = len(self.index.topics)
        topics = np.repeat(np.array([self.index.topics.get(name, absent) for name in names], np.intp), lengths)
        rows, entries = self.index.find(hashes, docnos, topics)
        lists = np.searchsorted(begins, rows, side="right") - 1
        self.rows.append(MatchedRows(topics[rows], ranks_of(rows, lists, begins, scores, docnos), entries))


def match_columns(chunks: Iterable[bytes], index: QrelsIndex, *, single_precision: bool) -> MatchedPart:
    """Match the lists of the chunks; raises `UnusualError` for unusual lists, or without any."""
    # The C library returns freed memory to the system at once, and it would be cleared again for every chunk. Dropping
    # one array this large teaches it to keep as much; never written to, the array itself takes no memory.
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


BATCH_ROWS = 1 << 14  # of the lists matched at once, so that arrays stay in the processor's cache


def match_lists(index: QrelsIndex, tag: str, lists: Mapping[str, ParsedList]) -> MatchedRun:
    """Match lists that are already in trec_eval's order and without duplicates."""
    lengths = {topic.encode(): ranked.docnos.size for topic, ranked in lists.items()}
    rows = [_matched_batch(index, batch) for batch in _batches(lists)]
    run = joined_run(index, [MatchedPart(tag.encode(), lengths, rows)])
    assert run is not None  # noqa: S101 - one part cannot contradict itself
    return run


def match_parsed(index: QrelsIndex, run: ParsedRun, *, single_precision: bool) -> MatchedRun:
    """Match a parsed run, with `single_precision` in the order of trec_eval 9."""
    lists = lists_in_single_precision(run) if single_precision else run.lists
    return match_lists(index, run.tag, lists)


def lists_in_single_precision(run: ParsedRun) -> dict[str, ParsedList]:
    """A run's lists by topic, in the order of trec_eval 9."""
    return {topic: _in_single(ranked) for topic, ranked in run.lists.items()}


def _in_single(ranked: ParsedList) -> ParsedList:
    """Sort again by scores in single precision, which have more ties."""
    scores = in_single_precision(ranked.scores)
    order = trec_order(ranked.docnos, scores)
    return ParsedList(ranked.docnos[order], scores[order])


def _batches(lists: Mapping[str, ParsedList]) -> Iterator[dict[str, ParsedList]]:
    batch: dict[str, ParsedList] = {}
    rows = 0
    for topic, ranked in lists.items():
        batch[topic] = ranked
        rows += ranked.docnos.size
        if rows >= BATCH_ROWS:
            yield batch
            batch, rows = {}, 0
    if rows:
        yield batch


def _matched_batch(index: QrelsIndex, lists: Mapping[str, ParsedList]) -> MatchedRows:
    lengths = [ranked.docnos.size for ranked in lists.values()]
    numbers = [index.topics.get(topic.encode(), len(index.topics)) for topic in lists]
    topics = np.repeat(np.array(numbers, np.intp), lengths)
    words = words_of_docnos(np.concatenate([ranked.docnos for ranked in lists.values()]))
    rows, entries = index.find(hashes_of(words), words, topics)
    ranks = np.arange(1, topics.size + 1) - np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    return MatchedRows(topics[rows], ranks[rows], entries)


LEAST_BYTES = 48 << 20  # a process takes 0.3 s to start, time to read this much
PACKED_TIMES = 4  # approximate ratio of gzip on runs

NamedFile = tuple[str, Path | bytes]


def match_runs(
    files: Sequence[NamedFile],
    index: QrelsIndex,
    problems: Problems,
    *,
    workers: int,
    single_precision: bool = False,
) -> list[MatchedRun | None]:
    """Match each file as `match_run` does, in up to `workers` processes, including this one.

    Others are started only for large inputs, and by the spawn method: a script that calls this must guard its own
    work by `if __name__ == "__main__"`. Problems are noted file by file. Raises `AnnotatorError` when a process ends
    before its work.
    """
    if workers > 1 and sum(map(_bytes_of, files)) >= LEAST_BYTES:
        # Importing the code that starts processes takes longer than matching a run.
        several = import_module("annotator.evaluation.matching.workers").match_in_processes
        runs: list[MatchedRun | None] = several(
            files, index, problems, workers=workers, single_precision=single_precision
        )
        return runs
    return [match_run(name, source, index, problems, single_precision=single_precision) for name, source in files]


def match_run(
    name: str, source: Path | bytes, index: QrelsIndex, problems: Problems, *, single_precision: bool = False
) -> MatchedRun | None:
    """Read a run and match it, or return None and note every problem of the file with its line, as `parse_run` does.

    That a file is qrels, or comma-separated, is one problem. The source may be compressed with gzip. Scores
    are compared in double precision as by trec_eval 10, or with `single_precision` as by trec_eval 9. A file takes a
    few megabytes of memory; one that is unusual (a topic's lines are not together) or wrong takes what `parse_run`
    does.
    """
    try:
        source = within_reach(source)
        chunks = iter(()) if is_beyond_limit(source) else chunks_of(source)
        part = match_columns(chunks, index, single_precision=single_precision)
    except (OSError, UnusualError):
        return match_with_care(name, source, index, problems, single_precision=single_precision)
    return joined_run(index, [part])


def match_with_care(
    name: str,
    source: Path | bytes,
    index: QrelsIndex,
    problems: Problems,
    *,
    single_precision: bool,
    input_format: str | None = None,
) -> MatchedRun | None:
    """Do as `match_run`, but parse the whole file first, in this format if one is named."""
    text = read_text(problems, name, source, UNPACKED_LIMIT)
    run = None if text is None else parse_run(name, text, problems, input_format=input_format)
    return None if run is None else match_parsed(index, run, single_precision=single_precision)


def within_reach(source: Path | bytes) -> Path | bytes:
    """Read a pipe, which can be read only once and by one process; return other paths. Raises `OSError`."""
    if isinstance(source, bytes) or source.is_file():
        return source
    with source.open("rb", buffering=0) as stream:
        return read_stream(stream, UNPACKED_LIMIT)


def is_beyond_limit(source: Path | bytes) -> bool:
    """Whether a file is uncompressed and too large, found before any matching. Raises `OSError`."""
    if isinstance(source, bytes):
        return len(source) > UNPACKED_LIMIT and not is_packed(source)
    return is_too_large(source, UNPACKED_LIMIT)


def _bytes_of(file: NamedFile) -> int:
    """Estimate the bytes to match; 0 for files refused by their size."""
    _, source = file
    try:
        if (isinstance(source, Path) and not source.is_file()) or is_beyond_limit(source):
            return 0
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        return size * (PACKED_TIMES if isinstance(source, Path) and is_packed(source) else 1)
    except OSError:
        return 0
