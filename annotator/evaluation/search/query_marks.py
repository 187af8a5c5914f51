"""Which words of a topic's title are marked in its documents: stems, CJK text, no words that are everywhere."""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

# A shorter stem would mark half of the text.
SHORTEST_STEM = 4
HAN_AND_KANA = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
WORD = re.compile(rf"[{HAN_AND_KANA}]+|[{HANGUL}]+|[^\W_{HAN_AND_KANA}{HANGUL}]+(?:['\u2019][^\W\d_]+)?")
IS_HAN = re.compile(f"[{HAN_AND_KANA}]")
IS_HANGUL = re.compile(f"[{HANGUL}]")
# Kana alone between Han signs is grammar: の, を, は, という.
HIRAGANA = re.compile("[\u3041-\u309f]+")

# The longest first. What follows a Korean noun: topic, subject, object, place, direction, “and”, “of”, “only”, “from”.
PARTICLES = (
    *("에서는", "으로서", "으로써", "이라는", "에게서", "까지의", "에서의", "으로의", "에서", "에게", "으로", "까지"),
    *("부터", "처럼", "보다", "이나", "이란", "라는", "들의", "들은", "들이", "들을", "로서", "로써", "에는", "와의"),
    *("과의", "은", "는", "이", "가", "을", "를", "의", "에", "와", "과", "도", "로", "만", "들"),
)
# What is cut off an English word so that its other forms are marked, too; other languages lose little by it.
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
    """Where in a text a mark is looked for."""

    PREFIX = "prefix"
    WHOLE = "whole"
    SUBSTRING = "substring"


class Mark(NamedTuple):
    """A word to be marked, in small letters: the beginning of words, a whole word, or any part of a text."""

    text: str
    kind: MarkKind


def marks_in(title: str) -> list[Mark]:
    """The words to mark in the documents of a topic, in the order of its title, each once."""
    marks: dict[Mark, None] = {}
    for word in WORD.findall(unicodedata.normalize("NFC", title)):
        # US, IT and WHO are names where other words are in small letters.
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
        # “cats” is no beginning of “cat”; a whole word is marked with its plural.
        yield Mark(small.removesuffix("s"), MarkKind.WHOLE)
        return
    stem = _stem(small)
    if small.isdigit() or len(stem) < SHORTEST_STEM:
        if len(small) > 1 or not small.isascii():
            yield Mark(small, MarkKind.WHOLE)
    else:
        yield Mark(stem, MarkKind.PREFIX)


def _without_particle(word: str) -> str:
    """A Korean noun without what follows it; one syllable alone is left as it is."""
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:  # noqa: PLR2004 - most nouns have two syllables
            return word.removesuffix(particle)
    return word


def _stem(word: str) -> str:
    """A word without its ending, if enough of it stays."""
    stem = ENDING.sub("", word)
    return stem if len(stem) >= SHORTEST_STEM else word
