"""Conditions of a full-text search, for each kind of index."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, literal, literal_column, not_, or_
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR

from annotator.storage.tables.documents import DocumentWords

VECTOR = literal_column("document_words.vector", TSVECTOR)


@dataclass(frozen=True)
class HasPhrase:
    """The words occur one after the other; with `opens` the last one is a prefix."""

    words: Sequence[str]
    opens: bool


@dataclass(frozen=True)
class HasAll:
    """All of `parts` and none of `without`."""

    parts: Sequence["Wanted"]
    without: Sequence["Wanted"]


@dataclass(frozen=True)
class HasAny:
    """At least one of `parts`."""

    parts: Sequence["Wanted"]


Wanted = HasPhrase | HasAll | HasAny


@dataclass(frozen=True)
class SearchCondition:
    """A query in the syntax of each database.

    `tsquery` has the words that a document must contain, for PostgreSQL's index look-up; `exact` is the full condition.
    `wanted` is the query for an index in a folder.
    `any_of` are the parts of a query that are joined by OR: a document matches one of them or more.
    """

    fts5: str
    tsquery: str
    exact: ColumnElement[bool]
    wanted: Wanted
    any_of: tuple["SearchCondition", ...] = ()


def has_phrase(words: Sequence[str], opens: bool) -> ColumnElement[bool]:  # noqa: FBT001 - one of several conditions
    """PostgreSQL condition: the words occur as a phrase; with `opens` the last one is a prefix.

    A tsvector keeps no positions above 16,383 and at most 256 per word, so phrases are matched in the text.
    """
    phrase = " ".join(words)
    if len(words) == 1:
        return matches_words(f"'{phrase}'" + (":*" if opens else ""))
    padded = literal(" ") + DocumentWords.words + literal(" ")
    return func.strpos(padded, f" {phrase}" if opens else f" {phrase} ") > 0


def has_all(parts: Sequence[ColumnElement[bool]], without: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """PostgreSQL condition: all of `parts` and none of `without`."""
    return and_(*parts, *map(not_, without))


def has_any(parts: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """PostgreSQL condition: any of `parts`."""
    return or_(*parts)


def matches_words(tsquery: str) -> ColumnElement[bool]:
    """PostgreSQL condition: the words of a document match a query in the syntax of `tsquery`."""
    return VECTOR.op("@@", is_comparison=True)(tsquery_value(tsquery))


def tsquery_value(query: str) -> ColumnElement[str]:
    """A query as a value of PostgreSQL's type `tsquery`."""
    return literal(query).cast(TSQUERY)
