"""Makes runs and qrels of the size of real ones, the same whenever they are made: TREC-8's and MS MARCO's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DEPTH = 1000
TREC8_TOPICS = range(401, 451)
TREC8_RUNS = 129
POOLED_RUNS = 71
JUDGED, RELEVANT, HIGHLY_RELEVANT = 86_830, 4_728, 1_560
CORPUS = 528_155
NEWSPAPERS = ("FT",) * 8 + ("FR",) * 2 + ("FBIS",) * 5 + ("LA",) * 5  # by their share of the documents
CANDIDATES = 4000  # documents of a topic that any run may find
# Below its top, every other document of a run is one that hardly any other run has. Without such documents far more
# than a third of a ranking would be judged.
STRAYS, TOP, STRAYING = 8000, 100, 0.5
MARCO_TOPICS, MARCO_JUDGED = 6_980, 7_479
MARCO_CORPUS = 8_841_823
FOUND = 0.85  # share of MS MARCO's relevant documents that the run retrieves

Numbers = NDArray[np.intp]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Style:
    """How a system writes its scores."""

    template: str
    change: Callable[[Scores], Scores]  # the scores stay descending, but may become equal

    def write(self, scores: Scores) -> list[str]:
        """Write descending scores."""
        return [self.template % score for score in self.change(scores).tolist()]


STYLES = (
    Style("%.6f", lambda scores: scores),
    Style("%.2f", lambda scores: scores),  # some ties
    Style("%.0f", lambda scores: scores),  # hardly anything else
    Style("%.17g", lambda scores: scores - 100),  # as logarithms of probabilities
    Style("%.7e", lambda scores: np.exp(scores - 50)),
    # Groups whose members are 1e-10 apart: a 32-bit float of that size sees 2e-6.
    Style("%.12f", lambda scores: np.round(scores, 2) + np.arange(scores.size, 0, -1) * 1e-10),
)


@dataclass(frozen=True)
class Collection:
    """Qrels and runs as files."""

    qrels: Path
    runs: tuple[Path, ...]


@dataclass(frozen=True)
class Search:
    """What all systems found for one topic."""

    documents: Numbers  # shape: candidates and then strays
    quality: Scores  # shape: candidates; how relevant each is
    order: Numbers  # shape: runs, depth; places among the documents, best first
    scores: Scores  # shape: runs, depth; descending


def trec8(folder: Path, runs: int = TREC8_RUNS) -> Collection:
    """Make 50 topics, their qrels, and the first so many of 129 runs with 1,000 documents a topic.

    86,830 documents are judged, pooled from the top of 71 runs; 3,168 have grade 1 and 1,560 grade 2. The scores are
    of six styles, run after run: six decimals, two (with ties), whole numbers (ties), negative with 17 digits, with
    exponents, and different doubles that are equal as 32-bit floats. Existing files are reused.
    """
    made = Collection(folder / "qrels.txt", tuple(folder / f"input.run{run:03}" for run in range(runs)))
    if all(path.exists() for path in (made.qrels, *made.runs)):
        return made
    folder.mkdir(parents=True, exist_ok=True)
    searches = [_search(topic) for topic in TREC8_TOPICS]
    names = [[_docno(number) for number in search.documents.tolist()] for search in searches]
    _write(made.qrels, _pooled_qrels(searches, names))
    for run, path in enumerate(made.runs):
        lists = (
            [f"{topic} Q0 {docnos[at]}" for at in search.order[run].tolist()]
            for topic, docnos, search in zip(TREC8_TOPICS, names, searches, strict=True)
        )
        scores = (STYLES[run % len(STYLES)].write(search.scores[run]) for search in searches)
        _write(path, _run_lines(lists, scores, path.suffix.removeprefix(".")))
    return made


def trec8_documents() -> dict[str, int]:
    """Number all documents of TREC-8's corpus, as when they are imported newspaper by newspaper."""
    return {docno: number for number, docno in enumerate(sorted(map(_docno, range(CORPUS))))}


