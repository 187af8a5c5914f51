"""Matches ranked lists that are in memory already."""

from collections.abc import Iterator, Mapping

import numpy as np

from annotator.evaluation.formats.docno_hashes import hashes_of, words_of_docnos
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.matching.parts import MatchedPart, MatchedRows, joined_run
from annotator.evaluation.runs.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.runs.rankings import trec_order
from annotator.evaluation.runs.run_scores import in_single_precision

BATCH_ROWS = 1 << 14  # of the lists matched at once: their arrays stay in the processor's cache


def match_lists(index: QrelsIndex, tag: str, lists: Mapping[str, ParsedList]) -> MatchedRun:
    """Match lists that stand in trec_eval's order already and have no document twice."""
    lengths = {topic.encode(): ranked.docnos.size for topic, ranked in lists.items()}
    rows = [_matched_batch(index, batch) for batch in _batches(lists)]
    run = joined_run(index, [MatchedPart(tag.encode(), lengths, rows)])
    assert run is not None  # noqa: S101 - one part cannot contradict itself
    return run


def match_parsed(index: QrelsIndex, run: ParsedRun, *, single_precision: bool) -> MatchedRun:
    """Match a run as it was read, with `single_precision` in the order that trec_eval 9 would have it in."""
    lists = lists_in_single_precision(run) if single_precision else run.lists
    return match_lists(index, run.tag, lists)


def lists_in_single_precision(run: ParsedRun) -> dict[str, ParsedList]:
    """A run's lists by topic, in the order that trec_eval 9 would have them in."""
    return {topic: _in_single(ranked) for topic, ranked in run.lists.items()}


def _in_single(ranked: ParsedList) -> ParsedList:
    """Order anew by scores of single precision, in which more of them are equal."""
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
