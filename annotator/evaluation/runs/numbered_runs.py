"""Parses runs to be stored: documents as numbers, with their lines in the file."""

from collections.abc import Collection
from functools import partial

import numpy as np

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.file_kinds import DOCNO, RANK, SCORE
from annotator.evaluation.formats.table_tokens import Tokens, UnusualError, has_equals, words_of, words_of_docnos
from annotator.evaluation.runs.docno_numbers import DocnoNumbers, Numbers, Positions
from annotator.evaluation.runs.parsed_runs import NumberedRun, Origin, ParsedRun
from annotator.evaluation.runs.rankings import ranks_of
from annotator.evaluation.runs.run_columns import Collected, Piece, collect
from annotator.evaluation.runs.run_format import UNKNOWN_TOPIC, read_carefully
from annotator.evaluation.runs.run_scores import Scores, scores_of, whole_numbers_of

CHUNK_BYTES = 1 << 21  # most runs fit in one chunk, and calls for each chunk cost more than the cache saves


def read_numbered_run(
    name: str,
    text: bytes,
    problems: Problems,
    numbers: DocnoNumbers,
    *,
    topics: Collection[str],
    tag: str | None,
    unknown_topic: Sentence = UNKNOWN_TOPIC,
) -> NumberedRun | None:
    """Parse a run as `parse_run` does; documents get their numbers from `numbers`."""
    known = frozenset(topics)
    try:
        collected = collect(text, known, tag, partial(_columns, numbers), chunk_bytes=CHUNK_BYTES)
        return _ranked(collected, numbers)
    except UnusualError:
        parsed = read_carefully(name, text, problems, known, tag, unknown_topic)
        return None if parsed is None else _numbered(parsed, numbers)


def _columns(numbers: DocnoNumbers, tokens: Tokens, lines_before: int) -> Piece:
    places = np.arange(len(tokens.starts)) if tokens.places is None else tokens.places
    return (
        numbers.numbers_of(words_of(tokens.data, *tokens.column(DOCNO))),
        scores_of(tokens.data, *tokens.column(SCORE)),
        (places + (lines_before + 1)).astype(np.int32),
        whole_numbers_of(tokens.data, *tokens.column(RANK)),
    )


def _ranked(collected: Collected, numbers: DocnoNumbers) -> NumberedRun:
    topics = tuple(topic.decode() for topic in collected.pieces)
    lengths = [sum(piece[0].size for piece in pieces) for pieces in collected.pieces.values()]
    begins = np.concatenate(([0], np.cumsum(lengths)))
    every = [piece for pieces in collected.pieces.values() for piece in pieces]
    collected.pieces.clear()
    documents, scores, lines, ranks = (np.concatenate(column) for column in zip(*every, strict=True))
    list_of = np.repeat(np.arange(len(topics)), lengths)
    if has_equals((list_of * numbers.count + documents).view(np.uint64)):
        raise UnusualError
    falls = scores[:-1] > scores[1:]
    falls[begins[1:-1] - 1] = True
    if not falls.all():
        order = _order(documents, scores, begins, list_of, numbers)
        documents, scores, lines, ranks = (column[order] for column in (documents, scores, lines, ranks))
    return NumberedRun((collected.tag or b"").decode(), topics, begins, documents, scores, Origin(lines, ranks))


def _order(
    documents: Numbers, scores: Scores, begins: Positions, list_of: Positions, numbers: DocnoNumbers
) -> Positions:
    """Sort each list in trec_eval's order."""
    rows = np.arange(scores.size)
    ranks = ranks_of(rows, list_of, begins[:-1], scores, numbers.words_of(documents))
    order = np.empty_like(rows)
    order[begins[list_of] + ranks - 1] = rows
    return order


def _numbered(parsed: ParsedRun, numbers: DocnoNumbers) -> NumberedRun:
    """Convert a run that was parsed line by line to document numbers."""
    lists = parsed.lists.values()
    origins = [ranked.origin for ranked in lists if ranked.origin is not None]
    return NumberedRun(
        parsed.tag,
        tuple(parsed.lists),
        np.concatenate(([0], np.cumsum([ranked.docnos.size for ranked in lists]))),
        np.concatenate([numbers.numbers_of(words_of_docnos(ranked.docnos)) for ranked in lists]),
        np.concatenate([ranked.scores for ranked in lists]),
        Origin(
            np.concatenate([origin.lines for origin in origins]), np.concatenate([origin.ranks for origin in origins])
        ),
    )
