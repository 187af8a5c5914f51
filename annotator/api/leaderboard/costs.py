"""System costs: the facts that can be reported, the values of a run, and all runs with their scores."""

from flask import Response
from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, SEE_RUNS, SEND_RUNS, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Text, one_of
from annotator.errors import InvalidValueError
from annotator.evaluation.costs.report import Question
from annotator.evaluation.costs.statements import Statement
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage import Role
from annotator.web.leaderboard.own_scores import cost_board, cost_report, require_released_costs
from annotator.web.people.senders import own_team
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV
from annotator.workflows.leaderboard import costs_text
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs import run_costs
from annotator.workflows.runs.run_costs import ColumnRequest, RunCosts

resource = resource_of(
    "costs",
    "Costs of the systems. Participants state costs of their team's runs only, and read those of all "
    "runs once the leaderboard is released.",
)


class Fact(Schema):
    """Something that may be stated of a run."""

    key = fields.String(required=True)
    name = fields.String(required=True)
    kind = fields.String(required=True, metadata={"description": "number, words, or list: words parted by commas."})
    unit = fields.String(required=True, metadata={"description": "The unit of the stored number."})
    better = fields.String(required=True, metadata={"description": "less, more or neither."})
    per = fields.String(
        required=True, metadata={"description": "What the fact is stated per: documents, query type, or nothing."}
    )
    is_own = fields.Boolean(required=True, data_key="own", metadata={"description": "Added by the organisers."})


class Stated(Schema):
    """One thing stated: a number in the unit of its fact, or words."""

    fact = fields.String(required=True)
    detail = fields.String(required=True, metadata={"description": "The number of documents, or the type of query."})
    number = fields.Float(required=True, allow_none=True)
    words = fields.String(required=True)


class Stating(Schema):
    """One thing to state, as a person would write it: `48.5`, `1.2 GB`, `Boolean, phrase`; nothing takes it back."""

    fact = Text(required=True)
    detail = Text(load_default="")
    value = Text(required=True)


class Costs(Schema):
    """What is to be stated of a run."""

    costs = fields.List(fields.Nested(Stating), required=True)


class ColumnWanted(Schema):
    """Something else that may be stated of every run of this collection."""

    key = Text(required=True)
    name = Text(load_default="", metadata={"description": "The name on pages; by default the key."})
    kind = one_of(["number", "words"], load_default="number")
    unit = Text(load_default="")
    better = one_of(["less", "more", "neither"], load_default="neither")


class ReportQuery(Schema):
    """By which measure, which cost, and as what."""

    m = Text(load_default=DEFAULT_MEASURES[0], metadata={"description": "A measure, such as nDCG@10."})
    cost = Text(
        load_default=None,
        metadata={"description": "The cost of the Pareto front, such as latency_at@1000000; a latency unless given."},
    )
    within = Text(load_default="", metadata={"description": "Only runs within this bound, such as “50 ms”."})
    format = one_of(["json", "csv"], load_default="json")


class CostColumn(Schema):
    """A cost that some run states."""

    cost = fields.String(required=True, metadata={"description": "Its fact, with @ and the detail if it has one."})
    unit = fields.String(required=True)


class CostsOfRun(Schema):
    """A run with its score and its costs."""

    run = fields.String(required=True)
    team = fields.String(required=True, allow_none=True)
    value = fields.Float(required=True, allow_none=True, metadata={"description": "Null where it has no score."})
    front = fields.Boolean(
        required=True,
        allow_none=True,
        metadata={
            "description": (
                "Whether no other run is at least as good and as cheap, and better in one; null without a front."
            )
        },
    )
    costs = fields.Dict(required=True, metadata={"description": "By fact and detail: a number in its unit, or words."})


