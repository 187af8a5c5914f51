"""Highlights the words of a query or topic title in a text, and selects snippets of long texts."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from annotator.evaluation.search.search_text import ASCII_RUN, IS_DENSE, RUN, Phrase, fold, join_lines

SNIPPET = 260
BEFORE = 50  # characters of context before the first marked word
MOST_SEARCHED = 100_000
CHUNK = re.compile(r"\S+")
BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class SnippetPart:
    """A piece of a text, and whether it is highlighted."""

    text: str
    marked: bool = False


class PlacedWord(NamedTuple):
    """An indexed word and its position in the text."""

    word: str
    start: int
    end: int


def placed_words(text: str) -> Iterator[PlacedWord]:
    """Yield the words of a text whose lines are joined, as in `words_of`, with their positions."""
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
    """Return a whole short text, such as a title, with the matches of the phrases marked."""
    text = join_lines(text)
    return _parts(text, 0, len(text), marked_spans(text, phrases))


def snippet(text: str, phrases: Sequence[Phrase]) -> tuple[SnippetPart, ...]:
    """Return the part of a text with the most matches, marked; its beginning when there are none."""
    text = join_lines(text[:MOST_SEARCHED]).strip()
    spans = marked_spans(text, phrases)
    start = _fullest(spans)
    start = 0 if start <= BEFORE else _after_blank(text, start - BEFORE, start)
    end = len(text) if len(text) <= start + SNIPPET else _before_blank(text, start, start + SNIPPET)
    before = (SnippetPart("… "),) if start else ()
    behind = (SnippetPart(" …"),) if end < len(text) else ()
    return before + _parts(text, start, end, spans) + behind


def marked_spans(text: str, phrases: Sequence[Phrase]) -> list[tuple[int, int]]:
    """Return the (start, end) spans of the phrases' matches, in order, without overlap."""
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
    """Yield the indices at which the phrase begins in the words."""
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
    """Yield the indices of one word."""
    at = -1
    # Most texts do not contain the word at all.
    for _ in range(words.count(wanted)):
        at = words.index(wanted, at + 1)
        yield at


def _origin(chunk: str, folded: str) -> list[tuple[int, int]]:
    """Return the span in the chunk of each folded character; the whole chunk when it is unknown."""
    if len(chunk) == len(folded):
        return [(at, at + 1) for at in range(len(chunk))]
    origin: list[tuple[int, int]] = []
    for at, sign in enumerate(chunk):
        signs = fold(sign)
        if not signs and origin:
            # A combining accent belongs to the letter before it.
            origin[-1] = (origin[-1][0], at + 1)
        origin += [(at, at + 1)] * len(signs)
    return origin if len(origin) == len(folded) else [(0, len(chunk))] * len(folded)


def _spans(run: re.Match[str]) -> list[tuple[int, int]]:
    start, end = run.span()
    return [(at, min(at + 2, end)) for at in range(start, end)] if IS_DENSE.match(run[0]) else [(start, end)]


def _fullest(spans: Sequence[tuple[int, int]]) -> int:
    """Return the position of the first marked word of the snippet with the most marked words."""
    starts = [start for start, _ in spans]
    fitting = [bisect_left(starts, start + SNIPPET - BEFORE) - at for at, start in enumerate(starts)]
    return starts[fitting.index(max(fitting))] if fitting else 0


def _after_blank(text: str, at: int, most: int) -> int:
    """Return the first beginning of a word from `at` on, or `at` when there is none before `most`."""
    blank = BLANKS.search(text, at, most)
    return blank.end() if blank else at


def _before_blank(text: str, least: int, at: int) -> int:
    """Return the last end of a word before `at`, or `at` in text without blanks."""
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


# A shorter stem would mark half of the text.
SHORTEST_STEM = 4
HAN_AND_KANA = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
WORD = re.compile(rf"[{HAN_AND_KANA}]+|[{HANGUL}]+|[^\W_{HAN_AND_KANA}{HANGUL}]+(?:['\u2019][^\W\d_]+)?")
IS_HAN = re.compile(f"[{HAN_AND_KANA}]")
IS_HANGUL = re.compile(f"[{HANGUL}]")
# Kana alone between Han characters are function words: の, を, は, という.
HIRAGANA = re.compile("[\u3041-\u309f]+")

