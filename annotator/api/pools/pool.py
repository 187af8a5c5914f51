"""The pool: plan it, build it, report its judging progress."""

from flask import Response
from marshmallow import Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.site.access import ORGANISE, READ, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Moment, Text, counted, one_of, whole
from annotator.storage import Role, Showing
from annotator.storage.pools.pools import GREATEST_SEED, PoolRequest
from annotator.web.site.context import database, now
from annotator.web.site.downloads import PLAIN
from annotator.web.site.memories import plan_memory
from annotator.workflows.people.tokens import Scope
from annotator.workflows.pools import pool_building, pool_planning, pools
from annotator.workflows.pools.pools import USUAL_STRATEGY, list_strategies
from annotator.workflows.pools.sample_planning import USUAL_DIFFERENCE, USUAL_HALF_WIDTH, PrecisionWanted

resource = resource_of("pool", "The documents to be judged; for organisers. A pool only grows, in versions.")

MOST_HOURS = 1_000_000


class TopicPool(Schema):
    """How far the pool of a topic is judged."""

    number = fields.String(required=True)
    title = fields.String(required=True)
    items = fields.Integer(required=True)
    judged = fields.Integer(required=True)
    complete = fields.Integer(
        required=True, metadata={"description": "The number of documents with all required judgements."}
    )


class PoolVersionView(Schema):
    """A version of the pool."""

    version = fields.Integer(required=True)
    strategy = fields.String(required=True)
    parameters = fields.Dict(required=True)
    seed = fields.Integer(required=True)
    showing = fields.String(required=True)
    built_by = fields.String(required=True, allow_none=True)
    built_at = Moment(required=True)
    added = fields.Integer(required=True)


class PoolView(Schema):
    """The pool as it is."""

    versions = fields.List(fields.Nested(PoolVersionView), required=True)
    topics = fields.List(fields.Nested(TopicPool), required=True)


class PoolWanted(Schema):
    """A pool that is described: its strategy, what that is told, and the runs."""

    strategy = one_of(list_strategies(), load_default=USUAL_STRATEGY)
    parameters = fields.Dict(
        fields.String,
        fields.Raw,
        load_default=dict,
        metadata={
            "description": "The parameters of the strategy, such as {“depth”: 10}, {“per_topic”: 100} or, with "
            "cal, {“until”: “knee”}."
        },
    )
    runs = fields.List(Text, load_default=None, allow_none=True, metadata={"description": "Tags; null for all."})
    priority = whole(1, load_default=None, allow_none=True)
    depth_of = fields.Dict(Text, whole(1), load_default=dict, metadata={"description": "Depth of a run, by tag."})
    round = whole(1, load_default=None, allow_none=True)
    seed = whole(0, GREATEST_SEED, load_default=None, allow_none=True)


class PlanWanted(PoolWanted):
    """The description of a pool, with the available judging hours."""

    hours = fields.Float(
        load_default=None, allow_none=True, metadata={"description": "The hours of all judges together."}
    )
    half_width = fields.Float(
        load_default=USUAL_HALF_WIDTH,
        metadata={"description": "Also count the documents of a sample for 95 % intervals of plus or minus this."},
    )
    difference = fields.Float(
        load_default=USUAL_DIFFERENCE,
        metadata={"description": "Also count those that find such a difference of two runs with a power of 0.8."},
    )


class BuildingWanted(PoolWanted):
    """The description of a pool, with the order in which judges get the added documents."""

    showing = one_of(Showing, load_default=Showing.RANDOM.value)


class TopicGrowth(Schema):
    """What a building did for a topic."""

    number = fields.String(required=True)
    added = fields.Integer(required=True)
    already_pooled = fields.Integer(required=True)


class PoolBuilt(Schema):
    """What a building did; the version is the one in force, which is new unless nothing else was."""

    version = fields.Integer(required=True)
    is_new = fields.Boolean(required=True)
    added = fields.Integer(required=True)
    already_pooled = fields.Integer(required=True)
    topics = fields.List(fields.Nested(TopicGrowth), required=True)
    notices = fields.List(
        fields.String, required=True, metadata={"description": "Sentences about a sample that was drawn."}
    )


