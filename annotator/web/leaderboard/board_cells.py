"""The columns and cells of a leaderboard, formatted in Python because a page has thousands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotator.evaluation.leaderboard.leaderboard import ENOUGH_JUDGED, Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.measures import Better
from annotator.web.site.formatting import score, signed

WIDTH = 100  # units of the line below a value, from 0 to the greatest upper end of its column
DIGITS = 4
# Beginnings of the names of columns that only the script sorts by.
SORTED_BY_SCRIPT = ("type", "difference", "letters", "judged-")
FIRST_CLICK = {Better.MORE: "descending", Better.LESS: "ascending", Better.NEITHER: "descending"}


class MeasureColumn(NamedTuple):
    """A measure: its place on the board, the first order of its sorting, and the baseline's value."""

    name: str
    at: int
    first: str
    has_intervals: bool
    widest: float  # the greatest upper end
    reference: float | None

    @property
    def is_drawn(self) -> bool:
        """Whether its intervals can be drawn: they begin at 0 or above."""
        return self.has_intervals and self.widest > 0


class JudgedColumn(NamedTuple):
    """A share of judged documents: its name, its depth, and the place of a measure that it stands beside."""

    name: str
    depth: int
    beside: int
    is_chosen: bool  # shown unless the reader chooses otherwise


@dataclass(frozen=True)
class BoardColumns:
    """The columns of a leaderboard: measures, each share of judged documents once, and the compared measure."""

    measures: Sequence[MeasureColumn]
    judged: Sequence[JudgedColumn]
    shown: MeasureColumn | None  # sorts the rows, or else is the first: in the picture, and compared with the baseline
    baseline: LeaderboardRow | None

    @property
    def is_compared(self) -> bool:
        """Whether there is a column of differences from the baseline."""
        return self.baseline is not None and self.shown is not None


class Cell(NamedTuple):
    """A value: as shown, exact, with its stars, and its interval with the place of the line that shows it."""

    value: str
    exact: str
    stars: str
    low: str
    high: str
    line: tuple[str, str] | None  # where it begins, and its length
    middle: str


class JudgedCell(NamedTuple):
    """A share of judged documents, and how many are unjudged."""

    share: str
    exact: str
    is_low: bool
    unjudged: int


def board_columns(board: Leaderboard) -> BoardColumns:
    """The columns of a leaderboard; a requested Judged@k that stands beside another measure is not repeated."""
    judged = {name: index for index, name in reversed(list(enumerate(board.judged_by))) if name is not None}
    named = {run.tag: run for run in board.rows}
    baseline = named.get(board.view.baseline or "")
    measures = [
        _measure_column(board, index, baseline) for index, name in enumerate(board.measures) if name not in judged
    ]
    shown = next((one for one in measures if one.name == board.sorted_by), measures[0] if measures else None)
    usual = {*board.measures, board.judged_by[shown.at] if shown else None}
    beside = [JudgedColumn(name, int(name.partition("@")[2]), index, name in usual) for name, index in judged.items()]
    return BoardColumns(measures, sorted(beside, key=lambda column: column.depth), shown, baseline)


def board_for_template(board: Leaderboard | None) -> dict[str, object]:
    """What `leaderboard/_board.html` draws a leaderboard with."""
    columns = None if board is None else board_columns(board)
    return {
        "board": board,
        "columns": columns,
        "measure_cells": measure_cells,
        "judged_cells": judged_cells,
        "difference": difference,
    }


def _measure_column(board: Leaderboard, index: int, baseline: LeaderboardRow | None) -> MeasureColumn:
    bounds = [interval.bounds for row in board.rows if (interval := row.intervals[index]) and interval.bounds]
    return MeasureColumn(
        name=board.measures[index],
        at=index,
        first=FIRST_CLICK[board.directions[index]],
        has_intervals=bool(bounds),
        widest=max((high for _, high in bounds), default=0.0),
        reference=None if baseline is None else baseline.values[index],
    )


def measure_cells(row: LeaderboardRow, columns: BoardColumns) -> list[tuple[MeasureColumn, Cell]]:
    """A run's values, one a column."""
    return [(column, _cell(row, column)) for column in columns.measures]


def _cell(row: LeaderboardRow, column: MeasureColumn) -> Cell:
    value, interval = row.values[column.at], row.intervals[column.at]
    exact = f"{value:.12g}"
    if interval is None or not interval.bounds:
        return Cell(score(value), exact, row.stars[column.at], "", "", None, "")
    low, high = interval.bounds
    line = None
    if column.is_drawn and low >= 0:
        line = (f"{WIDTH * low / column.widest:.1f}", f"{WIDTH * (high - low) / column.widest:.1f}")
    middle = f"{WIDTH * value / column.widest:.1f}" if line else ""
    return Cell(score(value), exact, row.stars[column.at], f"{low:.4f}", f"{high:.4f}", line, middle)


def judged_cells(row: LeaderboardRow, columns: BoardColumns) -> list[tuple[JudgedColumn, JudgedCell]]:
    """A run's shares of judged documents, one a column."""
    return [(column, _judged_cell(row, column)) for column in columns.judged]


def _judged_cell(row: LeaderboardRow, column: JudgedColumn) -> JudgedCell:
    share = row.judged[column.beside] or 0.0
    unjudged = row.unjudged[column.beside] if row.unjudged else None
    return JudgedCell(f"{judged_percent(share)} %", f"{share:.6g}", share < ENOUGH_JUDGED, unjudged or 0)


def difference(row: LeaderboardRow, columns: BoardColumns) -> str:
    """A run's value less the baseline's, by the compared measure; empty for the baseline itself."""
    if columns.baseline is None or columns.shown is None or row.tag == columns.baseline.tag:
        return ""
    at = columns.shown.at
    return signed(row.values[at] - columns.baseline.values[at], DIGITS)


def judged_percent(share: float) -> str:
    """A share as percentage, rounded as in the report; 100.0 only for all."""
    return f"{100 if share == 1 else min(100 * share, 99.9):.1f}"
