"""Whether it matters that judges differ: the ranking of the runs under each judge, each policy, and mixtures."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import number_given
from annotator.workflows.agreement.judge_effect import (
    USUAL_DRAWS,
    USUAL_MEASURE,
    USUAL_SEED,
    EffectRequest,
    JudgeEffect,
    PairEffect,
    judge_effect,
)

blueprint = Blueprint("judge_effect", __name__)

GREATEST_SEED = 10**18


@blueprint.get("/collections/<slug>/agreement/effect")
@collection_page(Role.ORGANISER)
@long_page("judge_effect.show")
def show(slug: str) -> ResponseReturnValue:
    """The effect by a measure, run by run for two judges: `?m=AP&topics=401,402&draws=1000&seed=1&first=A&second=B`."""
    found, refused = None, None
    try:
        wanted = _wanted()
        with database().reading() as session:
            found = judge_effect(session, slug, wanted)
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "agreement/judge_effect.html",
        found=found,
        refused=refused,
        pair=_pair(found) if found else None,
        given={
            "m": request.args.get("m") or USUAL_MEASURE,
            "topics": request.args.get("topics", ""),
            "draws": request.args.get("draws") or USUAL_DRAWS,
            "seed": request.args.get("seed") or USUAL_SEED,
        },
    )
    return page_or_refusal(page, refused)


def _wanted() -> EffectRequest:
    measure = request.args.get("m", "").strip() or USUAL_MEASURE
    topics = [number for part in request.args.get("topics", "").split(",") if (number := part.strip())]
    draws, seed = number_given("draws"), number_given("seed", most=GREATEST_SEED)
    return EffectRequest(
        measure, topics or None, USUAL_DRAWS if draws is None else draws, USUAL_SEED if seed is None else seed
    )


def _pair(found: JudgeEffect) -> PairEffect | None:
    """The two judges who were asked for by name, None without any such."""
    asked = (request.args.get("first"), request.args.get("second"))
    return next((pair for pair in found.pairs if (pair.first, pair.second) == asked), None)
