"""The demonstration's search systems: six different ways to search the same corpus, for comparison."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.demonstration.corpus import PythonDocument
from annotator.errors import AnnotatorError

DEPTH = 100  # documents per topic in a run
DECIMALS = 6  # of a score: the last bits of a float may differ between machines, but a run must not
NAME_WEIGHT = 5.0  # weight of a word in the name in `bm25-names`
FULL_TEXT_MODULE = "fts5"  # the name of SQLite's full-text search module

# Stop words: frequent in sentences, rare in titles.
STOP_WORDS = frozenset(
    """
    a after all also an and any are as at be because been before between both but by can could did do does each for
    from get give had has have how i if in into is it its just know like may me more most must my need no not of on
    one only or other our own shall should so some such than that the their them then there these they this those
    to until up want was way we were what when where whether which while who will with without would you your
    """.split()  # noqa: SIM905 - a list would fill the screen with quotation marks
)

WORD = re.compile(r"[^\W_]+")
# Between "thread" and "Pool" of threadPool, between "HTTP" and "Server" of HTTPServer.
CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class SearchableTopic(Protocol):
    """The fields of a topic that a search system uses."""

    @property
    def number(self) -> str:
        """The number in the topic file."""

    @property
    def title(self) -> str:
        """The query a programmer would type."""

    @property
    def description(self) -> str:
        """The information need in a sentence or two."""


class Hit(NamedTuple):
    """A document and its score by a system; more is better, always above 0."""

    docno: str
    score: float


# Returns the hits of each request, in the requests' order; neither sorted nor truncated.
Matcher = Callable[[Sequence[PythonDocument], Sequence[str]], list[list[Hit]]]


@dataclass(frozen=True)
class SearchSystem:
    """A way to index the corpus, and the part of a topic that is its query."""

    tag: str
    description: str
    match: Matcher
    request: Callable[[SearchableTopic], str]

    def search(
        self, documents: Sequence[PythonDocument], topics: Sequence[SearchableTopic], depth: int = DEPTH
    ) -> dict[str, list[Hit]]:
        """The ranked list of each topic, best first and at most `depth` long, by topic number.

        Raises `AnnotatorError` when the system needs full-text search and this machine's SQLite has none.
        """
        matched = self.match(documents, [self.request(topic) for topic in topics])
        return {topic.number: ranked(hits)[:depth] for topic, hits in zip(topics, matched, strict=True)}

    def run_lines(
        self, documents: Sequence[PythonDocument], topics: Sequence[SearchableTopic], depth: int = DEPTH
    ) -> str:
        """The run in TREC's six columns: topic, Q0, docno, rank from 1, score, tag."""
        return "".join(
            f"{number} Q0 {hit.docno} {rank} {hit.score:.{DECIMALS}f} {self.tag}\n"
            for number, hits in self.search(documents, topics, depth).items()
            for rank, hit in enumerate(hits, start=1)
        )


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Sort hits as trec_eval does: by the score as printed, descending, and ties by docno, descending."""
    as_printed = (Hit(hit.docno, round(hit.score, DECIMALS)) for hit in hits)
    return sorted((hit for hit in as_printed if hit.score > 0), key=lambda hit: (hit.score, hit.docno), reverse=True)


def words(text: str) -> list[str]:
    """Split text at every character that is no letter or digit, underscores included, and fold case."""
    return WORD.findall(text.lower())


def name_in_words(docno: str) -> str:
    """Split a dotted name into words: `http.server.HTTPServer` gives "http server HTTP Server"."""
    return " ".join(WORD.findall(CAMEL_HUMP.sub(" ", docno)))


def trigrams(text: str) -> list[str]:
    """Split each word, padded with a blank on either side, into character trigrams: " re", "red", "ed "."""
    padded = (f" {word} " for word in words(text))
    return [first + second[1] for word in padded for first, second in pairwise(map("".join, pairwise(word)))]


def raw_name(document: PythonDocument) -> str:
    """The name as programmers write it."""
    return document.docno


def name_both_ways(document: PythonDocument) -> str:
    """The name as written and in words, so that `defaultdict` and "default dict" both match it."""
    return f"{document.docno} {name_in_words(document.docno)}"


def whole_text(document: PythonDocument) -> str:
    """The name in words and the whole docstring."""
    return f"{name_in_words(document.docno)}\n{document.body}"


def summary(document: PythonDocument) -> str:
    """The name in words and the docstring's first paragraph."""
    first_paragraph, _, _ = document.body.partition("\n\n")
    return f"{name_in_words(document.docno)}\n{first_paragraph}"


