"""Two runs of a leaderboard compared by the values that it has, which say nothing about single documents."""

import numpy as np

from annotator.errors import NotFoundError
from annotator.evaluation.inspection.scored_runs import JUDGED
from annotator.evaluation.inspection.two_runs import PairLook, RunValues, compare_values
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.significance.two_runs import FLIPS


def pair_on_board(board: Leaderboard, first: str, second: str, *, seed: int, flips: int = FLIPS) -> PairLook:
    """Compare two runs by the first measure of a leaderboard, which also has `JUDGED`; no documents are listed.

    Raises `NotFoundError` for a run that is not on it.
    """
    rows = {row.tag: row for row in board.rows}
    for tag in (first, second):
        if tag not in rows:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    one, other = rows[first], rows[second]
    measure, better = board.measures[0], board.directions[0]
    values = (_values(board, one), _values(board, other))
    compared = compare_values(measure, better, board.topics, *values, seed=seed, flips=flips)
    judged = board.measures.index(str(JUDGED))
    return PairLook(first, second, float(one.values[judged]), float(other.values[judged]), (compared,), ())


def _values(board: Leaderboard, row: LeaderboardRow) -> RunValues:
    return RunValues(row.values[0], np.array([row.by_topic[topic][0] for topic in board.topics], np.float64))
