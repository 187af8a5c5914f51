"""Pooling strategies compared on the judgements of the collection: relevant documents found against judgements made."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError
from annotator.evaluation.stopping.stopping_rules import USUAL_SETTINGS, StoppingSettings
from annotator.evaluation.stopping.stopping_simulation import USUAL_SAMPLE_SHARE, StoppingTrial
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.background import long_page
from annotator.web.site.context import database, now, settings
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.query_string import number_given, seed_given, share_given
from annotator.workflows.pools.pool_replay import Replay, is_long_replay, replay_choices
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
    """The simulation of several strategies: `?strategy=depth&strategy=rrf&start_depth=10&seed=1&stopping=1`."""
    found, refused = None, None
    names = request.args.getlist("strategy") or list(USUAL_STRATEGIES)
    try:
        start_depth = number_given("start_depth") or 0
        found = _simulation(slug, names, start_depth, seed_given(USUAL_SEED), _trial())
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "pools/simulation.html",
        found=found,
        refused=refused,
        strategies=[name for name, one in list_strategies().items() if not one.needs_machine],
        names=names,
        given={
            "start_depth": request.args.get("start_depth", "0"),
            "seed": request.args.get("seed", USUAL_SEED),
            "stopping": "stopping" in request.args,
            "target": request.args.get("target", USUAL_SETTINGS.target),
            "sample_share": request.args.get("sample_share", USUAL_SAMPLE_SHARE),
        },
        **_replay(slug),
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/pool/replay")
@collection_page(Role.ORGANISER)
@long_page("pool_simulation.replay", is_long=lambda slug: database().read(is_long_replay, slug))
def replay(slug: str) -> ResponseReturnValue:
    """The choices of the newest adaptive version or sample, repeated; a worker does it where a classifier made many."""
    found, refused = None, None
    try:
        found = database().read(replay_choices, slug)
    except AnnotatorError as refusal:
        refused = refusal
    return page_or_refusal(render_template("pools/replay.html", replay=found, refused=refused), refused)


def _trial() -> StoppingTrial | None:
    """The stopping rules to try: `?stopping=1&target=0.8&sample_share=0.2`."""
    if "stopping" not in request.args:
        return None
    settings_of_rules = StoppingSettings(target=share_given("target", USUAL_SETTINGS.target))
    return StoppingTrial(settings_of_rules, share_given("sample_share", USUAL_SAMPLE_SHARE))


def _simulation(slug: str, names: list[str], start_depth: int, seed: int, trial: StoppingTrial | None) -> Simulation:
    return database().read(
        simulate_on_qrels,
        slug,
        names=names,
        start_depths=(start_depth,),
        stopping=trial,
        seed=seed,
        made_at=now(),
        unpacked_limit=settings().unpacked_limit,
    )


def _replay(slug: str) -> dict[str, Replay | bool | None]:
    """The replayed choices of the newest adaptive pool, and whether it takes so long that they have their own page."""
    try:
        if database().read(is_long_replay, slug):
            return {"replay": None, "is_long_replay": True}
        return {"replay": database().read(replay_choices, slug), "is_long_replay": False}
    except AnnotatorError:
        return {"replay": None, "is_long_replay": False}
