"""Topics that might better be dropped, and what the leaderboard would be without them."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard_making import DroppingEffect
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.qrels.topic_flags import TOO_RELEVANT_PERCENT
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.context import database
from annotator.web.site.error_pages import status_of
from annotator.web.site.offered_measures import OFFERED_MEASURES
from annotator.web.site.score_cache import score_cache
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.topics import topics

blueprint = Blueprint("topic_flags", __name__)


@dataclass(frozen=True)
class Effect:
    """The effect of dropping, or why there is none to show."""

    found: DroppingEffect | None
    refusal: AnnotatorError | None = None


@blueprint.get("/collections/<slug>/topic-flags")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The flagged topics, and the effect of dropping those chosen (`?numbers=7&m=AP`) or all that are certain."""
    to_come = choices_to_come(slug)
    with database().reading() as session:
        flagged = topics.flagged_topics(session, slug, to_come=to_come)
    measure = request.args.get("m", "").strip() or DEFAULT_MEASURES[0]
    chosen = request.args.getlist("numbers")
    if not chosen and "m" not in request.args:
        chosen = [flag.topic.number for flag in flagged if flag.is_final]
    effect = _effect(slug, measure, chosen)
    # That there is nothing to compare yet is no fault of the request.
    is_possible = effect.refusal is None or isinstance(effect.refusal, ConflictError)
    page = render_template(
        "topics/flags.html",
        flagged=flagged,
        chosen=chosen,
        measure=measure,
        reason=request.args.get("reason", ""),
        offered=OFFERED_MEASURES,
        too_relevant_percent=TOO_RELEVANT_PERCENT,
        effect=effect,
    )
    return page if effect.refusal is None or is_possible else (page, status_of(effect.refusal))


def _effect(slug: str, measure: str, chosen: Sequence[str]) -> Effect:
    if not chosen:
        return Effect(None)
    try:
        with database().reading() as session:
            board = leaderboard.build_leaderboard(session, slug, [measure], cache=score_cache())
        return Effect(leaderboard.effect_on_leaderboard(board, chosen))
    except (InvalidValueError, NotFoundError, ConflictError) as refusal:
        return Effect(None, refusal)
