"""A comparison of two variants, and the findings of a click log, as tables for files and terminals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from annotator.clicks.evaluation.comparison.click_counts import PositionClicks
from annotator.clicks.evaluation.comparison.comparison import ClickComparison
from annotator.clicks.evaluation.interleaving.interleaving_scores import InterleavingResult
from annotator.clicks.evaluation.logs.log_findings import LogFindings
from annotator.evaluation.leaderboard.graded_runs import Cell
from annotator.evaluation.metrics.figures import SECOND_MINUS_FIRST


class ComparisonTable(StrEnum):
    """The tables of a comparison."""

    CHECKS = "checks"
    VARIANTS = "variants"
    MEASURES = "measures"
    DAYS = "days"
    POSITIONS = "positions"
    QUERIES = "queries"
    DOCUMENTS = "documents"
    DROPPED = "dropped"


Table = tuple[tuple[str, ...], list[list[Cell]]]

HEADINGS: Mapping[ComparisonTable, tuple[str, ...]] = {
    ComparisonTable.CHECKS: ("check", "state", "finding"),
    ComparisonTable.VARIANTS: ("variant", "users", "sessions", "events", "pages", "results", "clicks", "conversions"),
    ComparisonTable.MEASURES: (
        *(
            "measure",
            "first",
            "second",
            SECOND_MINUS_FIRST,
            "relative_to_first",
            "low",
            "high",
            "z",
            "p",
            "p_holm",
            "method",
        ),
        *("units_first", "units_second", "entries_first", "entries_second", "reason"),
    ),
    ComparisonTable.DAYS: ("measure", "variant", "day", "value", "low", "high", "entries"),
    ComparisonTable.POSITIONS: ("variant", "position", "shown", "clicked", "ctr"),
    ComparisonTable.QUERIES: ("query", "variant", "views", "top_clicks", "ctr_at_1"),
    ComparisonTable.DOCUMENTS: ("query", "variant", "docno", "clicks"),
    ComparisonTable.DROPPED: ("reason", "events"),
}


def table_of(comparison: ClickComparison, part: ComparisonTable) -> Table:
    """Headings and rows of a part; differences are second variant minus first."""
    return HEADINGS[part], list(ROWS[part](comparison))


def position_table(positions: Sequence[PositionClicks]) -> Table:
    """Headings and rows of the table of clicks by position."""
    return HEADINGS[ComparisonTable.POSITIONS], [
        [one.variant, one.position, one.shown, one.clicked, one.rate] for one in positions
    ]


def _checks(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.checks:
        yield [one.kind.value, one.state.value, str(one.sentence)]


def _variants(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.variants:
        yield [one.name, one.users, one.sessions, one.events, one.pages, one.results, one.clicks, one.conversions]


def _measures(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.measures:
        tested = (one.low, one.high, one.z, one.p, one.p_corrected, None if one.method is None else one.method.value)
        counts = (one.first_units, one.second_units, one.first_entries, one.second_entries)
        reason = None if one.reason is None else str(one.reason.sentence)
        yield [one.measure.value, one.first, one.second, one.difference, one.relative, *tested, *counts, reason]


def _days(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.days:
        yield [one.measure.value, one.variant, one.day, one.value, one.low, one.high, one.entries]


def _positions(comparison: ClickComparison) -> Iterator[list[Cell]]:
    yield from position_table(comparison.positions)[1]


def _queries(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.queries:
        yield [one.query, one.variant, one.views, one.top_clicks, one.ctr_at_1]


def _documents(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for one in comparison.queries:
        for docno, clicks in one.clicked:
            yield [one.query, one.variant, docno, clicks]


def _dropped(comparison: ClickComparison) -> Iterator[list[Cell]]:
    for reason, events in comparison.dropped.items():
        yield [reason, events]


ROWS: Mapping[ComparisonTable, Callable[[ClickComparison], Iterator[list[Cell]]]] = {
    ComparisonTable.CHECKS: _checks,
    ComparisonTable.VARIANTS: _variants,
    ComparisonTable.MEASURES: _measures,
    ComparisonTable.DAYS: _days,
    ComparisonTable.POSITIONS: _positions,
    ComparisonTable.QUERIES: _queries,
    ComparisonTable.DOCUMENTS: _documents,
    ComparisonTable.DROPPED: _dropped,
}


PAIRS = "pairs"
# Δ > 0 if the first is preferred, as in Chapelle et al. (TOIS 2012).
WINS = ("first", "second", "wins_first", "wins_second", "ties", "delta_of_first")
Rows = Callable[[InterleavingResult], Iterator[list[Cell]]]
REASON_HEADINGS = ("reason", "count")


def finding_table(found: LogFindings, name: str) -> Table | None:
    """Headings and rows of the table of that name, in full precision; None if this kind of log has no such table."""
    if found.comparison is not None:
        return table_of(found.comparison, ComparisonTable(name)) if name in list(ComparisonTable) else None
    if found.interleaving is None:
        return None
    if name == ComparisonTable.DROPPED:
        return REASON_HEADINGS, list(_dropped_findings(found.interleaving, found.left_out))
    if name not in OF_LISTS:
        return None
    headings, rows = OF_LISTS[name]
    return headings, list(rows(found.interleaving))


def _variant_findings(found: InterleavingResult) -> Iterator[list[Cell]]:
    for run, clicks in zip(found.runs, found.clicks, strict=True):
        yield [run, clicks]


def _pairs(found: InterleavingResult) -> Iterator[list[Cell]]:
    for one in found.pairs:
        drawn = one.bootstrap
        yield [
            *(one.first, one.second, one.wins_first, one.wins_second, one.ties, one.delta),
            *(one.user_delta, one.low, one.high, one.test and one.test.value, one.p, one.p_holm, one.is_significant),
            *((None, None, None) if drawn is None else (drawn.low, drawn.high, drawn.p)),
            " ".join(str(reason.sentence) for reason in (one.no_interval, one.no_p) if reason is not None) or None,
        ]


def _query_findings(found: InterleavingResult) -> Iterator[list[Cell]]:
    for one in found.queries:
        yield [one.query, one.first, one.second, one.wins_first, one.wins_second, one.ties, one.delta]


def _dropped_findings(found: InterleavingResult, left_out: Mapping[str, int]) -> Iterator[list[Cell]]:
    """Yield rows of clicks credited to no run, then of events that are not counted."""
    for uncounted, clicks in found.uncounted.items():
        yield [uncounted.value, clicks]
    for reason, events in left_out.items():
        yield [reason, events]


OF_LISTS: Mapping[str, tuple[tuple[str, ...], Rows]] = {
    ComparisonTable.VARIANTS.value: (("run", "clicks"), _variant_findings),
    PAIRS: (
        (
            *(*WINS, "user_delta_of_first", "low", "high", "test", "p", "p_holm", "significant"),
            *("bootstrap_low", "bootstrap_high", "bootstrap_p", "reason"),
        ),
        _pairs,
    ),
    ComparisonTable.QUERIES.value: (("query", *WINS), _query_findings),
}
# Tables of logs of both kinds.
FINDING_TABLES = tuple(dict.fromkeys([*map(str, ComparisonTable), *OF_LISTS]))
