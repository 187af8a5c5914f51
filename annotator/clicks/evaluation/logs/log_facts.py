"""What a log holds: how much of it, from when to when, and what it does not say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Dropped, Event
from annotator.clicks.evaluation.logs.column_mapping import DOCNO, PAGE, POSITION, QUERY, SESSION, TIME, USER, VARIANT
from annotator.errors import Sentence

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class VariantFacts:
    """How much of a log is of one variant; None is of what names none."""

    variant: str | None
    users: int  # that were in it, perhaps among others
    sessions: int
    events: Mapping[str, int]  # by the name of the event


@dataclass(frozen=True)
class LogFacts:
    """The size and coverage of a log."""

    lines: int
    events: int
    users: int
    sessions: int
    queries: int
    documents: int
    first: datetime | None  # None when the log does not say when
    last: datetime | None
    variants: tuple[VariantFacts, ...]
    dropped: Mapping[Dropped, int]
    unsaid: tuple[str, ...]  # columns of the format that are empty on every line
    notices: tuple[Sentence, ...]  # what cannot be computed because of it


def facts_of(log: ClickLog) -> LogFacts:
    """Count what a log holds; it must have an event, as every log that was read has."""
    variants = tuple(_of_variant(log, code) for code in range(NOT_SAID, len(log.variants)))
    with_events = tuple(one for one in variants if one.variant is not None or any(one.events.values()))
    return LogFacts(
        lines=log.lines,
        events=log.event.size,
        users=log.users,
        sessions=log.sessions,
        queries=len(log.queries),
        documents=len(log.docnos),
        first=_moment(int(log.times[0])) if log.has_times else None,
        last=_moment(int(log.times[-1])) if log.has_times else None,
        variants=with_events,
        dropped=log.dropped,
        unsaid=_unsaid(log),
        notices=tuple(_notices(log)),
    )


def _of_variant(log: ClickLog, code: int) -> VariantFacts:
    rows = log.variant == code
    counts = np.bincount(log.event[rows], minlength=len(Event)).tolist()
    return VariantFacts(
        variant=None if code == NOT_SAID else log.variants[code],
        users=_distinct(log.user[rows], log.users),
        sessions=_distinct(log.session[rows], log.sessions),
        events={event.name.lower(): counts[event] for event in Event},
    )


def _distinct(codes: Codes, count: int) -> int:
    is_there = np.zeros(count + 1, np.bool_)  # one more for `NOT_SAID`, which is the last
    is_there[codes] = True
    return int(np.count_nonzero(is_there[:-1]))


def _moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _unsaid(log: ClickLog) -> tuple[str, ...]:
    is_said: Mapping[str, bool] = {
        TIME: log.has_times,
        USER: log.users > 0,
        SESSION: log.sessions > 0,
        QUERY: bool(log.queries),
        VARIANT: bool(log.variants),
        PAGE: _says(log.page),
        POSITION: _says(log.position),
        DOCNO: bool(log.docnos),
    }
    return tuple(column for column, said in is_said.items() if not said)


def _says(codes: Codes) -> bool:
    return bool((codes != NOT_SAID).any())


def _notices(log: ClickLog) -> Sequence[Sentence]:
    counts = np.bincount(log.event, minlength=len(Event))
    notices = []
    if not counts[Event.CLICK]:
        notices.append(Sentence("The log has no click: no variant can be told to be the better one."))
    if not counts[Event.IMPRESSION]:
        notices.append(
            Sentence("The log has no impression: what was clicked can be counted, but not how often of what was shown.")
        )
    if not log.variants:
        notices.append(Sentence("No line names a variant: there is nothing to compare."))
    elif len(log.variants) == 1:
        notices.append(
            Sentence("The log has one variant, %(variant)s: there is nothing to compare.", {"variant": log.variants[0]})
        )
    return notices
