"""The report of costs, the same for pages and programs: who may read it, and by which scores."""

from dataclasses import replace

from annotator.errors import AnnotatorError, ConflictError, NotAllowedError
from annotator.evaluation.costs.report import CostReport, Question
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.storage import ScoresShown
from annotator.web.collections.observer_policy import policy_shown, released_grades
from annotator.web.site.context import database, the_place
from annotator.web.site.score_cache import score_cache
from annotator.workflows.leaderboard import costs
from annotator.workflows.leaderboard.grade_sources import LIVE
from annotator.workflows.leaderboard.leaderboard import build_leaderboard


def require_released_costs() -> None:
    """Raise `NotAllowedError` for participants who may not read the leaderboard, or not yet."""
    place = the_place()
    if not place.reads_results and place.sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")


def cost_board(slug: str, measure: str) -> tuple[Leaderboard | None, AnnotatorError | None]:
    """The runs scored by a measure, or why they cannot be scored yet."""
    place = the_place()
    before = None if place.reads_results else place.collection.scores_released_at
    grades = LIVE if place.organises else released_grades()
    try:
        with database().reading() as session:
            board = build_leaderboard(session, slug, [measure], grades=grades, cache=score_cache(), before=before)
    except ConflictError as refusal:
        return None, refusal
    return replace(board, policy=board.policy and policy_shown(board.policy)), None


def cost_report(slug: str, board: Leaderboard | None, question: Question) -> CostReport:
    """The costs of every run beside its score; for participants only of runs that were uploaded before the release."""
    place = the_place()
    before = None if place.reads_results else place.collection.scores_released_at
    with database().reading() as session:
        return costs.build_costs(session, slug, board, question, before=before)
