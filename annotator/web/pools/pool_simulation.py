"""Pooling strategies compared on the judgements of the collection: relevant documents found against judgements made."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database, now, settings
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import number_given, seed_given
from annotator.workflows.pools.pool_replay import Replay, replay_choices
from annotator.workflows.pools.pool_simulation import MOST_LISTS_AT_ONCE, Simulation
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.qrels.simulation_on_qrels import simulate_on_qrels

blueprint = Blueprint("pool_simulation", __name__)

# The recommended ones and a common adaptive one.
USUAL_STRATEGIES = ("depth", "rrf", "maxmean", "hedge")
USUAL_SEED = 1


@blueprint.get("/collections/<slug>/pool/simulation")
@collection_page(Role.ORGANISER)
@long_page("pool_simulation.show", MOST_LISTS_AT_ONCE)
def show(slug: str) -> ResponseReturnValue:
    """The simulation of several strategies: `?strategy=depth&strategy=rrf&start_depth=10&seed=1`."""
    found, refused = None, None
    names = request.args.getlist("strategy") or list(USUAL_STRATEGIES)
    try:
        start_depth = number_given("start_depth") or 0
        found = _simulation(slug, names, start_depth, seed_given(USUAL_SEED))
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "pools/simulation.html",
        found=found,
        refused=refused,
        strategies=list_strategies(),
        names=names,
        given={"start_depth": request.args.get("start_depth", "0"), "seed": request.args.get("seed", USUAL_SEED)},
        replay=_replay(slug),
    )
    return page_or_refusal(page, refused)


def _simulation(slug: str, names: list[str], start_depth: int, seed: int) -> Simulation:
    return database().read(
        simulate_on_qrels,
        slug,
        names=names,
        start_depths=(start_depth,),
        seed=seed,
        made_at=now(),
        unpacked_limit=settings().unpacked_limit,
    )


def _replay(slug: str) -> Replay | None:
    """The replayed choices of the newest adaptive pool; None without one."""
    try:
        return database().read(replay_choices, slug)
    except AnnotatorError:
        return None
