"""The measures: what each is, and how its name is written."""

from marshmallow import Schema, fields

from annotator.api.leaderboard.scores import resource
from annotator.api.site.access import gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.errors import InvalidValueError, NotFoundError
from annotator.workflows.leaderboard import scoring
from annotator.workflows.people.tokens import Scope

ANYBODY = gate_of(list(Scope))


class MeasureView(Schema):
    """A measure."""

    form = fields.String(
        required=True,
        metadata={"description": "How it is written: k is a cutoff, x a level, brackets may be left out."},
    )
    text = fields.String(required=True, metadata={"description": "Definition, range, edge cases and reference."})
    parameters = fields.List(fields.String, required=True, metadata={"description": "What it takes in brackets."})
    also_called = fields.List(fields.String, required=True, metadata={"description": "Other names that are read."})


class MeasureDetails(MeasureView):
    """A measure, and what the name stands for that was asked about."""

    stands_for = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The measure with the parameters that the name implies; null for a plain name."},
    )


@operation(resource, "GET", "/measures", ANYBODY, Gives(MeasureView, many=True), Takes(pages=True))
def list_measures(call: Call) -> object:
    """List every measure with its definition."""
    del call
    return list(scoring.list_measures().values())


@operation(resource, "GET", "/measures/<path:name>", ANYBODY, Gives(MeasureDetails))
def show_measure(call: Call) -> object:
    """Explain a measure, named as ir_measures or trec_eval do."""
    try:
        return scoring.explain_measure(call.path["name"])
    except InvalidValueError as error:
        raise NotFoundError(error.sentence.template, **error.sentence.values) from error