# Korean particles, longest first: topic, subject, object, place, direction, “and”, “of”, “only”, “from”.
PARTICLES = (
    *("에서는", "으로서", "으로써", "이라는", "에게서", "까지의", "에서의", "으로의", "에서", "에게", "으로", "까지"),
    *("부터", "처럼", "보다", "이나", "이란", "라는", "들의", "들은", "들이", "들을", "로서", "로써", "에는", "와의"),
    *("과의", "은", "는", "이", "가", "을", "를", "의", "에", "와", "과", "도", "로", "만", "들"),
)
# English suffixes removed so that inflected forms match; other languages lose little.
ENDING = re.compile(
    r"ical(?:ly)?$|(?<=[ts])ions?$|ings?$|ed(?:ly)?$|(?<=[sxz])es$|(?<=[cs]h)es$|ies$|y$|(?<=[^s])s$|e$"
)
SHORT_PLURAL = re.compile(r"(?!news|lens)[^\W\d_]{2}[^\W\d_sui]s")
EVERYWHERE = frozenset(  # words of English, German, French, Spanish and Korean
    """
    a about after all also an and any are as at be been being between both but by can could did do does for from
    had has have he her his how i if in into is it its me more most my no not of off on one only or other our out over
    she should so some such than that the their them then there these they this those to under up us very was we were
    what when where which while who whom whose why will with within without would you your
    documents document relevant find information
    der die das den dem des ein eine einer eines einem einen und oder mit von zu zum zur im in auf für ist sind
    le la les un une des du de et ou en dans pour par sur est sont au aux que qui
    el los las una unos unas y o del al con por para en es son
    무엇 어떤 어떻게 그리고 및 또는 대한 위한 관한 있는 하는 어느 누가 언제 왜
    """.split()  # noqa: SIM905 - as a list it would take two screens
)


class MarkKind(StrEnum):
    """How a mark matches within a text."""

    PREFIX = "prefix"
    WHOLE = "whole"
    SUBSTRING = "substring"


class Mark(NamedTuple):
    """A word to be marked, in lower case: a prefix, a whole word, or any substring."""

    text: str
    kind: MarkKind


def marks_in(title: str) -> list[Mark]:
    """Return the distinct words to mark in a topic's documents, in the order of its title."""
    marks: dict[Mark, None] = {}
    for word in WORD.findall(unicodedata.normalize("NFC", title)):
        # US, IT and WHO are names when other words are in lower case.
        is_name = len(word) > 1 and word.isupper() and not title.isupper()
        for mark in _marks_of(word, is_name=is_name):
            marks.setdefault(mark)
    return list(marks)


def _marks_of(word: str, *, is_name: bool) -> Iterator[Mark]:
    if IS_HAN.match(word):
        yield from (Mark(part, MarkKind.SUBSTRING) for part in HIRAGANA.split(word) if part)
        return
    small = re.split("['\u2019]", word.lower(), maxsplit=1)[0]
    if small in EVERYWHERE and not is_name:
        return
    if IS_HANGUL.match(word):
        noun = _without_particle(small)
        if noun not in EVERYWHERE:
            yield Mark(noun, MarkKind.SUBSTRING)
        return
    if SHORT_PLURAL.fullmatch(small):
        # “cats” is not a prefix of “cat”; a whole word also matches its plural.
        yield Mark(small.removesuffix("s"), MarkKind.WHOLE)
        return
    stem = _stem(small)
    if small.isdigit() or len(stem) < SHORTEST_STEM:
        if len(small) > 1 or not small.isascii():
            yield Mark(small, MarkKind.WHOLE)
    else:
        yield Mark(stem, MarkKind.PREFIX)


def _without_particle(word: str) -> str:
    """Return a Korean noun without its particle; a single syllable is unchanged."""
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:  # noqa: PLR2004 - most nouns have two syllables
            return word.removesuffix(particle)
    return word


def _stem(word: str) -> str:
    """Return a word without its suffix, if the stem is long enough."""
    stem = ENDING.sub("", word)
    return stem if len(stem) >= SHORTEST_STEM else word
