"""Near-duplicate texts: every pair whose sets of shingles have at least a given Jaccard similarity.

A shingle is three consecutive words, or three characters in Korean and scripts without spaces (Broder, "On the
resemblance and containment of documents", 1997). Nothing is sampled. Pairs are found by prefix filtering (Bayardo, Ma
and Srikant, "Scaling up all pairs similarity search", 2007): two sets that are similar enough share one of their few
rarest shingles, so few pairs need a full comparison.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

USUAL_SIMILARITY = 0.8
WORDS = 3
# Kana, Chinese characters, Hangul.
BY_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
TOKEN = re.compile(rf"[{BY_CHARACTER}]|[^\W{BY_CHARACTER}]+")
# Padding of a text of fewer words.
NO_WORD = 0
# Odd numbers of 64 bits (from splitmix64), which spread neighbouring numbers over all 64.
MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
ROUNDING = 1e-9

Indices = NDArray[np.int64]


class NearDuplicates(NamedTuple):
    """The keys of two texts, in input order, and the Jaccard similarity of their shingles."""

    first: int
    second: int
    similarity: float


class SimilarTexts(NamedTuple):
    """The pairs, most similar first, and whether the search was complete."""

    pairs: list[NearDuplicates]
    is_all: bool


class _Sets(NamedTuple):
    """The sets of shingles of several texts, end to end.

    A shingle is represented by its rank in order of ascending frequency; each set is sorted by it.
    """

    shingles: Indices
    begins: Indices  # of each set, and the end of the last
    different: int

    def of(self, index: int) -> Indices:
        return self.shingles[self.begins[index] : self.begins[index + 1]]


def near_duplicates(
    texts: Mapping[int, str], at_least: float = USUAL_SIMILARITY, *, most_compared: int | None = None
) -> SimilarTexts:
    """Find the pairs of texts with at least that similarity (more than 0, up to 1).

    Case, punctuation and spaces are ignored, and a text without words is similar to none. Texts with identical
    shingles are each paired with the first of them, and only that one with others: a thousand copies are 999 pairs.

    A thousand texts from one template are half a million pairs, however: the search ends early after `most_compared`
    candidate pairs have been compared. A comparison takes at least 5 µs.
    """
    keys = list(texts)
    sets = _sets_of([tokens_of(text) for text in texts.values()])
    first_of: dict[bytes, int] = {}
    pairs = []
    several = []
    for index, key in enumerate(keys):
        own = sets.of(index)
        first = first_of.setdefault(own.tobytes(), index)
        if first == index and own.size:
            several.append(index)
        elif own.size:
            pairs.append(NearDuplicates(keys[first], key, 1.0))
    similar, is_all = _similar(sets, several, at_least, sys.maxsize if most_compared is None else most_compared)
    pairs += [NearDuplicates(keys[one], keys[other], similarity) for one, other, similarity in similar]
    places = {key: place for place, key in enumerate(keys)}
    pairs.sort(key=lambda pair: (-pair.similarity, places[pair.first], places[pair.second]))
    return SimilarTexts(pairs, is_all)


def tokens_of(text: str) -> list[str]:
    """Return the words of a text, or its characters in scripts without spaces, without regard to case and width."""
    return TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _sets_of(texts: list[list[str]]) -> _Sets:
    numbers: dict[str, int] = {}
    lengths = np.array([max(len(tokens), WORDS) if tokens else 0 for tokens in texts], np.int64)
    words = np.full(int(lengths.sum()), NO_WORD, np.uint64)
    ends = np.cumsum(lengths)
    for tokens, begin in zip(texts, (ends - lengths).tolist(), strict=True):
        words[begin : begin + len(tokens)] = [numbers.setdefault(token, len(numbers) + 1) for token in tokens]
    whose = np.repeat(np.arange(lengths.size), lengths)
    hashes = np.zeros(max(words.size - WORDS + 1, 0), np.uint64)
    for place in range(WORDS):
        hashes = (hashes ^ words[place : place + hashes.size]) * MULTIPLIERS[0]
        hashes = (hashes ^ (hashes >> np.uint64(31))) * MULTIPLIERS[1]
    within = whose[: hashes.size] == whose[WORDS - 1 :]
    return _ranked(hashes[within], whose[: hashes.size][within], lengths.size)


def _ranked(hashes: NDArray[np.uint64], whose: Indices, count: int) -> _Sets:
    """Build the sets from all shingles, with repetitions, and the text of each."""
    different, shingles = np.unique(hashes, return_inverse=True)
    together = np.unique(whose * max(different.size, 1) + shingles)
    whose, shingles = np.divmod(together, max(different.size, 1))
    rarest_first = np.argsort(np.bincount(shingles, minlength=different.size), kind="stable")
    ranks = np.empty_like(rarest_first)
    ranks[rarest_first] = np.arange(rarest_first.size)
    shingles = ranks[shingles]
    shingles = shingles[np.lexsort((shingles, whose))]
    return _Sets(shingles, np.searchsorted(whose, np.arange(count + 1)), different.size)


def _similar(
    sets: _Sets, several: list[int], at_least: float, most_compared: int
) -> tuple[list[tuple[int, int, float]], bool]:
    """Return the similar pairs among distinct sets, as (lesser index, greater index, similarity).

    Also returns whether these are all, which is False when `most_compared` was exceeded.
    """
    sizes = np.diff(sets.begins)
    is_in = np.zeros(sets.different, np.bool_)
    found: list[tuple[int, int, float]] = []
    for index, candidates in _candidates(sets, several, at_least):
        others = candidates[:most_compared]
        own = sets.of(index)
        is_in[own] = True
        common = np.array([np.count_nonzero(is_in[sets.of(other)]) for other in others.tolist()], np.int64)
        is_in[own] = False
        similarity = common / (sizes[others] + own.size - common)
        enough = np.flatnonzero(similarity >= at_least - ROUNDING).tolist()
        found += [(int(others[at]), index, float(similarity[at])) for at in enough]
        if others.size < candidates.size:
            return found, False
        most_compared -= others.size
    return found, True


def _candidates(sets: _Sets, several: list[int], at_least: float) -> Iterator[tuple[int, Indices]]:
    """Yield each set with the earlier sets that may be similar enough, if any."""
    sizes = np.diff(sets.begins)
    seen: dict[int, list[int]] = {}
    shared = _shared(sets)
    for index in several:
        own = sets.of(index)
        prefix = own[: own.size - int(np.ceil(at_least * own.size - ROUNDING)) + 1]
        earlier = set[int]()
        for shingle in prefix[shared[prefix]].tolist():
            having = seen.setdefault(shingle, [])
            earlier.update(having)
            having.append(index)
        others = np.array(sorted(earlier), np.int64)
        long_enough = np.minimum(sizes[others], own.size) >= at_least * np.maximum(sizes[others], own.size) - ROUNDING
        if long_enough.any():
            yield index, others[long_enough]


def _shared(sets: _Sets) -> NDArray[np.bool_]:
    """Whether more than one set has the shingle."""
    shared: NDArray[np.bool_] = np.bincount(sets.shingles, minlength=sets.different) > 1
    return shared
