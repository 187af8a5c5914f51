"""Where a text answers a query: the words in it marked, and of a long text the part that has most of them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotator.evaluation.search.search_text import ASCII_RUN, IS_DENSE, RUN, Phrase, fold, join_lines

SNIPPET = 260
BEFORE = 50  # characters of context before the first marked word
MOST_SEARCHED = 100_000
CHUNK = re.compile(r"\S+")
BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class SnippetPart:
    """A piece of a text; whether it is marked."""

    text: str
    marked: bool = False


class PlacedWord(NamedTuple):
    """An indexed word and its position in the text."""

    word: str
    start: int
    end: int


def placed_words(text: str) -> Iterator[PlacedWord]:
    """The words of a text whose lines are joined, as `words_of` gives them, with their places."""
    if text.isascii():
        for run in ASCII_RUN.finditer(text.lower()):
            yield PlacedWord(run[0], run.start(), run.end())
        return
    for chunk in CHUNK.finditer(text):
        folded = fold(chunk[0])
        origin = _origin(chunk[0], folded)
        for run in RUN.finditer(folded):
            for start, end in _spans(run):
                first, last = origin[start], origin[end - 1]
                yield PlacedWord(folded[start:end], chunk.start() + first[0], chunk.start() + last[1])


def mark(text: str, phrases: Sequence[Phrase]) -> tuple[SnippetPart, ...]:
    """A whole short text, such as a title, with what the phrases find marked."""
    text = join_lines(text)
    return _parts(text, 0, len(text), marked_spans(text, phrases))


def snippet(text: str, phrases: Sequence[Phrase]) -> tuple[SnippetPart, ...]:
    """The part of a text with most of what the phrases find, marked; without any, its beginning."""
    text = join_lines(text[:MOST_SEARCHED]).strip()
    spans = marked_spans(text, phrases)
    start = _fullest(spans)
    start = 0 if start <= BEFORE else _after_blank(text, start - BEFORE, start)
    end = len(text) if len(text) <= start + SNIPPET else _before_blank(text, start, start + SNIPPET)
    before = (SnippetPart("… "),) if start else ()
    behind = (SnippetPart(" …"),) if end < len(text) else ()
    return before + _parts(text, start, end, spans) + behind


def marked_spans(text: str, phrases: Sequence[Phrase]) -> list[tuple[int, int]]:
    """From where to where the phrases are found, in order, without overlap."""
    placed = list(placed_words(text))
    words = [one.word for one in placed]
    spans = sorted(
        (placed[at].start, placed[at + len(phrase.words) - 1].end)
        for phrase in set(phrases)
        for at in _found(words, phrase)
    )
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _found(words: list[str], phrase: Phrase) -> Iterator[int]:
    """Where the phrase begins among the words."""
    *before, last = phrase.words
    if phrase.opens:
        ends: Iterable[int] = (at for at, word in enumerate(words) if word.startswith(last))
    else:
        ends = _places(words, last)
    for end in ends:
        start = end - len(before)
        if start >= 0 and words[start:end] == before:
            yield start


def _places(words: list[str], wanted: str) -> Iterator[int]:
    """The indices of one word among the words."""
    at = -1
    # A text that does not have it at all is the most frequent case.
    for _ in range(words.count(wanted)):
        at = words.index(wanted, at + 1)
        yield at


def _origin(chunk: str, folded: str) -> list[tuple[int, int]]:
    """From where to where in the chunk each folded sign comes from; from all of it when that cannot be told."""
    if len(chunk) == len(folded):
        return [(at, at + 1) for at in range(len(chunk))]
    origin: list[tuple[int, int]] = []
    for at, sign in enumerate(chunk):
        signs = fold(sign)
        if not signs and origin:
            # An accent of its own, which goes with the letter before it.
            origin[-1] = (origin[-1][0], at + 1)
        origin += [(at, at + 1)] * len(signs)
    return origin if len(origin) == len(folded) else [(0, len(chunk))] * len(folded)


def _spans(run: re.Match[str]) -> list[tuple[int, int]]:
    start, end = run.span()
    return [(at, min(at + 2, end)) for at in range(start, end)] if IS_DENSE.match(run[0]) else [(start, end)]


def _fullest(spans: Sequence[tuple[int, int]]) -> int:
    """The position of the first marked word of the snippet with the most marked words."""
    starts = [start for start, _ in spans]
    fitting = [bisect_left(starts, start + SNIPPET - BEFORE) - at for at, start in enumerate(starts)]
    return starts[fitting.index(max(fitting))] if fitting else 0


def _after_blank(text: str, at: int, most: int) -> int:
    """The first beginning of a word from `at` on, or `at` when there is none before `most`."""
    blank = BLANKS.search(text, at, most)
    return blank.end() if blank else at


def _before_blank(text: str, least: int, at: int) -> int:
    """The last end of a word before `at`, or `at` in text without blanks."""
    blank = max(text.rfind(" ", least, at), text.rfind("\n", least, at))
    return blank if blank > (least + at) // 2 else at


def _parts(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> tuple[SnippetPart, ...]:
    parts: list[SnippetPart] = []
    at = start
    for first, last in spans:
        if last <= start or first >= end:
            continue
        parts += [
            SnippetPart(text[at : max(first, at)]),
            SnippetPart(text[max(first, start) : min(last, end)], marked=True),
        ]
        at = min(last, end)
    parts.append(SnippetPart(text[at:end]))
    return tuple(SnippetPart(BLANKS.sub(" ", part.text), part.marked) for part in parts if part.text)
