"""The texts most similar to one text, and the sentences in which two texts differ.

Similarity is that of `near_duplicates`: the Jaccard similarity of sets of three consecutive words. Only texts that
share some of a few passages with the one text are compared in full, so that a thousand texts take a fraction of a
second; a text with half of its shingles in common shares each passage with a probability of about two thirds.
"""

import re
from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import NamedTuple

from annotator.evaluation.search.near_duplicates import WORDS, tokens_of
from annotator.evaluation.search.search_text import plain_text

LEAST_SIMILARITY = 0.5
# Passages of one text that are looked for in others, those looked for first, and the length of each in characters.
PASSAGES = 16
FIRST_PASSAGES = 6
PASSAGE = 16
# Fewer characters carry as much in scripts without spaces, or with short words.
DENSE_PASSAGE = 7
# The number of passages that a similar text has at least.
SHARED = 2
# Sentences end at a blank line, or at a full stop before a blank; in Chinese and Japanese at any full stop.
SENTENCE_END = re.compile("\n\\s*\n|(?<=[.!?\u2026])[\"'\u201d\u2019)\\]]*\\s+|(?<=[\u3002\uff01\uff1f])")
# A longer sentence is cut.
LONGEST_SENTENCE = 400
SAME_SENTENCE = re.compile(r"\W+")


class SimilarText(NamedTuple):
    """The key of a text and its similarity to the given one."""

    key: int
    similarity: float


class Differences(NamedTuple):
    """The sentences that only one of two texts has, in order, and how many more there are."""

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    more_first: int
    more_second: int


def most_similar(
    text: str, others: Iterable[tuple[int, str]], at_least: float = LEAST_SIMILARITY, *, most: int = 5
) -> list[SimilarText]:
    """The texts with at least that similarity (0.5 or more), most similar first; of equals the earlier one."""
    own = _shingles(text)
    passages = _passages(_flat(text))
    if not own or not passages:
        return []
    found = []
    for place, (key, other) in enumerate(others):
        if not _shares(passages, _flat(other)):
            continue
        shingles = _shingles(other)
        common = len(own & shingles)
        similarity = common / (len(own) + len(shingles) - common)
        if similarity >= at_least:
            found.append((similarity, -place, key))
    return [SimilarText(key, similarity) for similarity, _, key in nlargest(most, found)]


def differences(first: str, second: str, *, most: int = 8) -> Differences:
    """The sentences that one text has and the other has not, up to `most` of each.

    Case, punctuation and blanks do not distinguish sentences; a sentence that occurs twice in one text and once in the
    other is a difference.
    """
    sentences = _sentences(first), _sentences(second)
    keys = [Counter(key for key, _ in each) for each in sentences]
    only = [_left(sentences[0], keys[0] - keys[1]), _left(sentences[1], keys[1] - keys[0])]
    return Differences(
        tuple(only[0][:most]), tuple(only[1][:most]), max(len(only[0]) - most, 0), max(len(only[1]) - most, 0)
    )


def _left(sentences: list[tuple[str, str]], wanted: Counter[str]) -> list[str]:
    """The sentences whose keys are wanted, the last ones of those that occur more often."""
    left: list[str] = []
    for key, sentence in reversed(sentences):
        if wanted[key] > 0:
            wanted[key] -= 1
            left.append(sentence if len(sentence) <= LONGEST_SENTENCE else f"{sentence[:LONGEST_SENTENCE]} …")
    return left[::-1]


def _sentences(text: str) -> list[tuple[str, str]]:
    """The sentences of a text, each with what distinguishes it."""
    several = (" ".join(sentence.split()) for sentence in SENTENCE_END.split(plain_text(text)) if sentence)
    keyed = ((SAME_SENTENCE.sub(" ", sentence).strip().casefold(), sentence) for sentence in several)
    return [(key, sentence) for key, sentence in keyed if key]


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    tokens = tokens_of(plain_text(text))
    if not tokens:
        return frozenset()
    tokens += [""] * (WORDS - len(tokens))
    return frozenset(zip(*(tokens[place:] for place in range(WORDS)), strict=False))


def _flat(text: str) -> str:
    """A text without regard to case and white space."""
    return " ".join(text.lower().split())


def _passages(flat: str) -> list[str]:
    """Passages spread over a text, each beginning with a word where the text has blanks."""
    is_dense = flat.count(" ") * PASSAGE < len(flat)
    length = PASSAGE if not is_dense and flat.isascii() else DENSE_PASSAGE
    count = min(PASSAGES, max(len(flat) // (2 * length), 1))
    step = len(flat) // count
    begins = [0 if place == 0 else flat.find(" ", place * step, place * step + step) + 1 for place in range(count)]
    at = [begin or place * step for place, begin in enumerate(begins)]
    # In another order than in the text: its beginning is often that of a template.
    spread = [flat[begin : begin + length] for begin in at[1::2] + at[::2]]
    return [passage for passage in spread if len(passage) == length] or [flat]


def _shares(passages: list[str], flat: str) -> bool:
    """Whether a text has enough of the passages; most texts are done after the first few."""
    first = sum(passage in flat for passage in passages[:FIRST_PASSAGES])
    if not first:
        return False
    return first + sum(passage in flat for passage in passages[FIRST_PASSAGES:]) >= min(SHARED, len(passages))
