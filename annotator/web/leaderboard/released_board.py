"""The released leaderboard for observers, and for participants if it includes names: runs submitted in time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, NotAllowedError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, View
from annotator.storage import ScoresShown
from annotator.web.collections.observer_policy import policy_shown, released_grades
from annotator.web.collections.scope_wanted import EVERY_RUN, ScopeWanted
from annotator.web.leaderboard.board_cells import SORTED_BY_SCRIPT, board_for_template
from annotator.web.leaderboard.own_scores import require_round_of_reader, scopes_of_reader
from annotator.web.site.context import database, the_place
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.memories import score_cache
from annotator.workflows.leaderboard import leaderboard

OFFERED_MEASURES = ("nDCG@10", "nDCG@20", "AP", "P@5", "P@10", "P@20", "R@100", "R@1000", "RR", "Rprec", "Bpref")


def page(slug: str, measures: Sequence[str]) -> ResponseReturnValue:
    """All runs, for participants those in time, by these measures: `?sort=AP&letters=y&round=2&residual=n&task=KEY`.

    Readers cannot choose other grades.
    """
    board, refused, scope = None, None, EVERY_RUN
    try:
        scope = ScopeWanted.of_request()
        board = _board(slug, measures, scope)
    except AnnotatorError as refusal:
        if isinstance(refusal, NotAllowedError):
            raise
        refused = refusal
    shown = render_template(
        "runs/submissions/leaderboard.html",
        **board_for_template(board),
        sort_link=lambda name: _sort_link(slug, measures, name, scope),
        refused=refused,
        view=_view(),
        measures=measures,
        offered=OFFERED_MEASURES,
        scopes=scopes_of_reader(slug),
        scope=scope,
        helps=leaderboard.measure_help(board.measures) if board else {},
    )
    # Missing judgements are not an error of the request.
    return shown if refused is None or isinstance(refused, ConflictError) else (shown, status_of(refused))


def file(slug: str, measures: Sequence[str]) -> ResponseReturnValue:
    """The released leaderboard as CSV in full precision."""
    board = _board(slug, measures, ScopeWanted.of_request())
    return download(leaderboard.leaderboard_csv(board), f"{slug}-leaderboard.csv", CSV)


def _board(slug: str, measures: Sequence[str], scope: ScopeWanted) -> Leaderboard:
    """Score the runs; for participants raises `NotAllowedError` unless names are released.

    Raises `NotFoundError` for a round in which a participant's team took no part.
    """
    observes = the_place().observes
    if not observes and the_place().sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")
    require_round_of_reader(slug, scope.round)
    before = None if observes else the_place().collection.scores_released_at
    grades = released_grades(scope.round, residual=scope.residual, task=scope.task)
    board = database().read(
        leaderboard.build_leaderboard, slug, measures, grades=grades, view=_view(), cache=score_cache(), before=before
    )
    return replace(board, policy=board.policy and policy_shown(board.policy))


def _sort_link(slug: str, measures: Sequence[str], name: str, scope: ScopeWanted) -> str:
    letters = "y" if _view().letters else None
    values: dict[str, Any] = {"m": measures, "letters": letters, "sort": name, **scope.query}
    return url_for("leaderboard.show", slug=slug, **values)


def _view() -> View:
    """The sort order, and whether to show letters; participants test against a baseline with the CSV file."""
    sort = request.args.get("sort", "").strip()
    sort = "" if sort.startswith(SORTED_BY_SCRIPT) else sort
    return View(sort=sort or None, letters=bool(request.args.get("letters")))
