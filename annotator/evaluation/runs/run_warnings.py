"""Warnings about a run: unusual but valid content, shown to its sender; the run is accepted unchanged."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.runs.docno_numbers import DocnoNumbers
from annotator.evaluation.runs.parsed_runs import NumberedRun
from annotator.evaluation.runs.run_scores import NO_NUMBER

FIRST = 5  # maximum number of lines or topics named in a warning
MOST_TAG_CHARACTERS = 20  # TREC's limit
TAG_CHARACTERS = re.compile(r"[A-Za-z0-9_.-]*")
RANK_BITS = 32
LEFT_OUT = "Topics that the run leaves out: %(count)d of %(total)d (%(topics)s)."

Flags = NDArray[np.bool_]
Positions = NDArray[np.intp]


def warnings_of(run: NumberedRun, *, topics: Collection[str], most_documents: int) -> list[Sentence]:
    """Return warnings about a run of a collection with these topics, other than about its documents."""
    list_of = np.repeat(np.arange(len(run.topics)), np.diff(run.begins))
    return [
        *_of_tag(run.tag),
        *_of_topics_left_out(run.topics, topics),
        *_of_ranks(run, list_of),
        *_of_ties(run, list_of),
        *_of_lengths(run, most_documents),
    ]


def warnings_of_corpus(run: NumberedRun, has_text: Flags) -> list[Sentence]:
    """Warn about documents that a loaded corpus does not have; `has_text` is indexed by document number."""
    strange = ~has_text[run.documents]
    if not strange.any():
        return []
    return [
        Sentence(
            "Documents that are not in the corpus: %(count)d; lines with them: %(lines)d; first lines: %(first)s.",
            {
                "count": np.unique(run.documents[strange]).size,
                "lines": int(np.count_nonzero(strange)),
                "first": _first_lines(run, strange),
            },
        )
    ]


def warnings_of_list(run: NumberedRun, is_listed: Flags, documents: DocnoNumbers) -> list[Sentence]:
    """Warn about documents that the list of valid docnos does not have; `is_listed` is indexed by document number."""
    strange = np.flatnonzero(~is_listed[run.documents])
    if not strange.size:
        return []
    in_order = strange[np.argsort(run.origin.lines[strange])]
    unknown, places = np.unique(run.documents[in_order], return_index=True)
    firsts = unknown[np.argsort(places)][:FIRST]
    lists = np.searchsorted(run.begins, strange, side="right") - 1
    counts = {run.topics[one]: count for one, count in enumerate(np.bincount(lists).tolist()) if count}
    return [
        Sentence(
            "Docnos that are not in the list of valid docnos: %(count)d (%(docnos)s); lines with them: %(lines)d; "
            "first lines: %(first)s; topics with them: %(topics)d; lines by topic: %(by_topic)s.",
            {
                "count": unknown.size,
                "docnos": _enumeration(documents.docnos_of(firsts), more=unknown.size > FIRST),
                "lines": strange.size,
                "first": _first_lines(run, ~is_listed[run.documents]),
                "topics": len(counts),
                "by_topic": _enumeration([f"{topic}: {counts[topic]}" for topic in sorted(counts, key=natural_order)]),
            },
        )
    ]


def as_stored(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    """Serialise warnings to JSON, with template and values separate."""
    return [{"template": sentence.template, "values": dict(sentence.values)} for sentence in sentences]


def from_stored(stored: Sequence[Mapping[str, Any]]) -> tuple[Sentence, ...]:
    """Restore the sentences from `as_stored`."""
    return tuple(Sentence(**one) for one in stored)


def with_topics_counted(
    sentences: Sequence[Sentence], listed: Collection[str], topics: Collection[str]
) -> tuple[Sentence, ...]:
    """The warnings about a run with lists for some topics, with the one on topics left out counted from these."""
    kept = [sentence for sentence in sentences if sentence.template != LEFT_OUT]
    before = next((place for place, one in enumerate(sentences) if one.template == LEFT_OUT), 0)
    return (*kept[:before], *_of_topics_left_out(listed, topics), *kept[before:])


def _of_tag(tag: str) -> list[Sentence]:
    told = []
    if len(tag) > MOST_TAG_CHARACTERS:
        told.append(
            Sentence(
                "The tag %(tag)s is %(count)d characters long; TREC takes at most %(most)d.",
                {"tag": tag, "count": len(tag), "most": MOST_TAG_CHARACTERS},
            )
        )
    if not TAG_CHARACTERS.fullmatch(tag):
        told.append(
            Sentence(
                "The tag %(tag)s has signs other than the letters A to Z, digits, “_”, “-” and “.”, which some tools "
                "do not take.",
                {"tag": tag},
            )
        )
    return told


def _of_topics_left_out(listed: Collection[str], topics: Collection[str]) -> list[Sentence]:
    left_out = sorted(set(topics).difference(listed), key=natural_order)
    if not left_out:
        return []
    return [
        Sentence(
            LEFT_OUT,
            {"count": len(left_out), "total": len(topics), "topics": _enumeration(left_out)},
        )
    ]


def _of_ranks(run: NumberedRun, list_of: Positions) -> list[Sentence]:
    no_rank = run.origin.ranks == NO_NUMBER
    told = []
    if no_rank.any():
        told.append(
            Sentence(
                "Lines whose rank is no whole number: %(count)d; first lines: %(first)s. Ranks are not read: the order "
                "is that of the scores.",
                {"count": int(np.count_nonzero(no_rank)), "first": _first_lines(run, no_rank)},
            )
        )
    # Offset ranks by list, so that all lists are checked together.
    keys = (list_of << RANK_BITS) + run.origin.ranks
    if np.all(keys[1:] >= keys[:-1]):
        return told
    firsts = _firsts_of_equals(run)
    worst_before = np.maximum.accumulate(keys)[firsts - 1]
    worst_before[0] = NO_NUMBER
    strange = keys < np.repeat(worst_before, np.diff(firsts, append=keys.size))
    strange &= ~_in_lists_of(no_rank, list_of)
    backwards = _in_lists_of(strange, list_of) & ~_in_lists_of(_follows_rank(keys, firsts, list_of), list_of)
    return [*told, *_of_contradictions(run, list_of, strange & ~backwards), *_of_backwards(run, list_of, backwards)]


def _of_contradictions(run: NumberedRun, list_of: Positions, strange: Flags) -> list[Sentence]:
    if not strange.any():
        return []
    return [
        Sentence(
            "Topics in which the rank column contradicts the scores: %(topics)d; lines whose score puts them behind "
            "a worse rank: %(count)d; first lines: %(first)s. Ranks are not read: the order is that of the scores.",
            _counts(run, list_of, strange),
        )
    ]


def _of_backwards(run: NumberedRun, list_of: Positions, strange: Flags) -> list[Sentence]:
    if not strange.any():
        return []
    return [
        Sentence(
            "Topics in which the scores rise from the best rank to the worst: %(topics)d; lines: %(count)d; first "
            "lines: %(first)s. Ranks are not read and the highest score counts as the best: make sure that the scores "
            "are no distances.",
            _counts(run, list_of, strange),
        )
    ]


def _of_ties(run: NumberedRun, list_of: Positions) -> list[Sentence]:
    equals_next = (run.scores[1:] == run.scores[:-1]) & (list_of[1:] == list_of[:-1])
    if not equals_next.any():
        return []
    tied = np.append(equals_next, False) | np.append(False, equals_next)
    return [
        Sentence(
            "Documents that share their score with another of their topic: %(count)d; topics: %(topics)d; first "
            "lines: %(first)s. Among them the greater document id comes first, as in trec_eval, whatever their ranks.",
            _counts(run, list_of, tied),
        )
    ]


def _of_lengths(run: NumberedRun, most: int) -> list[Sentence]:
    lengths = np.diff(run.begins)
    long = np.flatnonzero(lengths > most)
    if not long.size:
        return []
    # In the order of the file, which may differ from that of the scores.
    first = sorted(
        int(np.partition(run.origin.lines[run.begins[one] : run.begins[one + 1]], most)[most]) for one in long[:FIRST]
    )
    return [
        Sentence(
            "Topics with more than %(most)d documents: %(topics)d; the longest list has %(greatest)d; first lines "
            "past that: %(first)s.",
            {
                "topics": long.size,
                "most": most,
                "greatest": int(lengths.max()),
                "first": _enumeration(list(map(str, first)), more=long.size > FIRST),
            },
        )
    ]


def _firsts_of_equals(run: NumberedRun) -> Positions:
    """Return the indices where another score begins, or another list."""
    begins = np.ones(run.scores.size, np.bool_)
    begins[1:] = run.scores[1:] != run.scores[:-1]
    begins[run.begins[:-1]] = True
    firsts: Positions = np.flatnonzero(begins)
    return firsts


def _follows_rank(keys: Positions, firsts: Positions, list_of: Positions) -> Flags:
    """Return where a document has a worse rank than some of the next higher score in its list, as it should."""
    best, worst = np.minimum.reduceat(keys, firsts), np.maximum.reduceat(keys, firsts)
    follows = np.zeros(keys.size, np.bool_)
    follows[firsts[1:]] = (list_of[firsts[1:]] == list_of[firsts[1:] - 1]) & (worst[1:] >= best[:-1])
    return follows


def _in_lists_of(rows: Flags, list_of: Positions) -> Flags:
    """Return for each row whether its list has any of these rows."""
    is_marked = np.zeros(int(list_of[-1]) + 1, np.bool_)
    is_marked[list_of[rows]] = True
    marked: Flags = is_marked[list_of]
    return marked


def _counts(run: NumberedRun, list_of: Positions, strange: Flags) -> dict[str, object]:
    return {
        "count": int(np.count_nonzero(strange)),
        "topics": int(np.count_nonzero(np.bincount(list_of[strange]))),
        "first": _first_lines(run, strange),
    }


def _first_lines(run: NumberedRun, strange: Flags) -> str:
    """The first of the lines, each once: a JSON file may have all of its documents on one."""
    lines = run.origin.lines[strange]
    first = np.unique(np.partition(lines, FIRST)[:FIRST] if lines.size > FIRST else lines)
    return _enumeration(list(map(str, first.tolist())), more=bool((lines > first[-1]).any()))


def _enumeration(words: Sequence[str], *, more: bool = False) -> str:
    """Join the first of them, with dots when there are more."""
    return ", ".join([*words[:FIRST], *(["…"] if more or len(words) > FIRST else [])])
