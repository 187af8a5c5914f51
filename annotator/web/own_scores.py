"""What participants see of the leaderboard once it is released: their own runs, and beside them no names."""

from dataclasses import dataclass, replace

from flask import request

from annotator.errors import NotFoundError, Sentence
from annotator.storage import ScoresShown
from annotator.web.context import database, the_place
from annotator.web.live_scores import live_scores
from annotator.workflows import leaderboard, runs
from annotator.workflows.leaderboard import EVERY_ROUND, Leaderboard, LeaderboardRow
from annotator.workflows.leaderboard_standing import Standing, standing


@dataclass(frozen=True)
class OwnScores:
    """The leaderboard without the runs of others and those that came after the release; how many these are.

    One run is shown topic by topic, unless there is none.
    """

    board: Leaderboard
    too_late: int
    standing: Standing | None


def own_scores(slug: str) -> OwnScores:
    """Score every run, whoever asks, so that all see one state, and leave the team's; `?run=` and `?m=` choose one.

    Raises `NotFoundError` before the release and for a run that is not the team's, `ConflictError` while there is
    nothing to score against.
    """
    team, released_at = the_place().team, the_place().collection.scores_released_at
    if team is None:
        raise NotFoundError("You belong to no team in this collection.")
    if released_at is None or the_place().sees is ScoresShown.NOTHING:
        raise NotFoundError("The organisers have not released the scores yet.")
    with database().reading() as session:
        # Later runs have no part in it: from what they change, the grades of single documents could be found out.
        board = leaderboard.build_leaderboard(session, slug, memory=live_scores(), before=released_at)
        sent = runs.list_runs(session, slug, team=team)
    in_time = {run.tag for run in sent if run.uploaded_at < released_at}
    own = replace(board, rows=tuple(_own(row) for row in board.rows if row.team == team), notices=_of_rounds(board))
    found = None
    if own.rows:
        tag, measure = request.args.get("run") or own.rows[0].tag, request.args.get("m") or own.measures[0]
        if tag not in in_time:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
        found = standing(board, tag, measure)
    return OwnScores(own, len(sent) - len(in_time), found)


def _of_rounds(board: Leaderboard) -> tuple[Sentence, ...]:
    """What is said of rounds; the other notices tell of other teams' runs and of the judges."""
    return (EVERY_ROUND,) if EVERY_ROUND in board.notices else ()


def _own(row: LeaderboardRow) -> LeaderboardRow:
    """The same; its place among all runs is told only with their names."""
    return row if the_place().sees is ScoresShown.WHOLE else replace(row, place=None)