class CostReport(Schema):
    """What every run costs, best first by the measure; measure and qrels are null while nothing can be scored."""

    measure = fields.String(required=True, allow_none=True)
    qrels = fields.String(required=True, allow_none=True)
    policy = fields.String(required=True, allow_none=True)
    grades = fields.Integer(required=True, allow_none=True)
    topics = fields.Integer(required=True, allow_none=True)
    fingerprint = fields.String(required=True, allow_none=True)
    unscored = fields.String(required=True, allow_none=True, metadata={"description": "Why there are no scores."})
    cost = fields.String(required=True, metadata={"description": "The cost of the front and of the bound."})
    unit = fields.String(required=True)
    within = fields.Float(required=True, allow_none=True, metadata={"description": "The bound, in that unit."})
    over = fields.Integer(required=True, metadata={"description": "Runs beyond the bound, which are left out."})
    silent = fields.Integer(required=True, metadata={"description": "Runs left out that do not state the cost."})
    has_front = fields.Boolean(required=True)
    columns = fields.List(fields.Nested(CostColumn), required=True)
    rows = fields.List(fields.Nested(CostsOfRun), required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/costs",
    gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT]),
    Gives(CostReport, media=[CSV]),
    Takes(query=ReportQuery),
)
def show_cost_report(call: Call) -> Response:
    """Show the costs and the score of every run, and the Pareto front.

    Participants see it once the whole leaderboard is released; `qrels` names the grades.
    """
    require_released_costs()
    board, unscored = cost_board(call.slug, call.query["m"])
    report = cost_report(call.slug, board, Question(call.query["cost"], call.query["within"]))
    if call.query["format"] == "csv":
        return text(costs_text.costs_csv(report), CSV)
    return as_json({**costs_text.as_json(report), "unscored": None if unscored is None else str(unscored)})


@operation(resource, "GET", "/collections/<slug>/cost-facts", SEE_RUNS, Gives(Fact, many=True), Takes(pages=True))
def list_facts(call: Call) -> object:
    """List the facts that runs may state."""
    with database().reading() as session:
        return list(run_costs.list_facts(session, call.slug))


@operation(resource, "POST", "/collections/<slug>/cost-facts", ORGANISE, Gives(Fact, 201), Takes(body=ColumnWanted))
def add_fact(call: Call) -> object:
    """Add a fact that runs may state."""
    asked = call.body
    request = ColumnRequest(asked["key"], asked["name"] or asked["key"], asked["kind"], asked["unit"], asked["better"])
    with database().transaction() as session:
        added = run_costs.add_column(session, call.slug, request, at=now())
        note(session, "costs.add-column", call.slug, subject=request.key, details=vars(request))
    return added


@operation(resource, "DELETE", "/collections/<slug>/cost-facts/<key>", ORGANISE, Gives(Fact))
def remove_fact(call: Call) -> object:
    """Remove a fact that organisers added and no run states."""
    key = call.path["key"]
    with database().transaction() as session:
        removed = run_costs.remove_column(session, call.slug, key)
        note(session, "costs.remove-column", call.slug, subject=key)
    return removed


@operation(
    resource, "GET", "/collections/<slug>/runs/<path:tag>/costs", SEE_RUNS, Gives(Stated, many=True), Takes(pages=True)
)
def show_costs(call: Call) -> object:
    """Show the costs that a run states."""
    return list(_stated(call).statements)


@operation(
    resource, "PUT", "/collections/<slug>/runs/<path:tag>/costs", SEND_RUNS, Gives(Stated, many=True), Takes(body=Costs)
)
def state_costs(call: Call) -> object:
    """Replace all statements of a run."""
    at, tag, team = now(), call.path["tag"], own_team()
    written = [(one["fact"], one["detail"], one["value"]) for one in call.body["costs"]]
    with database().transaction() as session:
        statements = run_costs.state_costs(session, call.slug, tag, written, at=at, by_id=caller().id, team=team)
        note(
            session,
            "costs.set",
            call.slug,
            subject=tag,
            details={"facts": sorted(one.address for one in statements)},
        )
    return list(_stated(call).statements)


@operation(
    resource,
    "PATCH",
    "/collections/<slug>/runs/<path:tag>/costs",
    SEND_RUNS,
    Gives(Stated, many=True),
    Takes(body=Costs),
)
def change_costs(call: Call) -> object:
    """Change some statements of a run: an empty value withdraws one, and the others stay."""
    at, tag, team = now(), call.path["tag"], own_team()
    written = _by_address(call)
    with database().transaction() as session:
        run_costs.change_costs(session, call.slug, tag, written, at=at, by_id=caller().id, team=team)
        note(session, "costs.set", call.slug, subject=tag, details={"facts": sorted(written)})
    return list(_stated(call).statements)


def _by_address(call: Call) -> dict[str, str]:
    """The values in the request body by fact and detail; `InvalidValueError` for duplicates."""
    written: dict[str, str] = {}
    for one in call.body["costs"]:
        address = Statement(one["fact"], one["detail"]).address
        if address in written:
            raise InvalidValueError("“%(address)s” is stated twice.", address=address)
        written[address] = one["value"]
    return written


def _stated(call: Call) -> RunCosts:
    return database().read(run_costs.costs_of_run, call.slug, call.path["tag"], team=own_team())
