"""The tables of what was found in a click log of either kind, as files have them."""

from collections.abc import Callable, Iterator, Mapping

from annotator.clicks.evaluation.comparison.comparison_tables import Part, Table, table_of
from annotator.clicks.evaluation.interleaving.interleaving_result import InterleavingResult
from annotator.clicks.evaluation.logs.log_findings import LogFindings
from annotator.evaluation.leaderboard.graded_runs import Cell

PAIRS = "pairs"
# Δ is above 0 where the first is preferred, as Chapelle et al. (TOIS 2012) have it.
WINS = ("first", "second", "wins_first", "wins_second", "ties", "delta_of_first")
Rows = Callable[[InterleavingResult], Iterator[list[Cell]]]
REASON_HEADINGS = ("reason", "count")


def finding_table(found: LogFindings, name: str) -> Table | None:
    """Headings and rows of the table of that name, in full precision; None where such a log has no such table."""
    if found.comparison is not None:
        return table_of(found.comparison, Part(name)) if name in list(Part) else None
    if found.interleaving is None:
        return None
    if name == Part.DROPPED:
        return REASON_HEADINGS, list(_dropped(found.interleaving, found.left_out))
    if name not in OF_LISTS:
        return None
    headings, rows = OF_LISTS[name]
    return headings, list(rows(found.interleaving))


def _variants(found: InterleavingResult) -> Iterator[list[Cell]]:
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


def _queries(found: InterleavingResult) -> Iterator[list[Cell]]:
    for one in found.queries:
        yield [one.query, one.first, one.second, one.wins_first, one.wins_second, one.ties, one.delta]


def _dropped(found: InterleavingResult, left_out: Mapping[str, int]) -> Iterator[list[Cell]]:
    """Clicks that count for no run, then events that count for nothing."""
    for uncounted, clicks in found.uncounted.items():
        yield [uncounted.value, clicks]
    for reason, events in left_out.items():
        yield [reason, events]


OF_LISTS: Mapping[str, tuple[tuple[str, ...], Rows]] = {
    Part.VARIANTS.value: (("run", "clicks"), _variants),
    PAIRS: (
        (
            *(*WINS, "user_delta_of_first", "low", "high", "test", "p", "p_holm", "significant"),
            *("bootstrap_low", "bootstrap_high", "bootstrap_p", "reason"),
        ),
        _pairs,
    ),
    Part.QUERIES.value: (("query", *WINS), _queries),
}
# Of a log of either kind.
FINDING_TABLES = tuple(dict.fromkeys([*map(str, Part), *OF_LISTS]))
