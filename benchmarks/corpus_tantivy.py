"""Tantivy beside SQLite's FTS5: an index of the same tokens, searched in the same query language."""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from annotator.evaluation.search.search_query import folded, parse_query
from annotator.evaluation.search.search_text import indexed_words

HEAP = 256_000_000
THREADS = 2
HITS = 20
FIELD = "words"


def index(files: Sequence[Path], folder: Path) -> None:
    """Index passages, one a line, by their numbers."""
    tantivy: Any = import_module("tantivy")
    folder.mkdir()
    writer = _opened(folder).writer(HEAP, THREADS)
    number = 0
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                number += 1
                writer.add_document(tantivy.Document(id=number, words=indexed_words("", line.split("\t")[1])))
    writer.commit()
    writer.wait_merging_threads()


def _opened(folder: Path) -> Any:  # noqa: ANN401 - a library without our types
    """The index in a folder, with our tokens: they are separated by blanks."""
    tantivy: Any = import_module("tantivy")
    fields = tantivy.SchemaBuilder().add_text_field(FIELD, tokenizer_name="blanks", index_option="position")
    opened = tantivy.Index(fields.add_integer_field("id", indexed=True, fast=True).build(), str(folder))
    opened.register_tokenizer("blanks", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return opened


class Searcher:
    """Searches an index."""

    def __init__(self, folder: Path) -> None:
        """Open it."""
        self._tantivy: Any = import_module("tantivy")
        index_ = _opened(folder)
        self._schema, self._searcher = index_.schema, index_.searcher()

    def page(self, query: str) -> int:
        """Find the best twenty and the number of all matches, which is returned."""
        result = self._searcher.search(folded(parse_query(query), self._phrase, self._all, self._any), HITS)
        self._searcher.fast_field_values("id", [address for _, address in result.hits])
        return int(result.count)

    def _phrase(self, words: Sequence[str], opens: bool) -> Any:  # noqa: ANN401, FBT001 - as the parser calls it
        query = self._tantivy.Query
        if len(words) == 1:
            [word] = words
            # Its queries of phrases and prefixes take at most fifty words with a beginning.
            one = query.regex_query(self._schema, FIELD, re.escape(word) + ".*") if opens else None
            return one or query.term_query(self._schema, FIELD, word)
        phrase = query.phrase_prefix_query if opens else query.phrase_query
        return phrase(self._schema, FIELD, list(words))

    def _all(self, parts: Sequence[Any], without: Sequence[Any]) -> Any:  # noqa: ANN401 - the library's queries
        occur = self._tantivy.Occur
        both = [*((occur.Must, part) for part in parts), *((occur.MustNot, part) for part in without)]
        return self._tantivy.Query.boolean_query(both)

    def _any(self, parts: Sequence[Any]) -> Any:  # noqa: ANN401 - the library's queries
        return self._tantivy.Query.boolean_query([(self._tantivy.Occur.Should, part) for part in parts])
