"""A query as a tree: what it asks for, how it is written, and how each database reads it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotator.evaluation.search.search_text import Phrase, phrase_of


@dataclass(frozen=True)
class Asked:
    """A word, the beginning of one (`opens`), or a phrase in quotation marks, as it was written."""

    text: str
    quoted: bool = False
    opens: bool = False

    @property
    def phrase(self) -> Phrase:
        """What to look for among the words of the documents."""
        return phrase_of(self.text, opens=self.opens)

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return (f'"{self.text}"' if self.quoted else self.text) + ("*" if self.opens else "")


@dataclass(frozen=True)
class All:
    """All of `parts` and none of `without`; there is at least one part."""

    parts: tuple["Query", ...]
    without: tuple["Query", ...] = ()

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return " ".join([*(_inner(part) for part in self.parts), *(f"NOT {_inner(part)}" for part in self.without)])


@dataclass(frozen=True)
class AnyOf:
    """At least one of two or more parts."""

    parts: tuple["Query", ...]

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return " OR ".join(_inner(part) if isinstance(part, AnyOf) else str(part) for part in self.parts)


Query = Asked | All | AnyOf
Condition = TypeVar("Condition")


def asked_in(query: Query, *, also_without: bool = True) -> Iterator[Asked]:
    """Every word and phrase of a query; or only those that a document may be found by."""
    if isinstance(query, Asked):
        yield query
        return
    for part in query.parts:
        yield from asked_in(part, also_without=also_without)
    if isinstance(query, All) and also_without:
        for part in query.without:
            yield from asked_in(part)


def fts5_of(query: Query) -> str:
    """The query as SQLite's FTS5 reads it. Nothing of what was typed is in it but letters, digits and their marks."""
    match query:
        case Asked():
            phrase = query.phrase
            return '"' + " ".join(phrase.words) + '"' + (" *" if phrase.opens else "")
        case All():
            wanted = " AND ".join(map(fts5_of, query.parts))
            return "(" + " NOT ".join([f"({wanted})", *map(fts5_of, query.without)]) + ")"
        case AnyOf():
            return "(" + " OR ".join(map(fts5_of, query.parts)) + ")"


def tsquery_of(query: Query) -> str:
    """The words a document of PostgreSQL must have to be found; neither that they follow each other, nor what NOT says.

    With nothing but single words wanted it is the query. Nothing of what was typed is in it but letters, digits and
    their marks.
    """
    match query:
        case Asked():
            phrase = query.phrase
            words = [f"'{word}'" for word in phrase.words]
            return "(" + " & ".join(words) + (":*" if phrase.opens else "") + ")"
        case All():
            return "(" + " & ".join(map(tsquery_of, query.parts)) + ")"
        case AnyOf():
            return "(" + " | ".join(map(tsquery_of, query.parts)) + ")"


def folded(
    query: Query,
    has_phrase: Callable[[Sequence[str], bool], Condition],
    has_all: Callable[[Sequence[Condition], Sequence[Condition]], Condition],
    has_any: Callable[[Sequence[Condition]], Condition],
) -> Condition:
    """The query as a condition: of words (and whether the last may go on), all parts and none of others, any part."""

    def fold(query: Query) -> Condition:
        match query:
            case Asked():
                return has_phrase(query.phrase.words, query.phrase.opens)
            case All():
                return has_all(list(map(fold, query.parts)), list(map(fold, query.without)))
            case AnyOf():
                return has_any(list(map(fold, query.parts)))

    return fold(query)


def _inner(query: Query) -> str:
    return str(query) if isinstance(query, Asked) else f"({query})"