class Plan(Schema):
    """Pools of growing amounts by one strategy; lists are by amount, and `asked` is the place of the one wanted."""

    strategy = fields.String(required=True)
    grows = fields.String(required=True, allow_none=True, metadata={"description": "The parameter of the amounts."})
    adaptive = fields.Boolean(required=True)
    amounts = fields.List(fields.Integer, required=True)
    asked = fields.Integer(required=True)
    hours = fields.Float(required=True, allow_none=True)
    to_come = fields.List(fields.Integer, required=True)
    made = fields.Integer(required=True)
    missing = fields.Integer(required=True)
    effort = fields.Dict(required=True)
    total = fields.Dict(required=True)
    topics = fields.List(fields.Dict, required=True)
    runs = fields.List(fields.Dict, required=True)
    teams = fields.List(fields.Dict, required=True)
    precision = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "The intervals that a sample with a machine will give; null for other pools."},
    )
    until = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The stopping rule until which an adaptive strategy goes on: the amount is then the most "
            "that it may add; null with a number."
        },
    )


class VersionQuery(Schema):
    """Which version."""

    version = counted(load_default=None, metadata={"description": "The version of the pool; by default the newest."})


@operation(resource, "GET", "/collections/<slug>/pool", READ, Gives(PoolView))
def show_pool(call: Call) -> object:
    """Show the versions of the pool and the progress of each topic."""
    with database().reading() as session:
        return {
            "versions": pools.pool_versions(session, call.slug),
            "topics": pools.pool_progress(session, call.slug),
        }


@operation(resource, "GET", "/collections/<slug>/pool/documents", READ, Gives(media=[PLAIN]), Takes(query=VersionQuery))
def pooled_documents(call: Call) -> Response:
    """Export the pool as lines of topic and docno."""
    content = database().read(pools.export_pool, call.slug, version=call.query["version"])
    note_export("pool.export", call.slug)
    return text(content, PLAIN)


@operation(
    resource,
    "POST",
    "/collections/<slug>/pool/plan",
    gate_of([Scope.READ, Scope.ORGANISE], [Role.ORGANISER]),
    Gives(Plan),
    Takes(body=PlanWanted),
)
def plan_pool(call: Call) -> Response:
    """Plan a pool: its size and cost for all amounts; nothing is stored."""
    plan = database().read(
        pool_planning.plan_pool,
        call.slug,
        _described(call),
        seed=call.body["seed"],
        hours=call.body["hours"],
        memory=plan_memory(),
        precision=PrecisionWanted(call.body["half_width"], call.body["difference"]),
    )
    return as_json(plan.as_json)


@operation(resource, "POST", "/collections/<slug>/pool", ORGANISE, Gives(PoolBuilt), Takes(body=BuildingWanted))
def build_pool(call: Call) -> object:
    """Build or extend the pool; an identical request makes no new version.

    There is no confirmation of the cost: `pool/plan` shows the hours in advance.
    """
    choice = database().read(
        pool_building.choose_pool,
        call.slug,
        _described(call),
        seed=call.body["seed"],
        showing=Showing(call.body["showing"]),
    )
    with database().transaction() as session:
        summary = pool_building.store_pool(session, call.slug, choice, built_by_id=caller().id, built_at=now())
        if summary.is_new:
            note(session, "pool.build", call.slug, subject=str(summary.version), details={"added": summary.added})
    return summary


def _described(call: Call) -> PoolRequest:
    said = {name: value for name, value in call.body["parameters"].items() if value is not None}
    return PoolRequest(
        call.body["strategy"],
        {name: value if isinstance(value, int) else str(value) for name, value in said.items()},
        call.body["runs"],
        call.body["priority"],
        call.body["depth_of"],
        call.body["round"],
    )
