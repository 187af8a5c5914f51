"""The leaderboard for observers, and for participants once its names are released: runs in time, live grades."""

from collections.abc import Sequence
from dataclasses import replace

from flask import render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, NotAllowedError
from annotator.storage import ScoresShown
from annotator.web.board_cells import cells
from annotator.web.context import database, the_place
from annotator.web.downloads import CSV, download
from annotator.web.error_pages import status_of
from annotator.web.live_scores import live_scores
from annotator.web.observing import policy_shown
from annotator.workflows import leaderboard, leaderboard_text
from annotator.workflows.leaderboard import EVERY_ROUND, Leaderboard, View

OFFERED_MEASURES = ("nDCG@10", "nDCG@20", "AP", "P@5", "P@10", "P@20", "R@100", "R@1000", "RR", "Rprec", "Bpref")


def page(slug: str, measures: Sequence[str]) -> ResponseReturnValue:
    """Every run, of participants in time, by these measures: `?sort=AP&letters=y`; without ways to other grades."""
    board, refused = None, None
    try:
        board = _board(slug, measures)
    except AnnotatorError as refusal:
        if isinstance(refusal, NotAllowedError):
            raise
        refused = refusal
    shown = render_template(
        "submissions/leaderboard.html",
        board=board,
        refused=refused,
        cells=cells,
        view=_view(),
        measures=measures,
        offered=OFFERED_MEASURES,
        rounds=board is not None and EVERY_ROUND in board.notices,
        helps=leaderboard.measure_help(board.measures) if board else {},
    )
    # That nothing is judged yet is no fault of the request.
    return shown if refused is None or isinstance(refused, ConflictError) else (shown, status_of(refused))


def file(slug: str, measures: Sequence[str]) -> ResponseReturnValue:
    """The same, comma-separated in full precision."""
    return download(leaderboard_text.leaderboard_csv(_board(slug, measures)), f"{slug}-leaderboard.csv", CSV)


def _board(slug: str, measures: Sequence[str]) -> Leaderboard:
    """Score the runs; raises `NotAllowedError` for participants unless the names are released."""
    observes = the_place().observes
    if not observes and the_place().sees is not ScoresShown.WHOLE:
        raise NotAllowedError("The organisers do not show participants the leaderboard, or do not show it yet.")
    before = None if observes else the_place().collection.scores_released_at
    with database().reading() as session:
        board = leaderboard.build_leaderboard(
            session, slug, measures, view=_view(), memory=live_scores(), before=before
        )
    return replace(board, policy=board.policy and policy_shown(board.policy))


def _view() -> View:
    """How it is to be sorted, and whether with letters; against a baseline participants test with the file."""
    sort = request.args.get("sort", "").strip()
    return View(sort=sort or None, letters=bool(request.args.get("letters")))
