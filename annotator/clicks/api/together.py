"""Clicks beside judgements: do users and judges prefer the same runs; and what users clicked, put into the pool."""

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note, note_export
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Text, one_of
from annotator.clicks.workflows.clicks_and_judgements import (
    TogetherRequest,
    TogetherTable,
    pool_clicked,
    report_json,
    together_report,
)
from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.spreadsheets import csv_text
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV

resource = resource_of("together", "Clicks compared with judgements; for organisers.")

MOST_MEASURES = 24


class TogetherQuery(Schema):
    """The measure, the click log and the format."""

    m = Text(load_default=USUAL_MEASURE, metadata={"description": "The measure of the judgements, such as AP."})
    log = Text(
        load_default=None,
        metadata={"description": "The log whose queries are shown; by default the newest that has any."},
    )
    format = one_of(["json", "csv"], load_default="json")
    table = one_of(
        list(TogetherTable), load_default=TogetherTable.PAIRS.value, metadata={"description": "The table, for CSV."}
    )


class GradesUsed(Schema):
    """The grades that runs are scored by."""

    name = fields.String(required=True, metadata={"description": "live: the current grades."})
    policy = fields.String(required=True)
    grades = fields.Integer(required=True)
    topics = fields.Integer(required=True)
    round = fields.String(required=True, allow_none=True)


class Together(Schema):
    """Clicks beside judgements; every difference is the second run's value less the first's."""

    measure = fields.String(required=True)
    qrels = fields.Nested(GradesUsed, required=True)
    notices = fields.List(fields.String, required=True)
    log = fields.String(required=True, allow_none=True, metadata={"description": "The log of the queries, if any."})
    variants = fields.List(fields.Dict, required=True)
    pairs = fields.List(fields.Dict, required=True)
    queries = fields.List(
        fields.Dict, required=True, metadata={"description": "The queries on which the two runs differ most."}
    )
    documents = fields.List(fields.Dict, required=True, metadata={"description": "The runs of these queries."})


class PoolingWanted(Schema):
    """The queries whose documents are to be pooled."""

    m = fields.List(
        Text,
        load_default=lambda: [USUAL_MEASURE],
        validate=validate.Length(1, MOST_MEASURES),
        metadata={"description": "Measures; the queries by each of them."},
    )
    log = Text(load_default=None, allow_none=True)


class ClickedPooled(Schema):
    """What was pooled; the version is the one in force, which is new if anything was added."""

    version = fields.Integer(required=True)
    added = fields.Integer(required=True)
    already_pooled = fields.Integer(required=True)
    of_no_run = fields.Integer(
        required=True,
        data_key="unknown",
        attribute="unknown",
        metadata={"description": "Documents that no run retrieved and that have no text."},
    )


@operation(
    resource, "GET", "/collections/<slug>/together", READ, Gives(Together, media=[CSV]), Takes(query=TogetherQuery)
)
def show_together(call: Call) -> Response:
    """Compare clicks with the current judgements, for all runs that are linked to variants of logs."""
    report = database().read(together_report, call.slug, TogetherRequest(call.query["m"], call.query["log"]))
    if call.query["format"] == "json":
        return as_json(report_json(report))
    headings, rows = report.file(TogetherTable(call.query["table"]))
    note_export("together.export", call.slug, details={"table": call.query["table"]})
    return text(csv_text([headings, *rows]), CSV)


@operation(
    resource, "POST", "/collections/<slug>/together/pool", ORGANISE, Gives(ClickedPooled), Takes(body=PoolingWanted)
)
def pool_together(call: Call) -> object:
    """Add the documents of the queries on which clicks and judgements differ most to the pool."""
    wanted = [TogetherRequest(measure, call.body["log"]) for measure in call.body["m"]]
    with database().reading() as session:
        reports = [together_report(session, call.slug, one) for one in wanted]
    log = next((report.asked for report in reports if report.asked is not None), None)
    clicked = list(dict.fromkeys(pair for report in reports for pair in report.to_pool))
    if log is None or not clicked:
        raise InvalidValueError("All of these documents are already in the pool.")
    with database().transaction() as session:
        pooled = pool_clicked(session, call.slug, log=log, clicked=clicked, built_by_id=caller().id, built_at=now())
        note(session, "pool.build", call.slug, subject=pooled.version, details={"log": log, "added": pooled.added})
    return pooled
