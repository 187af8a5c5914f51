"""What participants see of the released leaderboard: their own runs, and no names of others."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from annotator.errors import AnnotatorError, ConflictError, NotAllowedError, NotFoundError
from annotator.evaluation.costs.report import CostReport, Question
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, LeaderboardRow
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage import ScoresShown
from annotator.storage.tables.runs import RunState
from annotator.web.collections.observer_policy import policy_shown, released_grades
from annotator.web.site.context import database, now, the_place
from annotator.web.site.memories import score_cache
from annotator.workflows.leaderboard import costs, leaderboard
from annotator.workflows.leaderboard.compared_runs import (
    JUDGED_BESIDE,
    ComparedScores,
    compare_on_board,
    one_measure,
)
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.leaderboard_standing import WITHOUT_TASK, Standing, standing
from annotator.workflows.leaderboard.team_scopes import Restoring, own_not_scored, scopes_of_team
from annotator.workflows.runs import runs
from annotator.workflows.runs.scoring_scope import ScopeChoices, scope_choices


@dataclass(frozen=True)
class OwnScores:
    """The leaderboard with only the team's runs from before the release; `too_late` is the number of later ones.

    One run, if any, is shown by topic. `standings` has each run by each measure, if it was wanted. `scopes` are the
    rounds and tasks with scores of the team's runs; those of `task`, by its key, are shown, and `without_task` is the
    number of runs that belong to no task.
    """

    board: Leaderboard
    too_late: int
    standing: Standing | None
    scopes: ScopeChoices
    standings: tuple[Standing, ...] = ()
    task: str | None = None
    without_task: int = 0


def own_scores(
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    run: str | None = None,
    measure: str | None = None,
    grades: GradesFrom = LIVE,
    with_all: bool = False,
    task_of: str | None = None,
    together: Sequence[str] = (),
) -> OwnScores:
    """Score all runs, so that every reader sees the same state, and return those of the team.

    One run (default: the first) is shown by topic, by one of the measures (default: the first); with `with_all` each
    run by each measure. `grades` may restrict the runs to one round and one task. In a collection with tasks it is by
    default that of `run` or of the run `task_of`, else the first in which the team has a run: the best of several tasks
    would show the scores of single teams. Raises `NotAllowedError` before the release, `NotFoundError` for a run of
    another team, for `run` and any of `together` that have no score there, and for a round or task without runs of the
    team, `InvalidValueError` for an unknown measure, and `ConflictError` while there are no grades.
    """
    team, released_at = _team_and_release()
    with database().reading() as session:
        every = runs.list_runs(session, slug, team=team, every=True)
        present = [one for one in every if one.state != RunState.REPLACED]
        of_team = scopes_of_team(session, slug, team, before=released_at)
        _require_round(grades.round, of_team.choices.rounds)
        grades = replace(grades, task=of_team.task_of(grades.task, grades.round, run or task_of))
        # Later runs are excluded: from their effect on scores, the grades of single documents could be inferred.
        board = leaderboard.build_leaderboard(
            session, slug, measures, grades=grades, cache=score_cache(), before=released_at
        )
    # The other notices are about other teams' runs and the judges.
    notices = (*board.of_scope, *board.of_sample)
    rows = tuple(_own(row) for row in board.rows if row.team == team)
    own = replace(board, rows=rows, notices=notices, policy=board.policy and policy_shown(board.policy))
    hidden = WITHOUT_TASK if grades.task is None and of_team.without_task else None
    wanted = {*together, *([run] if run and own.rows else [])}
    for tag in sorted(wanted - {row.tag for row in own.rows}):
        here = the_place().collection
        restoring = Restoring.at(here.submissions_until, is_closed=here.closed, now=now())
        raise own_not_scored(tag, present, released_at, grades.round, grades.task, restoring=restoring)
    found = standing(board, run or own.rows[0].tag, measure or own.measures[0], hidden=hidden) if own.rows else None
    wanted_all = [(row.tag, one) for row in own.rows for one in own.measures] if with_all else []
    standings = tuple(standing(board, tag, one, hidden=hidden) for tag, one in wanted_all)
    without_task = of_team.without_task if grades.task is not None else 0
    too_late = sum(one.uploaded_at >= released_at for one in present if one.state == RunState.IN_FORCE)
    return OwnScores(own, too_late, found, of_team.choices, standings, grades.task, without_task)


def _team_and_release() -> tuple[str, datetime]:
    """The team of the reader, and since when its scores are released."""
    team, released_at = the_place().team, the_place().collection.scores_released_at
    if team is None:
        raise NotFoundError("You belong to no team in this collection.")
    if released_at is None or the_place().sees is ScoresShown.NOTHING:
        raise NotAllowedError("The organisers have not released the scores yet.")
    return team, released_at


def compare_own_runs(
    slug: str, first: str, second: str, *, measure: str, seed: int, grades: GradesFrom = LIVE
) -> ComparedScores:
    """Compare two runs of the team by their released scores.

    Raises as `own_scores`, so that a run of another team is not told from an unknown one, and `InvalidValueError` for a
    run with itself, for a seed below 0 and for a name of several measures.
    """
    measures = [one_measure(measure), JUDGED_BESIDE]
    found = own_scores(slug, measures, grades=grades, task_of=first, together=(first, second))
    return compare_on_board(found.board, first, second, seed=seed)


def scopes_of_reader(slug: str) -> ScopeChoices:
    """The rounds and tasks whose leaderboard the caller may see.

    Participants, to whom the whole leaderboard is shown, see that of every task, but only of the rounds in which their
    team took part: for which it uploaded a run before the release.
    """
    place = the_place()
    released_at = place.collection.scores_released_at
    with database().reading() as session:
        every = scope_choices(session, slug)
        if place.organises or place.observes:
            return every
        if place.team is None or released_at is None:
            return replace(every, rounds=())
        of_team = scopes_of_team(session, slug, place.team, before=released_at)
    return replace(every, rounds=of_team.choices.rounds)


def require_round_of_reader(slug: str, number: int | None) -> None:
    """Raise `NotFoundError` for a round whose leaderboard the caller, a participant, may not see."""
    if number is not None and not (the_place().organises or the_place().observes):
        _require_round(number, scopes_of_reader(slug).rounds)


def _require_round(number: int | None, of_team: Collection[int]) -> None:
    if number is not None and number not in of_team:
        raise NotFoundError("Your team has no run with released scores in round %(number)d.", number=number)


def _own(row: LeaderboardRow) -> LeaderboardRow:
    """The row without its rank among all runs, which is shown only together with their names."""
    return row if the_place().sees is ScoresShown.WHOLE else replace(row, place=None)


def require_released_costs() -> None:
    """Raise `NotAllowedError` for participants who may not see the leaderboard, or not yet."""
    place = the_place()
    if not place.reads_results and place.sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")


def cost_board(slug: str, measure: str) -> tuple[Leaderboard | None, AnnotatorError | None]:
    """The runs scored by a measure, or the error when they cannot be scored yet."""
    place = the_place()
    before = None if place.reads_results else place.collection.scores_released_at
    grades = LIVE if place.organises else released_grades()
    try:
        board = database().read(build_leaderboard, slug, [measure], grades=grades, cache=score_cache(), before=before)
    except ConflictError as refusal:
        return None, refusal
    return replace(board, policy=board.policy and policy_shown(board.policy)), None


def cost_report(slug: str, board: Leaderboard | None, question: Question) -> CostReport:
    """The costs of every run with its score; for participants only of runs uploaded before the release."""
    place = the_place()
    before = None if place.reads_results else place.collection.scores_released_at
    return database().read(costs.build_costs, slug, board, question, before=before)
