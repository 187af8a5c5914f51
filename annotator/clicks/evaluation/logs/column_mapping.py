"""Mapping of a log in another format: other column names, other event names, other shapes, fewer columns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from annotator.clicks.evaluation.logs.click_log import Event
from annotator.errors import InvalidValueError

# The columns of a line, by the names of the format.
TIME, USER, SESSION, QUERY, VARIANT = "time", "user", "session", "query", "variant"
PAGE, POSITION, DOCNO, EVENT, VALUE = "page", "position", "docno", "event", "value"
CLICK = "click"  # the column of a log of impressions that is 1 for a click
FIELDS = (TIME, USER, SESSION, QUERY, VARIANT, PAGE, POSITION, DOCNO, EVENT, VALUE)
EVENTS: Mapping[str, Event] = {event.name.lower(): event for event in Event}
FORMAT_ENDING = re.compile(r"\.(csv|tsv|txt|log|jsonl|ndjson|json)$", re.IGNORECASE)
PACKED_ENDING = re.compile(r"\.gz$", re.IGNORECASE)


@dataclass(frozen=True)
class LogMapping:
    """The differences of a log from the format; none by default."""

    columns: Mapping[str, str] = field(default_factory=dict)  # {column of the format: column of the log}
    events: Mapping[str, str] = field(default_factory=dict)  # {event of the log: event of the format}
    click_column: str | None = None  # each line is an impression, and this column is 1 if it was clicked, else 0
    variant_from_name: bool = False  # the variant is the file name without folder, .gz, and .csv or the like
    drops_bad_lines: bool = False  # bad lines are counted and left out, and the log is not refused

    def fields(self) -> Mapping[str, str]:
        """The columns to read: {name in the format: name in the log}."""
        names = {name: self.columns.get(name, name) for name in FIELDS}
        if self.variant_from_name:
            del names[VARIANT]
        if self.click_column is not None:
            del names[EVENT], names[VALUE]
            names[CLICK] = self.click_column
        return names

    def event_names(self) -> Mapping[str, Event]:
        """The code of each event, by the name in the log."""
        return {**EVENTS, **{name: EVENTS[event] for name, event in self.events.items()}}


USUAL_MAPPING = LogMapping()


def parse_mapping(
    columns: Sequence[str] = (),
    events: Sequence[str] = (),
    *,
    click_column: str | None = None,
    variant_from_name: bool = False,
    drops_bad_lines: bool = False,
) -> LogMapping:
    """Parse a mapping: columns such as `user=visitor_id`, events such as `impression=view`.

    Raises `InvalidValueError` for a malformed pair, for an unknown column or event, for a duplicate,
    and for options that contradict each other.
    """
    by_column = _columns(columns)
    if variant_from_name and VARIANT in by_column:
        raise InvalidValueError("The variant comes from the file's name or from a column, not from both.")
    if click_column is not None and (events or {EVENT, VALUE} & by_column.keys()):
        raise InvalidValueError("Where lines have a column of clicks, they have no events and no values.")
    return LogMapping(by_column, _event_names(events), click_column or None, variant_from_name, drops_bad_lines)


def variant_of_name(name: str) -> str:
    """Return the file name without folder, `.gz`, and `.csv` or the like: `logs/new.csv.gz` has the variant `new`."""
    return FORMAT_ENDING.sub("", PACKED_ENDING.sub("", PurePath(name).name))


def _columns(pairs: Sequence[str]) -> Mapping[str, str]:
    columns: dict[str, str] = {}
    for column, name in _pairs(pairs):
        if column not in FIELDS:
            raise InvalidValueError(
                "A log has no column “%(column)s”; it has %(columns)s.", column=column, columns=", ".join(FIELDS)
            )
        if column in columns:
            raise InvalidValueError("The column “%(column)s” is given twice.", column=column)
        columns[column] = name
    return columns


def _event_names(pairs: Sequence[str]) -> Mapping[str, str]:
    """Map event names of the log to those of the format; several may map to the same one."""
    for event, _ in _pairs(pairs):
        if event not in EVENTS:
            raise InvalidValueError(
                "There is no event “%(event)s”; there are %(events)s.", event=event, events=", ".join(EVENTS)
            )
    return {name: event for event, name in _pairs(pairs)}


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        ours, equals, theirs = (part.strip() for part in text.partition("="))
        if not (ours and equals and theirs):
            raise InvalidValueError(
                "“%(text)s” is not of the form NAME=NAME, the format's name first, then the log's.", text=text
            )
        pairs.append((ours, theirs))
    return pairs