def marco(folder: Path, topics: int = MARCO_TOPICS) -> Collection:
    """Make one run of 1,000 documents for each topic, and qrels with 7,479 judgements for 6,980 topics or as dense."""
    made = Collection(folder / "qrels.txt", (folder / "input.marco",))
    if made.qrels.exists() and made.runs[0].exists():
        return made
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(topics)
    numbers = np.sort(chance.choice(1_100_000, topics, replace=False)).tolist()
    found = [chance.choice(MARCO_CORPUS, DEPTH, replace=False) for _ in numbers]
    twice = set(chance.choice(numbers, topics * MARCO_JUDGED // MARCO_TOPICS - topics, replace=False).tolist())
    qrels: list[str] = []
    for topic, documents in zip(numbers, found, strict=True):
        ranks = chance.choice(DEPTH, 1 + (topic in twice), replace=False)
        beyond = MARCO_CORPUS + ranks
        relevant = np.where(chance.random(ranks.size) < FOUND, documents[ranks], beyond)
        qrels += [f"{topic} 0 {document} 1\n" for document in relevant.tolist()]
    _write(made.qrels, qrels)
    lists = (
        [f"{topic} Q0 {document}" for document in documents.tolist()]
        for topic, documents in zip(numbers, found, strict=True)
    )
    scores = (STYLES[0].write(np.sort(chance.gamma(4.0, 3.0, DEPTH))[::-1]) for _ in numbers)
    _write(made.runs[0], _run_lines(lists, scores, "marco"))
    return made


def _search(topic: int) -> Search:
    chance = np.random.default_rng(topic)
    quality = chance.exponential(size=CANDIDATES)
    noise = chance.uniform(0.8, 2.8, (TREC8_RUNS, 1))  # the better a system, the less
    scores = 20 + 3 * (quality + noise * chance.standard_normal((TREC8_RUNS, CANDIDATES)))
    order = np.argsort(-scores, axis=1)[:, :DEPTH]
    scores = np.take_along_axis(scores, order, axis=1)
    strays = (chance.integers(STRAYS, size=(TREC8_RUNS, 1)) + np.arange(DEPTH)) % STRAYS
    is_stray = (np.arange(DEPTH) >= TOP) & (chance.random((TREC8_RUNS, DEPTH)) < STRAYING)
    documents = chance.choice(CORPUS, CANDIDATES + STRAYS, replace=False)
    return Search(documents, quality, np.where(is_stray, CANDIDATES + strays, order), scores)


def _pooled_qrels(searches: Sequence[Search], names: Sequence[Sequence[str]]) -> Iterator[str]:
    """Judge what stands highest in any of the pooled runs; the topics differ in how much of it is relevant."""
    best_rank = np.full((len(searches), CANDIDATES + STRAYS), DEPTH)
    for place, search in enumerate(searches):
        ranks = np.broadcast_to(np.arange(DEPTH), (POOLED_RUNS, DEPTH))
        np.minimum.at(best_rank[place], search.order[:POOLED_RUNS], ranks)
    pooled = np.sort(np.argsort(best_rank[:, :CANDIDATES], axis=None, kind="stable")[:JUDGED])
    ease = np.random.default_rng(len(searches)).normal(0, 0.7, (len(searches), 1))
    worth = (np.stack([search.quality for search in searches]) + ease).ravel()[pooled]
    grades = np.zeros(pooled.size, np.intp)
    by_worth = np.argsort(-worth)
    grades[by_worth[:RELEVANT]] = 1
    grades[by_worth[:HIGHLY_RELEVANT]] = 2
    for pair, grade in zip(pooled.tolist(), grades.tolist(), strict=True):
        place, candidate = divmod(pair, CANDIDATES)
        yield f"{TREC8_TOPICS[place]} 0 {names[place][candidate]} {grade}\n"


def _docno(number: int) -> str:
    """Name a document as one of TREC-8's four newspapers would; different numbers give different names."""
    month, day, page = 1 + number % 12, 1 + number // 12 % 28, number // 336
    names = {
        "FT": f"FT{911 + number % 35}-{number // 35 + 1}",
        "FR": f"FR94{month:02}{day:02}-{page % 3}-{page // 3:05}",
        "FBIS": f"FBIS{3 + number % 2}-{number // 2}",
        "LA": f"LA{month:02}{day:02}{89 + page % 2}-{page // 2:04}",
    }
    return names[NEWSPAPERS[number % len(NEWSPAPERS)]]


def _run_lines(lists: Iterator[list[str]], scores: Iterator[list[str]], tag: str) -> Iterator[str]:
    for begins, ends in zip(lists, scores, strict=True):
        for rank, (begin, score) in enumerate(zip(begins, ends, strict=True), 1):
            yield f"{begin} {rank} {score} {tag}\n"


def _write(path: Path, lines: Iterator[str] | Sequence[str]) -> None:
    """Write a file that has its name only when it is whole."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(lines)
    part.rename(path)


VOCABULARY = 200_000
PASSAGE_WORDS = 60  # on average; from half to one and a half times as many
PASSAGES_AT_ONCE = 20_000
SYLLABLES = [f"{first}{vowel}{last}" for first in "bdfgklmnprstvz" for vowel in "aeiou" for last in ("", "n", "r", "s")]


def word_of_rank(rank: int) -> str:
    """The word of this rank by frequency, from 0; frequent words are short."""
    word = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        word += SYLLABLES[rank % len(SYLLABLES)]
    return word


def passages(path: Path, first: int, count: int) -> Path:
    """Make passages, one a line: a docno, a tab, and words whose frequencies follow Zipf's law."""
    if path.exists():
        return path
    chance = np.random.default_rng(first)
    words = np.array([word_of_rank(rank) for rank in range(VOCABULARY)], dtype=object)
    cumulated = np.cumsum(1 / np.arange(3, VOCABULARY + 3))
    cumulated /= cumulated[-1]

    def lines() -> Iterator[str]:
        for begin in range(first, first + count, PASSAGES_AT_ONCE):
            lengths = chance.integers(PASSAGE_WORDS // 2, PASSAGE_WORDS * 3 // 2 + 1, PASSAGES_AT_ONCE)
            drawn = words[np.searchsorted(cumulated, chance.random(int(lengths.sum())))].tolist()
            ends = np.cumsum(lengths).tolist()
            at = 0
            for number, end in zip(range(begin, min(begin + PASSAGES_AT_ONCE, first + count)), ends, strict=False):
                yield f"{number}\t{' '.join(drawn[at:end]).capitalize()}.\n"
                at = end

    _write(path, lines())
    return path
