"""What an overview paper shows of a leaderboard: the best run of each team, and the distribution of each topic."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.measures import Better


@dataclass(frozen=True)
class TopicSpread:
    """The distribution of all runs' values of the first measure for a topic, and the runs with the best value."""

    topic: str
    least: float
    first: float  # quartile
    median: float
    third: float  # quartile
    most: float
    best: tuple[str, ...]

    def best_value(self, better: Better) -> float:
        """The value of the best runs."""
        return self.least if better is Better.LESS else self.most


def topic_spreads(board: Leaderboard) -> tuple[TopicSpread, ...]:
    """The distribution of each scored topic, hardest first: by the median, ties by number."""
    spreads = [_spread(board, topic) for topic in board.topics] if board.rows else []
    sign = -1 if board.better is Better.LESS else 1
    return tuple(sorted(spreads, key=lambda one: (sign * one.median, natural_order(one.topic))))


def _spread(board: Leaderboard, topic: str) -> TopicSpread:
    values = [float(row.by_topic[topic][0]) for row in board.rows]
    least, first, median, third, most = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    top = min(values) if board.better is Better.LESS else max(values)
    best = (row.tag for row, value in zip(board.rows, values, strict=True) if value == top)
    return TopicSpread(topic, least, first, median, third, most, tuple(best))


def best_of_each_team(board: Leaderboard) -> tuple[LeaderboardRow, ...]:
    """The first run of each team on the leaderboard; a run without a team is a team of its own."""
    teams: dict[str, LeaderboardRow] = {}
    for row in board.rows:
        teams.setdefault(row.tag if row.team is None else f"team {row.team}", row)
    return tuple(teams.values())
