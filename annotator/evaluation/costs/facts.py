"""The facts that can be stated for a run, with their units, and columns that organisers add."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.metrics.measures import Better

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
LONGEST_NAME = 60
LONGEST_UNIT = 20


class FactKind(StrEnum):
    """The type of a fact: a number, text, or a comma-separated list without order."""

    NUMBER = "number"
    WORDS = "words"
    LIST = "list"


class Per(StrEnum):
    """What a fact is stated for: once for the system, or for each size of collection or type of query."""

    SYSTEM = ""
    DOCUMENTS = "documents"
    QUERY_TYPE = "query type"


@dataclass(frozen=True)
class Fact:
    """A fact that a run may state; numbers are stored in `unit`, and `better` is the preferred direction."""

    key: str
    name: Sentence
    kind: FactKind = FactKind.NUMBER
    unit: str = ""
    better: Better = Better.NEITHER
    per: Per = Per.SYSTEM
    whole: bool = False
    help: Sentence | None = None
    is_own: bool = False  # added by the organisers of a collection


# {unit: {casefolded suffix of a number: factor}}. Prefixes are powers of ten
# as in the International System, and powers of two as in IEC 80000-13.
UNITS: Mapping[str, Mapping[str, float]] = {
    "ms": {"us": 1e-3, "\u03bcs": 1e-3, "ms": 1, "s": 1e3, "min": 6e4},
    "s": {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400},
    "MB": {"b": 1e-6, "kb": 1e-3, "mb": 1, "gb": 1e3, "tb": 1e6}
    | {"kib": 1024 / 1e6, "mib": 1024**2 / 1e6, "gib": 1024**3 / 1e6, "tib": 1024**4 / 1e6},
    "documents": {"documents": 1, "document": 1, "docs": 1},
    "documents/s": {"documents/s": 1, "docs/s": 1, "/s": 1},
}

_KNOWN = (
    Fact(
        "latency_p50",
        Sentence("Query latency, median"),
        *(FactKind.NUMBER, "ms", Better.LESS),
        help=Sentence("Half of the queries are answered within it."),
    ),
    Fact(
        "latency_p95",
        Sentence("Query latency, 95th percentile"),
        *(FactKind.NUMBER, "ms", Better.LESS),
        help=Sentence("Of 20 queries 19 are answered within it."),
    ),
    Fact(
        "latency_at",
        Sentence("Query latency by size of collection"),
        *(FactKind.NUMBER, "ms", Better.LESS, Per.DOCUMENTS),
        help=Sentence("The median at several sizes, a line each, such as “1000000: 35 ms”."),
    ),
    Fact(
        "complex_query_time",
        Sentence("Time of complex queries"),
        *(FactKind.NUMBER, "ms", Better.LESS, Per.QUERY_TYPE),
        help=Sentence("The median for each type, a line each, such as “phrase: 120 ms”."),
    ),
    Fact("indexing_time", Sentence("Indexing time"), FactKind.NUMBER, "s", Better.LESS),
    Fact("indexing_rate", Sentence("Indexing speed"), FactKind.NUMBER, "documents/s", Better.MORE),
    Fact(
        "index_size",
        Sentence("Index size"),
        *(FactKind.NUMBER, "MB", Better.LESS),
        help=Sentence("MB are a million bytes; GB, MiB and GiB may be written behind the number."),
    ),
    Fact("corpus_size", Sentence("Corpus size"), FactKind.NUMBER, "documents", Better.NEITHER, whole=True),
    Fact(
        "topic_breadth",
        Sentence("Breadth of topics"),
        FactKind.WORDS,
        help=Sentence("What the documents are about, such as news, or medicine and law."),
    ),
    Fact(
        "query_language",
        Sentence("Query language"),
        FactKind.LIST,
        help=Sentence("What queries may have, parted by commas: Boolean, phrase, field, free text, or other things."),
    ),
    Fact(
        "hardware",
        Sentence("Hardware"),
        FactKind.WORDS,
        help=Sentence("What the times were measured on: processor, cores, memory, graphics cards."),
    ),
)
# By key, in the display order of tables.
KNOWN_FACTS: Mapping[str, Fact] = {fact.key: fact for fact in _KNOWN}


def own_column(key: str, name: str, *, kind: str, unit: str = "", better: str = "") -> Fact:
    """Create a column that organisers add.

    Raises `InvalidValueError` for an invalid key or name, a duplicate of a built-in one, an unknown kind,
    and for text with a unit or a direction.
    """
    if not KEY.fullmatch(key):
        raise InvalidValueError(
            "“%(key)s” is no key of a column: at most 40 small letters a to z, digits and _, the first a letter.",
            key=key,
        )
    if key in KNOWN_FACTS:
        raise InvalidValueError("“%(key)s” is a standard column and need not be added.", key=key)
    shown, unit = _one_line(name, LONGEST_NAME), _one_line(unit, LONGEST_UNIT)
    if not shown:
        raise InvalidValueError("A column needs a name.")
    if kind not in {FactKind.NUMBER, FactKind.WORDS}:
        raise InvalidValueError("“%(kind)s” is no kind of column: number or words.", kind=kind)
    if kind == FactKind.WORDS and (unit or better not in {"", Better.NEITHER}):
        raise InvalidValueError("A text column has no unit and no better direction.")
    return Fact(key, _as_it_stands(shown), FactKind(kind), unit, _better(better), is_own=True)


def stored_column(key: str, name: str, *, kind: str, unit: str, better: str) -> Fact:
    """Return the fact of a stored column, even if this version has a built-in fact of that name."""
    return Fact(key, _as_it_stands(name), FactKind(kind), unit, Better(better), is_own=True)


def all_facts(columns: Iterable[Fact]) -> dict[str, Fact]:
    """All facts by key: built-in ones, then the columns of a collection."""
    own = {column.key: column for column in columns if column.key not in KNOWN_FACTS}
    return {**KNOWN_FACTS, **own}


def _as_it_stands(name: str) -> Sentence:
    """Wrap a user's name as a sentence that is not translated."""
    return Sentence("%(name)s", {"name": name})


def _better(written: str) -> Better:
    try:
        return Better(written or Better.NEITHER)
    except ValueError:
        raise InvalidValueError(
            "“%(written)s” does not say which end is better: less, more or neither.", written=written
        ) from None


def _one_line(text: str, most: int) -> str:
    check_free_text(text, most)
    return " ".join(text.split())
