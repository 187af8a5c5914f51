"""The values of a row as JSON has them, and what may come back of them into a table."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import JSON, Column, Date, LargeBinary, Table

from annotator.errors import InvalidValueError
from annotator.storage.site.batches import Row
from annotator.storage.tables.collections import CollectionState, JudgingMode, ScoresShown
from annotator.storage.tables.columns import UtcDateTime
from annotator.storage.tables.judging import AssignmentState, CannotJudge, Purpose
from annotator.storage.tables.people import Role, UserKind
from annotator.storage.tables.pools import Showing
from annotator.storage.tables.runs import RunType
from annotator.storage.tables.topics import TopicState

# The widest column of whole numbers; of a narrower one PostgreSQL itself says so.
GREATEST_NUMBER = 2**63 - 1

# What the rest of the program takes for one of these.
CODES: Mapping[str, type[StrEnum]] = {
    "assignment.purpose": Purpose,
    "assignment.state": AssignmentState,
    "collection.judging_mode": JudgingMode,
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
    """A row as JSON has it: moments as ISO 8601, bytes as base64."""
    return {column.name: _plain(row[column.name]) for column in table.columns}


def as_stored(table: Table, row: Row) -> Row:
    """The row of which this is the plain form; raises `InvalidValueError` for what cannot stand in the table.

    A column that is not given, since the archive is older than the column, gets what a new row gets.
    """
    unknown = row.keys() - table.columns.keys()
    if unknown:
        raise InvalidValueError("There is no column “%(column)s”.", column=min(unknown))
    return {column.name: _stored(column, row) for column in table.columns}


def _plain(value: object) -> object:
    match value:
        case datetime() | date():
            return value.isoformat()
        case bytes() | memoryview():
            return base64.b64encode(value).decode("ascii")
        case _:
            return value


def _stored(column: Column[Any], row: Row) -> object:
    if column.name not in row:
        default: Any = column.default
        if default is not None:
            return default.arg(None) if default.is_callable else default.arg
        if column.nullable:
            return None
        raise InvalidValueError("“%(column)s” is missing.", column=column.name)
    value = row[column.name]
    if value is None:
        if column.nullable:
            return None
        raise InvalidValueError("“%(column)s” is empty.", column=column.name)
    try:
        read = _reader(column)(value)
        return read if (code := CODES.get(str(column))) is None else code(str(read)).value
    except (TypeError, ValueError, OverflowError, RecursionError, binascii.Error) as error:
        raise InvalidValueError("“%(column)s” is not of its kind.", column=column.name) from error


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
            return lambda value: _of_kind(value, kind.python_type)


def _read_moment(value: str) -> datetime:
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError(value)
    # The first and the last day of the calendar have hours that there are not everywhere.
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
    """`ValueError` for what no text of Unicode has, though JSON has a notation for it."""
    text.encode()