def match_by_bm25(
    documents: Sequence[PythonDocument],
    requests: Sequence[str],
    *,
    tokenizer: str,
    name: Callable[[PythonDocument], str],
    name_weight: float,
) -> list[list[Hit]]:
    """Match any word of the request, scored by BM25 (Robertson and Zaragoza 2009) of SQLite's FTS5.

    FTS5 returns BM25 times -1, so that ascending order is best first; here more is better.
    """
    query = "SELECT docno, -bm25(corpus, 0, ?, 1) FROM corpus WHERE corpus MATCH ?"
    with closing(sqlite3.connect(":memory:")) as database:
        create_index(database, tokenizer)
        rows = ((document.docno, name(document), document.body) for document in documents)
        database.executemany("INSERT INTO corpus VALUES (?, ?, ?)", rows)
        return [list(map(Hit._make, database.execute(query, (name_weight, any_word(text))))) for text in requests]


def create_index(database: sqlite3.Connection, tokenizer: str) -> None:
    """Create the empty table; raises `AnnotatorError` where SQLite was built without full-text search."""
    columns = f"docno UNINDEXED, name, body, tokenize = '{tokenizer}'"
    try:
        database.execute(f"CREATE VIRTUAL TABLE corpus USING {FULL_TEXT_MODULE}({columns})")
    except sqlite3.OperationalError as error:
        raise AnnotatorError(
            "The SQLite of this Python (%(version)s) has no full-text search, which the demonstration's search systems "
            "need; use a Python whose SQLite was built with FTS5. SQLite said: %(reason)s",
            version=sqlite3.sqlite_version,
            reason=error,
        ) from error


def any_word(text: str) -> str:
    """A request in FTS5 syntax: quoted words combined by OR; without words, a query that matches nothing."""
    return " OR ".join(f'"{word}"' for word in words(text)) or '""'


def match_by_cosine(
    documents: Sequence[PythonDocument],
    requests: Sequence[str],
    *,
    features: Callable[[str], list[str]],
    text: Callable[[PythonDocument], str],
) -> list[list[Hit]]:
    """Score by the cosine between tf-idf vectors: (1 + ln tf) x ln(N / df), weighted alike on both sides.

    This is `ltc.ltc` in SMART's notation (Salton and Buckley 1988).
    """
    counts = [Counter(features(text(document))) for document in documents]
    columns = {feature: column for column, feature in enumerate(dict.fromkeys(f for count in counts for f in count))}
    # The sparse matrix of documents by features, as three arrays of its entries.
    row = np.repeat(np.arange(len(counts)), np.array([len(count) for count in counts], dtype=np.intp))
    column = np.array([columns[feature] for count in counts for feature in count], dtype=np.intp)
    times = np.array([number for count in counts for number in count.values()], dtype=np.float64)
    rarity = np.log(len(documents) / np.bincount(column, minlength=len(columns)))
    weight = (1 + np.log(times)) * rarity[column]
    length = np.sqrt(np.bincount(row, weight**2))
    weight /= np.where(length > 0, length, 1)[row]

    matched = []
    for request in requests:
        wanted = request_vector(Counter(features(request)), columns, rarity)
        scores = np.bincount(row, weight * wanted[column], minlength=len(documents))
        matched.append([Hit(documents[i].docno, scores[i].item()) for i in np.flatnonzero(scores).tolist()])
    return matched


def request_vector(
    count: Mapping[str, int], columns: Mapping[str, int], rarity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The request weighted like a document, with length 1; all 0 when it shares no feature with the corpus."""
    vector = np.zeros(len(columns))
    for feature in count.keys() & columns.keys():
        vector[columns[feature]] = (1 + np.log(count[feature])) * rarity[columns[feature]]
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def title_of(topic: SearchableTopic) -> str:
    """The topic's title as the query."""
    return topic.title


def description_of(topic: SearchableTopic) -> str:
    """The content words of the topic's description as the query."""
    return " ".join(word for word in words(topic.description) if word not in STOP_WORDS)


PLAIN = partial(match_by_bm25, tokenizer="unicode61", name=raw_name, name_weight=1.0)
STEMMED = partial(match_by_bm25, tokenizer="porter unicode61", name=raw_name, name_weight=1.0)
NAMES_FIRST = partial(match_by_bm25, tokenizer="porter unicode61", name=name_both_ways, name_weight=NAME_WEIGHT)
WORD_VECTORS = partial(match_by_cosine, features=words, text=whole_text)
TRIGRAM_VECTORS = partial(match_by_cosine, features=trigrams, text=summary)

SYSTEMS: Mapping[str, SearchSystem] = MappingProxyType(
    {
        system.tag: system
        for system in (
            SearchSystem("bm25-plain", "BM25 over words as they stand", PLAIN, title_of),
            SearchSystem("bm25-porter", "BM25 over stemmed words", STEMMED, title_of),
            SearchSystem("bm25-names", "BM25 over stemmed words, names count five times", NAMES_FIRST, title_of),
            SearchSystem("bm25-description", "BM25 over stemmed words, asked in sentences", STEMMED, description_of),
            SearchSystem("tfidf-cosine", "Cosine of tf-idf vectors of words", WORD_VECTORS, title_of),
            SearchSystem("trigram-summary", "Cosine of trigrams, summaries only", TRIGRAM_VECTORS, title_of),
        )
    }
)
