"""The history of the scores of a run source."""

from marshmallow import Schema, fields

from annotator.api.leaderboard.scores import resource
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.web.site.context import database
from annotator.workflows.leaderboard.source_scores import HistoryRun, source_history


class HistoryQuery(Schema):
    """The measure of a history."""

    m = Text(load_default=USUAL_MEASURE, metadata={"description": "The measure."})


class HistoryScoreShown(Schema):
    """The score of a run by one state of the qrels."""

    qrels = fields.String(required=True, metadata={"description": "live, or the number of a kept version."})
    mean = fields.Float(required=True, metadata={"description": "The mean over all topics with a grade."})
    compared_with = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The place of the run that it is compared with, from 0; null for the first run."},
    )
    low = fields.Float(
        required=True, allow_none=True, metadata={"description": "The lower end of the interval; null where undefined."}
    )
    high = fields.Float(
        required=True, allow_none=True, metadata={"description": "The upper end of the interval; null where undefined."}
    )
    alarm = fields.Boolean(required=True, metadata={"description": "Whether the mean lies outside of the interval."})
    better = fields.Boolean(
        required=True, metadata={"description": "Whether the run is better than the one it is compared with."}
    )


class HistoryRunShown(Schema):
    """A run of a source with its scores."""

    tag = fields.String(required=True)
    version = fields.Integer(required=True, metadata={"description": "The version of the run."})
    at = Moment(required=True, metadata={"description": "When the run came, in UTC."})
    replaced = fields.Boolean(required=True, metadata={"description": "Whether a later version replaced it."})
    scores = fields.List(
        fields.Nested(HistoryScoreShown),
        required=True,
        metadata={"description": "The scores by the live qrels, and by kept versions, the newest first."},
    )


class SourceHistoryShown(Schema):
    """The scores of the runs of a source in time."""

    measure = fields.String(required=True, metadata={"description": "The measure."})
    alarms = fields.List(
        fields.String,
        required=True,
        metadata={"description": "The qrels by which the newest run has left its interval."},
    )
    runs = fields.List(
        fields.Nested(HistoryRunShown),
        required=True,
        metadata={"description": "The newest runs in the order in which they came; withdrawn ones are left out."},
    )
    notices = fields.List(
        fields.String,
        required=True,
        metadata={"description": "On the task of the runs, or that the runs of every round or task are scored."},
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/run-sources/<name>/scores",
    ORGANISE,
    Gives(SourceHistoryShown),
    Takes(query=HistoryQuery),
)
def show_source_scores(call: Call) -> object:
    """Show the scores of the runs of a source in time, with an alarm when one has left its interval."""
    found = database().read(source_history, call.slug, call.path["name"], measure=call.query["m"])
    return {
        "measure": found.measure,
        "alarms": list(found.alarms),
        "runs": [_run(one) for one in found.runs],
        "notices": list(map(str, found.notices)),
    }


def _run(run: HistoryRun) -> dict[str, object]:
    scores = [
        {
            **vars(score),
            "qrels": qrels,
            "compared_with": score.reference,
            "alarm": score.alarms,
            "better": score.is_better,
        }
        for qrels, score in run.scores.items()
    ]
    return {**vars(run), "replaced": run.is_replaced, "scores": scores}
