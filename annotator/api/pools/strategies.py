"""Pooling strategies: what there is, how they would have done on the judgements, and whether a pool kept to its own."""

from dataclasses import asdict

from marshmallow import Schema, fields, validate

from annotator.api.pools.pool import resource
from annotator.api.site.access import READ, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Text, counted, one_of
from annotator.evaluation.stopping.stopping_rules import USUAL_SETTINGS, StoppingSettings
from annotator.evaluation.stopping.stopping_simulation import USUAL_SAMPLE_SHARE, StoppingTrial
from annotator.storage.pools.pools import GREATEST_SEED
from annotator.web.site.context import database, now, settings
from annotator.workflows.people.tokens import Scope
from annotator.workflows.pools.pool_replay import is_long_replay, replay_choices
from annotator.workflows.pools.pool_simulation import MOST_LISTS_AT_ONCE, USUAL_START_DEPTHS, SimulationPart
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.qrels.simulation_on_qrels import simulate_on_qrels

DIFFERENCES = "differences"
BETWEEN = validate.Range(0, 1, min_inclusive=False, max_inclusive=False)


class StrategyParameter(Schema):
    """A parameter of a pooling strategy."""

    name = fields.String(required=True, metadata={"description": "The name of the parameter."})
    text = fields.String(required=True, metadata={"description": "What it means."})
    default = fields.String(
        required=True,
        allow_none=True,
        attribute="usual",
        metadata={"description": "The value without it; null for no limit, or where it is needed."},
    )
    needed = fields.Boolean(
        required=True, metadata={"description": "Whether exactly one of the needed parameters must be given."}
    )


class PoolingStrategy(Schema):
    """A pooling strategy."""

    name = fields.String(required=True, metadata={"description": "The name of the strategy."})
    text = fields.String(required=True, metadata={"description": "What it does, in a sentence, and its reference."})
    parameters = fields.List(
        fields.Nested(StrategyParameter), required=True, metadata={"description": "The parameters that it takes."}
    )
    adaptive = fields.Boolean(required=True)
    sampled = fields.Boolean(required=True, metadata={"description": "Whether it draws documents at random."})


class SimulationQuery(Schema):
    """The strategies to try."""

    strategy = fields.List(
        Text, load_default=list, metadata={"description": "Only this strategy; repeatable. By default all."}
    )
    start_depth = fields.List(
        counted(0),
        load_default=lambda: list(USUAL_START_DEPTHS),
        metadata={
            "description": "Adaptive strategies start with the first documents of every run to this depth; repeatable."
        },
    )
    strata = Text(
        load_default=None, metadata={"description": "Strata of the strategy stratified, such as “1-10:1, 11-50:0.2”."}
    )
    by = one_of(
        SimulationPart,
        load_default=SimulationPart.POINTS.value,
        metadata={
            "description": "Which table: what each share of the judgements finds, or the stopping rules, tried in the "
            "order of each strategy."
        },
    )
    target = fields.Float(
        load_default=USUAL_SETTINGS.target,
        validate=BETWEEN,
        metadata={"description": "The recall that stopping rules aim at."},
    )
    sample_share = fields.Float(
        load_default=USUAL_SAMPLE_SHARE,
        validate=BETWEEN,
        metadata={"description": "The share of a topic's documents in the random sample of rules that need one."},
    )
    seed = counted(
        0, GREATEST_SEED, load_default=1, metadata={"description": "The seed of samples and of random tie-breaking."}
    )


class ReplayQuery(Schema):
    """Which version."""

    version = counted(
        load_default=None,
        metadata={"description": "The version of the pool; by default the newest that can be replayed."},
    )


@operation(
    resource, "GET", "/pooling-strategies", gate_of(list(Scope)), Gives(PoolingStrategy, many=True), Takes(pages=True)
)
def list_pooling_strategies(call: Call) -> object:
    """List the pooling strategies with their parameters."""
    del call
    return list(list_strategies().values())


@operation(
    resource,
    "GET",
    "/collections/<slug>/pool/simulation",
    READ,
    Gives(ReportTable),
    Takes(query=SimulationQuery, long=True),
)
def simulate_pool(call: Call) -> object:
    """Simulate strategies on the judgements there are, to choose one for the next pool; nothing is stored.

    For 5, 10, 20, 30 and 50 % of the judgements: the share of the relevant documents that is found, and Kendall's tau
    of the runs by AP with their order by all judgements. For stopping rules: mean recall, the share of the judgements
    that each takes, how often the target was reached, and how often it stopped.
    """
    if (left := long_read(call.slug, MOST_LISTS_AT_ONCE)) is not None:
        return left
    asked = call.query
    part = SimulationPart(asked["by"])
    settings_of_rules = StoppingSettings(target=asked["target"])
    trial = StoppingTrial(settings_of_rules, asked["sample_share"]) if part is SimulationPart.STOPPING else None
    found = database().read(
        simulate_on_qrels,
        call.slug,
        names=asked["strategy"],
        start_depths=asked["start_depth"],
        strata=asked["strata"],
        stopping=trial,
        seed=asked["seed"],
        made_at=now(),
        unpacked_limit=settings().unpacked_limit,
    )
    about = {
        "runs": found.runs,
        "topics": found.topics,
        "judged": found.judged,
        "relevant": found.relevant,
        "judged_in_no_run": found.in_no_run,
        "relevant_in_no_run": found.relevant_in_no_run,
        "seed": found.seed,
    }
    return report_table(part, found.table() if trial is None else found.rules_table(), about=about)


@operation(
    resource, "GET", "/collections/<slug>/pool/replay", READ, Gives(ReportTable), Takes(query=ReplayQuery, long=True)
)
def replay_pool(call: Call) -> object:
    """Repeat every choice of an adaptive pool from the judgements of the time, and list those that differ.

    A sample with a budget is drawn again; `step` is then the number of a stratum. Without rows the pool follows from
    its judgements, or the sample from its runs and labels.
    """
    version = call.query["version"]
    if (left := long_read(call.slug, is_long=database().read(is_long_replay, call.slug, version))) is not None:
        return left
    found = database().read(replay_choices, call.slug, version=version)
    about = {name: fact for name, fact in asdict(found).items() if name != DIFFERENCES}
    rows = [list(asdict(one).values()) for one in found.differences]
    headings = ("topic", "step", "docno", "run", "docno_replayed", "run_replayed")
    return report_table(DIFFERENCES, (headings, rows), about=about)
