"""The stored results of an analysed log, validation of results from an archive, and the facts of a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import isfinite
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from annotator.clicks.evaluation.comparison import comparison
from annotator.clicks.evaluation.comparison.comparison import ClickComparison
from annotator.clicks.evaluation.interleaving import interleaving_scores
from annotator.clicks.evaluation.interleaving.interleaving_scores import InterleavingResult
from annotator.clicks.evaluation.judgements.log_evidence import (
    LogEvidence,
    evidence_of_comparison,
    evidence_of_interleaving,
)
from annotator.clicks.evaluation.judgements.together import folded, topics_of_queries
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Dropped, Event
from annotator.clicks.evaluation.logs.column_mapping import DOCNO, PAGE, POSITION, QUERY, SESSION, TIME, USER, VARIANT
from annotator.errors import Sentence


class LogKind(StrEnum):
    """The kind of experiment: one variant each, or lists interleaved from several."""

    COMPARISON = "comparison"
    INTERLEAVING = "interleaving"


@dataclass(frozen=True)
class LogFindings:
    """The results for a log: a comparison or an interleaving."""

    comparison: ClickComparison | None = None
    interleaving: InterleavingResult | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)  # uncounted events of an interleaving, by reason

    @property
    def kind(self) -> LogKind:
        """The kind of the results."""
        return LogKind.INTERLEAVING if self.comparison is None else LogKind.COMPARISON

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants."""
        if self.comparison is not None:
            return self.comparison.names
        return () if self.interleaving is None else self.interleaving.runs

    @property
    def evidence(self) -> LogEvidence:
        """The evidence that is compared with judgements."""
        if self.comparison is not None:
            return evidence_of_comparison(self.comparison)
        return LogEvidence({}, (), ()) if self.interleaving is None else evidence_of_interleaving(self.interleaving)

    @property
    def dropped(self) -> int:
        """The number of events, or clicks of an interleaving, that are not counted."""
        if self.comparison is not None:
            return sum(self.comparison.dropped.values()) + self.comparison.other_events
        uncounted = 0 if self.interleaving is None else sum(self.interleaving.uncounted.values())
        return uncounted + sum(self.left_out.values())

    def only_of_topics(self, titles: Mapping[str, str]) -> "LogFindings":
        """Keep only the queries that match a topic of {number: title}, as other query strings are private."""
        known = topics_of_queries(titles)
        of_variants, of_lists = self.comparison, self.interleaving
        if of_variants is not None:
            kept = tuple(one for one in of_variants.queries if folded(one.query) in known)
            gone = len({one.query for one in of_variants.queries}) - len({one.query for one in kept})
            left_out = of_variants.queries_left_out + gone
            of_variants = replace(of_variants, queries=kept, queries_left_out=left_out)
        if of_lists is not None:
            asked = tuple(one for one in of_lists.queries if one.query is not None and folded(one.query) in known)
            of_lists = replace(of_lists, queries=asked)
        return LogFindings(of_variants, of_lists, self.left_out)

    def to_json(self) -> dict[str, Any]:
        """Serialise the findings to a JSON value."""
        return {
            "comparison": None if self.comparison is None else comparison.to_json(self.comparison),
            "interleaving": None if self.interleaving is None else interleaving_scores.to_json(self.interleaving),
            "left_out": dict(self.left_out),
        }


def findings_from_json(said: Mapping[str, Any]) -> LogFindings:
    """Rebuild findings from the value of `to_json`."""
    of_variants, of_lists = said["comparison"], said["interleaving"]
    return LogFindings(
        None if of_variants is None else comparison.from_json(of_variants),
        None if of_lists is None else interleaving_scores.from_json(of_lists),
        dict(said["left_out"]),
    )


def are_findings(options: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Tell whether `said` can be read as findings, everything in it of its kind, and `options` tell of the same log."""
    try:
        found = findings_from_json(said)
        tells_alike = options["kind"] == found.kind and tuple(options["variants"]) == found.variants
        names = all(isinstance(name, str) for name in (*options["files"], *found.variants))
        return tells_alike and names and len(found.variants) > 1 and _fits(LogFindings, found)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return False


def _fits(kind: Any, value: Any) -> bool:  # noqa: ANN401 - types and values are known at run time alone
    """Whether a value, with all its members, has the type of its field."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(_fits(one, value) for one in inner)
    if origin is not None:
        return _all_fit(origin, inner, value)
    if isinstance(value, Sentence):
        return isinstance(str(value), str)  # raises for a template with values that are missing
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        is_own = isinstance(value, kind)  # type: ignore[arg-type]  # a class
        return is_own and all(_fits(hints[field.name], getattr(value, field.name)) for field in fields(kind))
    if kind in {int, float}:
        return type(value) in {int, kind} and isfinite(value)
    return isinstance(value, kind)


def _all_fit(origin: object, inner: tuple[Any, ...], value: Any) -> bool:  # noqa: ANN401 - what JSON held
    """Whether the values of a tuple or a mapping fit."""
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        return isinstance(value, tuple) and len(kinds) == len(value) and all(map(_fits, kinds, value))
    return isinstance(value, Mapping) and all(
        _fits(inner[0], key) and _fits(inner[1], one) for key, one in value.items()
    )


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class VariantFacts:
    """The events of one variant in a log; the name is None for events without a variant."""

    variant: str | None
    users: int  # with this variant, perhaps with others too
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
    first: datetime | None  # None when the log has no times
    last: datetime | None
    variants: tuple[VariantFacts, ...]
    dropped: Mapping[Dropped, int]
    unsaid: tuple[str, ...]  # columns of the format that are empty on every line
    notices: tuple[Sentence, ...]  # the analyses that are not possible because of it


def facts_of(log: ClickLog) -> LogFacts:
    """Count the contents of a log; it must have an event, as every log that was read has."""
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
    is_there = np.zeros(count + 1, np.bool_)  # one more for `NOT_SAID`, the last index
    is_there[codes] = True
    return int(np.count_nonzero(is_there[:-1]))


def _moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _unsaid(log: ClickLog) -> tuple[str, ...]:
    is_present: Mapping[str, bool] = {
        TIME: log.has_times,
        USER: log.users > 0,
        SESSION: log.sessions > 0,
        QUERY: bool(log.queries),
        VARIANT: bool(log.variants),
        PAGE: _says(log.page),
        POSITION: _says(log.position),
        DOCNO: bool(log.docnos),
    }
    return tuple(column for column, said in is_present.items() if not said)


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
