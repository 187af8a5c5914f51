"""Rows of tables as plain values, which JSON has, and back: as they are stored, or as the driver takes them."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Any, cast

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    Dialect,
    LargeBinary,
    Table,
)
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.site.bulk_insert import Row, bind_processor
from annotator.storage.tables.collections import CollectionKind, CollectionState, JudgingMode, PublicScores, ScoresShown
from annotator.storage.tables.columns import UtcDateTime
from annotator.storage.tables.judging import AssignmentState, CannotJudge, Purpose
from annotator.storage.tables.people import Role, UserKind
from annotator.storage.tables.pools import Showing
from annotator.storage.tables.runs import RunType
from annotator.storage.tables.topics import TopicState

# The largest bigint; PostgreSQL itself rejects values too large for a narrower column.
GREATEST_NUMBER = 2**63 - 1
MOMENTS_KEPT = 1_000
# Types whose values a driver may give in another form.
OTHER_THAN_GIVEN = (UtcDateTime, Date, JSON, LargeBinary, Boolean)

# Column → enumeration that its values must belong to.
CODES: Mapping[str, type[StrEnum]] = {
    "assignment.purpose": Purpose,
    "assignment.state": AssignmentState,
    "collection.judging_mode": JudgingMode,
    "collection.kind": CollectionKind,
    "collection.public_scores": PublicScores,
    "collection.scores_shown": ScoresShown,
    "collection.state": CollectionState,
    "judgement.cannot_judge": CannotJudge,
    "membership.role": Role,
    "pool.showing": Showing,
    "run.run_type": RunType,
    "topic.state": TopicState,
    "user.kind": UserKind,
}


def as_plain(table: Table, row: Row) -> Row:
    """A row as JSON values: dates and times as ISO 8601, bytes as base64."""
    return row | {name: plain(row[name]) for name, plain in _columns_to_convert(table) if row[name] is not None}


def plain_rows(session: Session, table: Table, rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Rows of all columns of a table, in its order and as the driver gives them, as JSON values."""
    plain = [list(row) for row in rows]
    for place, convert in _to_plain(session.get_bind().dialect, table):
        for row in plain:
            if row[place] is not None:
                row[place] = convert(row[place])
    return plain


@cache
def _to_plain(dialect: Dialect, table: Table) -> Sequence[tuple[int, Callable[[Any], Any]]]:
    """The places of the columns whose values the driver gives in another form, each with what converts them."""
    converted = []
    for place, column in enumerate(table.columns):
        if not isinstance(column.type, OTHER_THAN_GIVEN):
            continue
        read = column.type.dialect_impl(dialect).result_processor(dialect, None)
        steps = [step for step in (read, _converter(column)) if step is not None]
        if steps:
            convert = partial(_in_steps, steps)
            # Many rows have the same time.
            is_moment = isinstance(column.type, UtcDateTime)
            converted.append((place, lru_cache(maxsize=MOMENTS_KEPT)(convert) if is_moment else convert))
    return converted


def _in_steps(steps: Sequence[Callable[[Any], Any]], value: object) -> object:
    for step in steps:
        value = step(value)
    return value


