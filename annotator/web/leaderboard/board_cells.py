"""The cells of a leaderboard row."""

from typing import NamedTuple

from annotator.evaluation.leaderboard.leaderboard import ENOUGH_JUDGED, LeaderboardRow
from annotator.web.site.formatting import score


class Cell(NamedTuple):
    """A cell of the table; empty texts are not shown."""

    value: str
    stars: str
    interval: str
    judged: str
    low: bool


def cells(row: LeaderboardRow) -> list[Cell]:
    """A run's values with intervals and marks, formatted in Python because a page has thousands."""
    columns = zip(row.values, row.stars, row.intervals, row.judged, strict=True)
    return [
        Cell(
            score(value),
            stars,
            f"{interval.bounds[0]:.4f}–{interval.bounds[1]:.4f}" if interval and interval.bounds else "",  # noqa: RUF001 - an interval is written with a dash
            ""
            if judged is None
            else f"{judged_percent(judged)} %"
            if judged >= ENOUGH_JUDGED
            else f"▼ {judged_percent(judged)} %",
            judged is not None and judged < ENOUGH_JUDGED,
        )
        for value, stars, interval, judged in columns
    ]


def judged_percent(share: float) -> str:
    """A share as percentage, rounded as in the report; 100.0 only for all."""
    return f"{100 if share == 1 else min(100 * share, 99.9):.1f}"
