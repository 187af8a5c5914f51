"""What systems cost: the facts that may be stated, and what is stated of a run."""

from marshmallow import Schema, fields

from annotator.api.access import caller
from annotator.api.deeds import note
from annotator.api.door import Call, Gives, Takes, operation
from annotator.api.door import resource as resource_of
from annotator.api.values import Text
from annotator.storage import Role
from annotator.web.context import database, now
from annotator.web.senders import own_team
from annotator.workflows import costs, submissions
from annotator.workflows.costs import RunCosts
from annotator.workflows.tokens import Scope

resource = resource_of("costs", "What systems cost. A participant's calls are of their team's runs alone.")

SENDERS = (Role.ORGANISER, Role.PARTICIPANT)
SEES_RUNS = (Scope.READ, Scope.RUNS)


class Fact(Schema):
    """Something that may be stated of a run."""

    key = fields.String(required=True)
    kind = fields.String(required=True, metadata={"description": "number, words, or list: words parted by commas."})
    unit = fields.String(required=True, metadata={"description": "Of the number, as it is kept."})
    better = fields.String(required=True, metadata={"description": "less, more or neither."})
    per = fields.String(
        required=True, metadata={"description": "What it is stated for each of: documents, query type, or nothing."}
    )
    is_own = fields.Boolean(required=True, data_key="own", metadata={"description": "Added by the organisers."})


class Stated(Schema):
    """One thing stated: a number in the unit of its fact, or words."""

    fact = fields.String(required=True)
    detail = fields.String(required=True, metadata={"description": "How many documents, or which type of query."})
    number = fields.Float(required=True, allow_none=True)
    words = fields.String(required=True)


class Stating(Schema):
    """One thing to state, as a person would write it: `48.5`, `1.2 GB`, `Boolean, phrase`."""

    fact = Text(required=True)
    detail = Text(load_default="")
    value = Text(required=True)


class Costs(Schema):
    """All that is to be stated of a run."""

    costs = fields.List(fields.Nested(Stating), required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/cost-facts",
    scopes=SEES_RUNS,
    roles=SENDERS,
    takes=Takes(pages=True),
    gives=Gives(Fact, many=True),
)
def list_facts(call: Call) -> object:
    """List what may be stated of a run."""
    with database().reading() as session:
        return list(costs.list_facts(session, call.slug))


@operation(
    resource,
    "GET",
    "/collections/<slug>/run-costs/<path:tag>",
    scopes=SEES_RUNS,
    roles=SENDERS,
    takes=Takes(pages=True),
    gives=Gives(Stated, many=True),
)
def show_costs(call: Call) -> object:
    """What is stated of a run."""
    return list(_stated(call).statements)


@operation(
    resource,
    "PUT",
    "/collections/<slug>/run-costs/<path:tag>",
    scopes=[Scope.RUNS],
    roles=SENDERS,
    takes=Takes(body=Costs),
    gives=Gives(Stated, many=True),
)
def state_costs(call: Call) -> object:
    """Let this stand instead of all that was stated of a run."""
    at, tag, team = now(), call.path["tag"], own_team()
    written = [(one["fact"], one["detail"], one["value"]) for one in call.body["costs"]]
    with database().transaction() as session:
        submissions.check_may_change(session, call.slug, caller().id, team=team, at=at)
        statements = costs.read_written(costs.list_facts(session, call.slug), written)
        costs.replace_costs(session, call.slug, tag, statements, at=at, team=team)
        told = {one.address: costs.write_value(one) for one in statements}
        note(session, "costs.set", call.slug, subject=tag, details=told)
    return list(_stated(call).statements)


def _stated(call: Call) -> RunCosts:
    with database().reading() as session:
        return costs.costs_of_run(session, call.slug, call.path["tag"], team=own_team())
