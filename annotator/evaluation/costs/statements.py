"""Statements about a run: parsing and round-trip formatting."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.costs.facts import UNITS, Fact, FactKind, Per
from annotator.evaluation.formats.identifiers import check_free_text, natural_order

NUMBER = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*(?P<unit>\D.*)?")
GREATEST = 1e15
DIGITS = 12  # significant digits; conversion adds rounding noise beyond them
LONGEST_NUMBER = 60
LONGEST_WORDS = 300
LONGEST_DETAIL = 60
MOST_DETAILS = 20  # maximum number of sizes of collections, or types of queries
AT = "@"  # separates a fact from its detail


@dataclass(frozen=True)
class Statement:
    """A stated number, in the unit of its fact, or text; `detail` is the size or the type, if any."""

    fact: str
    detail: str = ""
    number: float | None = None
    words: str = ""

    @property
    def address(self) -> str:
        """The name in commands, files and query strings: `latency_at@1000000`."""
        return f"{self.fact}{AT}{self.detail}" if self.detail else self.fact


def read_statement(fact: Fact, written: str, detail: str = "") -> Statement | None:
    """Parse the value of a fact, such as `1.2 GB`; None for an empty one.

    Raises `InvalidValueError` for a malformed, out-of-range or too long value, and for a detail that is
    missing, superfluous or invalid.
    """
    place = read_detail(fact, detail)
    text = " ".join(written.split())
    if not text:
        return None
    if fact.kind is FactKind.NUMBER:
        return Statement(fact.key, place, _number(fact, text))
    check_free_text(text, LONGEST_WORDS)
    return Statement(fact.key, place, None, text if fact.kind is FactKind.WORDS else _list(text))


def read_lines(fact: Fact, text: str) -> list[Statement]:
    """Parse a fact with details, one a line: `1000000: 35 ms`; empty lines are skipped."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        detail, colon, written = line.rpartition(":")
        if not colon or not written.strip():
            raise InvalidValueError(
                "“%(line)s” is not a line such as “%(example)s”.", line=line, example=_example(fact)
            )
        statement = read_statement(fact, written, detail.strip())
        if statement is not None:
            found.append(statement)
    return found


def read_detail(fact: Fact, written: str) -> str:
    """Normalise the detail of a fact; raises `InvalidValueError` for an invalid one."""
    detail = " ".join(written.split())
    match fact.per:
        case Per.SYSTEM if detail:
            raise InvalidValueError("“%(key)s” is stated once, and not for “%(detail)s”.", key=fact.key, detail=detail)
        case Per.SYSTEM:
            return ""
        case _ if not detail:
            raise InvalidValueError("Add a detail, as in “%(example)s”.", example=_example(fact))
        case Per.DOCUMENTS:
            return _documents(detail)
    check_free_text(detail, LONGEST_DETAIL)
    if AT in detail or "=" in detail:
        raise InvalidValueError("“%(detail)s” is no type of query: it has a “@” or a “=”.", detail=detail)
    return detail.lower()


def read_address(facts: Mapping[str, Fact], address: str) -> tuple[Fact, str]:
    """Parse `latency_at@1000000` into a fact and a detail; raises `NotFoundError` for an unknown fact."""
    key, _, detail = address.partition(AT)
    if key not in facts:
        raise NotFoundError("“%(key)s” is no fact that is stated here.", key=key)
    return facts[key], detail


def check_together(statements: Iterable[Statement]) -> None:
    """Raise `InvalidValueError` for contradictory statements about one run.

    That is a duplicate, too many details, and a median latency above the 95th percentile.
    """
    told = list(statements)
    for address, count in Counter(one.address for one in told).items():
        if count > 1:
            raise InvalidValueError("“%(address)s” is stated twice.", address=address)
    for key, count in Counter(one.fact for one in told).items():
        if count > MOST_DETAILS:
            raise InvalidValueError(
                "“%(key)s” is stated %(count)d times; %(most)d are possible.", key=key, count=count, most=MOST_DETAILS
            )
    numbers = {one.address: one.number for one in told}
    median, high = numbers.get("latency_p50"), numbers.get("latency_p95")
    if median is not None and high is not None and median > high:
        raise InvalidValueError(
            "The median latency, %(median)s ms, is above the 95th percentile, %(high)s ms: one of them is wrong.",
            median=write_number(median),
            high=write_number(high),
        )


def those_that_fit(facts: Mapping[str, Fact], statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Select the statements that fit a known fact; others are of a removed column, or of a newer version."""
    return tuple(one for one in statements if one.fact in facts and _fits(facts[one.fact], one))


def write_number(number: float) -> str:
    """Format a number so that `read_statement` restores it, without superfluous zeros."""
    return f"{number:.{DIGITS}g}"


def write_value(statement: Statement) -> str:
    """Format a value, without its unit."""
    return statement.words if statement.number is None else write_number(statement.number)


def write_lines(statements: Iterable[Statement]) -> str:
    """Format the statements of one fact as `read_lines` parses them, in the order of their details."""
    told = sorted(statements, key=lambda one: natural_order(one.detail))
    return "\n".join(f"{one.detail}: {write_value(one)}" for one in told)


def _fits(fact: Fact, statement: Statement) -> bool:
    is_number, has_detail = statement.number is not None, bool(statement.detail)
    return is_number == (fact.kind is FactKind.NUMBER) and has_detail == (fact.per is not Per.SYSTEM)


def _number(fact: Fact, text: str) -> float:
    match = NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        raise _no_number(fact, text)
    number = float(f"{float(match['number']) * _times(fact, match['unit'], text):.{DIGITS}g}")
    if number > GREATEST:
        raise InvalidValueError("“%(text)s” is too large a number.", text=text)
    if fact.whole and not number.is_integer():
        raise InvalidValueError("“%(text)s” is no whole number.", text=text)
    return number


def _times(fact: Fact, unit: str | None, text: str) -> float:
    """Return the factor from the written unit to the fact's unit."""
    if unit is None:
        return 1.0
    known = UNITS.get(fact.unit, {fact.unit.casefold(): 1.0})
    try:
        return known[unit.strip().casefold()]
    except KeyError:
        raise _no_number(fact, text) from None


def _no_number(fact: Fact, text: str) -> InvalidValueError:
    if not fact.unit:
        return InvalidValueError("“%(text)s” is no number such as 48.5, from 0 on and without a comma.", text=text)
    return InvalidValueError(
        "“%(text)s” is no number of %(unit)s such as “48.5 %(unit)s”, from 0 on and without a comma.",
        text=text,
        unit=fact.unit,
    )


def _list(text: str) -> str:
    """Normalise a comma-separated list: unique, lower case, sorted."""
    parts = {" ".join(part.split()).lower() for part in text.split(",")}
    return ", ".join(sorted(parts - {""}, key=natural_order))


def _documents(written: str) -> str:
    """Parse a number of documents into the digits of a whole number."""
    match = NUMBER.fullmatch(written) if len(written) <= LONGEST_NUMBER else None
    unit = (match["unit"] or "documents").strip().casefold() if match else ""
    number = float(match["number"]) if match and unit in UNITS["documents"] else 0.0
    if not number.is_integer() or not 1 <= number <= GREATEST:
        raise InvalidValueError("“%(written)s” is no number of documents such as 1000000.", written=written)
    return str(int(number))


def _example(fact: Fact) -> str:
    return "1000000: 35 ms" if fact.per is Per.DOCUMENTS else "phrase: 120 ms"
