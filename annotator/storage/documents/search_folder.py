"""The full-text index in a folder, by Tantivy, for corpora of millions of documents (extra `search`)."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

from annotator.errors import BusyError
from annotator.storage.documents.search_conditions import HasAll, HasAny, HasPhrase, Wanted
from annotator.storage.site.bulk_insert import chunks

# Memory for documents before a segment is written; one thread, as the other processor serves.
HEAP = 128_000_000
THREADS = 1
WORDS, ID, COLLECTION = "words", "id", "collection"
BLANKS = "blanks"


class SearchFolder:
    """The index of one database, in a folder."""

    def __init__(self, path: Path) -> None:
        """Name the folder; it need not exist."""
        self.path = path

    def is_usable(self) -> bool:
        """Whether the folder exists and has an index that can be read."""
        try:
            return tantivy.Index.exists(str(self.path)) and self._open().searcher().num_docs >= 0
        except (OSError, ValueError):
            return False

    def remove(self) -> None:
        """Delete the folder; one that is not there is ignored."""
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, texts: Iterable[tuple[int, int, str]]) -> None:
        """Add documents (id, collection, tokens separated by blanks) in place of what the folder has of them.

        It is durable when this returns.

        Raises `BusyError` when another process writes to the folder, and when it cannot be written.
        """
        with _writable():
            self.path.mkdir(parents=True, exist_ok=True)
            writer = self._open().writer(HEAP, THREADS)
            for id_, collection_id, words in texts:
                writer.delete_documents_by_term(ID, id_)
                writer.add_document(tantivy.Document(id=id_, collection=collection_id, words=words))
            writer.commit()
            # The threads that merge segments end with the writer.
            writer.wait_merging_threads()

    def find(self, collection_id: int, wanted: Wanted, *, first: int, most: int) -> tuple[int, list[int]]:
        """The number of matches, and the ids of up to `most` of them by BM25 from offset `first` on.

        Documents that are no longer as indexed are among them. Raises `BusyError` when the index cannot be read.
        """
        with _readable():
            index = self._open()
            searcher = index.searcher()
            query = _Queries(index.schema).within(collection_id, wanted)
            result: Any = searcher.search(query, max(most, 1), offset=first)  # its types lack the count
            return int(result.count), _ids(searcher, result)[:most]

    def among(self, collection_id: int, wanted: Wanted, ids: Sequence[int]) -> set[int]:
        """The documents among `ids` that match."""
        with _readable():
            index = self._open()
            searcher = index.searcher()
            queries = _Queries(index.schema)
            found: set[int] = set()
            for chunk in chunks(list(ids)):
                found.update(_ids(searcher, searcher.search(queries.among(collection_id, wanted, chunk), len(chunk))))
            return found

    def _open(self) -> tantivy.Index:
        """The index; an empty one in an empty folder."""
        fields = tantivy.SchemaBuilder().add_text_field(WORDS, tokenizer_name=BLANKS, index_option="position")
        fields = fields.add_integer_field(ID, indexed=True, fast=True).add_integer_field(COLLECTION, indexed=True)
        index = tantivy.Index(fields.build(), str(self.path))
        # Our tokens unchanged, as in the database.
        index.register_tokenizer(BLANKS, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
        return index


class _Queries:
    """Writes queries for an index."""

    def __init__(self, schema: tantivy.Schema) -> None:
        self._schema = schema

    def within(self, collection_id: int, wanted: Wanted) -> tantivy.Query:
        return self._all([self._of(wanted), self._is(COLLECTION, [collection_id])], [])

    def among(self, collection_id: int, wanted: Wanted, ids: Sequence[int]) -> tantivy.Query:
        return self._all([self.within(collection_id, wanted), self._is(ID, ids)], [])

    def _of(self, wanted: Wanted) -> tantivy.Query:
        match wanted:
            case HasPhrase():
                return self._phrase(wanted.words, opens=wanted.opens)
            case HasAll():
                return self._all(list(map(self._of, wanted.parts)), list(map(self._of, wanted.without)))
            case HasAny():
                occur = tantivy.Occur.Should
                return self._joined([(occur, self._of(part)) for part in wanted.parts])

    def _phrase(self, words: Sequence[str], *, opens: bool) -> tantivy.Query:
        query = tantivy.Query
        patterns = [re.escape(word) for word in words]
        if opens:
            patterns[-1] += ".*"
        if len(words) == 1 and opens:
            return query.regex_query(self._schema, WORDS, patterns[0])
        if len(words) == 1:
            return query.term_query(self._schema, WORDS, words[0])
        # Its queries of phrases with a prefix take the first fifty words that begin so, and do not say it.
        phrase = query.regex_phrase_query if opens else query.phrase_query
        return phrase(self._schema, WORDS, [*(patterns if opens else words)])

    def _is(self, field: str, values: Sequence[int]) -> tantivy.Query:
        """One of the values, without an influence on the rank."""
        query = tantivy.Query
        return query.const_score_query(query.term_set_query(self._schema, field, list(values)), 0.0)

    def _all(self, parts: Sequence[tantivy.Query], without: Sequence[tantivy.Query]) -> tantivy.Query:
        occur = tantivy.Occur
        return self._joined([*((occur.Must, part) for part in parts), *((occur.MustNot, part) for part in without)])

    def _joined(self, parts: Sequence[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
        return tantivy.Query.boolean_query(parts)


def _ids(searcher: tantivy.Searcher, result: tantivy.SearchResult) -> list[int]:
    values = searcher.fast_field_values(ID, [address for _, address in result.hits])
    return [int(value) for value in values if value is not None]


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise BusyError(
            "The search index is missing or damaged. Nothing was stored. The worker builds a new one, which takes "
            "minutes for a large corpus; judging continues. Try again later."
        ) from error


@contextmanager
def _writable() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise BusyError(
            "The search index cannot be written now: %(reason)s. Another process may be writing to it; what is not "
            "indexed is indexed later.",
            reason=str(error).rstrip("."),
        ) from error