def driver_rows(session: Session, table: Table, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Rows of `plain_rows` in the format of the driver; many have the same time, which is converted once."""
    dialect = session.get_bind().dialect
    given = [_given(dialect, column) for column in table.columns]
    converted = [(place, convert) for place, convert in enumerate(given) if convert is not None]
    for row in rows:
        values = list(row)
        for place, convert in converted:
            if values[place] is not None:
                values[place] = convert(values[place])
        yield tuple(values)


def _given(dialect: Dialect, column: Column[Any]) -> Callable[[Any], object] | None:
    """What converts a JSON value of a column for the driver; None for numbers and texts, which stay as they are."""
    process = bind_processor(dialect, column)
    match column.type:
        case UtcDateTime():
            return lru_cache(maxsize=MOMENTS_KEPT)(lambda value: process(_read_moment(value)))
        case Date() | LargeBinary() | JSON():
            read = _reader(column)
            return lambda value: process(read(value))
        case _:
            return None


def as_stored(table: Table, row: Row) -> Row:
    """The stored form of a plain row; raises `InvalidValueError` for values that the table cannot hold.

    A missing column (the archive is older than the column) gets its default.
    """
    columns = _columns_to_read(table)
    if not row.keys() <= columns.keys():
        raise InvalidValueError("There is no column “%(column)s”.", column=min(row.keys() - columns.keys()))
    return {
        name: read(row[name]) if row.get(name) is not None else _stored_without_value(table.columns[name], row)
        for name, read in columns.items()
    }


@cache
def _columns_to_convert(table: Table) -> Sequence[tuple[str, Callable[[Any], str]]]:
    """The columns whose values JSON does not have, each with the function that converts them."""
    converted = [(column.name, _converter(column)) for column in table.columns]
    return [(name, plain) for name, plain in converted if plain is not None]


def _converter(column: Column[Any]) -> Callable[[Any], str] | None:
    match column.type:
        case UtcDateTime() | Date():
            return lambda value: cast("str", value.isoformat())
        case LargeBinary():
            return lambda value: base64.b64encode(value).decode("ascii")
        case _:
            return None


@cache
def _columns_to_read(table: Table) -> Mapping[str, Callable[[Any], object]]:
    """Column → function that converts its values, and raises `InvalidValueError`."""
    return {column.name: _checked_reader(column) for column in table.columns}


def _checked_reader(column: Column[Any]) -> Callable[[Any], object]:
    read, code, name = _reader(column), CODES.get(str(column)), column.name

    def checked(value: object) -> object:
        try:
            return read(value) if code is None else code(str(read(value))).value
        except (TypeError, ValueError, OverflowError, RecursionError, binascii.Error) as error:
            raise InvalidValueError("“%(column)s” has a value of the wrong type.", column=name) from error

    return checked


def _stored_without_value(column: Column[Any], row: Row) -> object:
    if column.name in row:
        if column.nullable:
            return None
        raise InvalidValueError("“%(column)s” is empty.", column=column.name)
    default: Any = column.default
    if default is not None:
        return default.arg(None) if default.is_callable else default.arg
    if column.nullable:
        return None
    raise InvalidValueError("“%(column)s” is missing.", column=column.name)


def _reader(column: Column[Any]) -> Callable[[Any], object]:
    match column.type:
        case UtcDateTime():
            return _read_moment
        case Date():
            return date.fromisoformat
        case LargeBinary():
            return lambda value: base64.b64decode(value, validate=True)
        case JSON():
            return _read_json
        case kind:
            return partial(_of_kind, kind=kind.python_type)


def _read_moment(value: str) -> datetime:
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError(value)
    # `datetime.min` and `datetime.max` may overflow when converted to UTC.
    return at.astimezone(UTC)


def _read_json(value: object) -> object:
    if not isinstance(value, dict | list):
        raise TypeError(value)
    _refuse_half_letters(json.dumps(value, ensure_ascii=False, allow_nan=False))
    return value


def _of_kind(value: object, kind: type) -> object:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is str and "\0" in cast("str", value)):
        raise TypeError(value)
    match value:
        case str():
            _refuse_half_letters(value)
        case float() if not math.isfinite(value):
            raise ValueError(value)
        case int() if abs(value) > GREATEST_NUMBER:
            raise OverflowError(value)
    return value


def _refuse_half_letters(text: str) -> None:
    """Raise `ValueError` for lone surrogates, which JSON can escape but UTF-8 cannot encode."""
    text.encode()


def for_driver(dialect: Dialect, table: Table) -> Callable[[Row], Row]:
    """What converts stored rows for `store_batch`, before the lock is taken; bytes stay bytes, which drivers take."""
    converted = []
    for column in table.columns:
        process = column.type.dialect_impl(dialect).bind_processor(dialect)
        if process is not None and not isinstance(column.type, LargeBinary):
            is_moment = isinstance(column.type, UtcDateTime)
            converted.append((column.name, lru_cache(maxsize=MOMENTS_KEPT)(process) if is_moment else process))
    return lambda row: row | {name: process(row[name]) for name, process in converted}
