"""Click logs: study one, list them, show what was found, link their variants to runs, remove one."""

from collections.abc import Mapping
from typing import Any

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of
from annotator.api.site.values import Moment, Text, counted, one_of
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import (
    RETURN_DAYS,
    ComparisonWanted,
    Expected,
    LogKind,
    LogMapping,
    LogRequest,
    LogView,
    parse_mapping,
)
from annotator.errors import InvalidValueError
from annotator.web.site.background import arrived_at, report_percent
from annotator.web.site.context import database, settings

resource = resource_of("clicks", "Click logs of a search: their results are stored, not the logs. For organisers.")

LOG, LISTS = "log", "lists"  # the parts of the form


class LogQuery(Schema):
    """How a log is to be read, and what is to be compared."""

    name = Text(required=True, metadata={"description": "The name under which the log is listed."})
    kind = one_of(
        list(LogKind),
        load_default=LogKind.COMPARISON.value,
        metadata={"description": "An A/B test, or interleaved lists; with a file of lists always interleaving."},
    )
    variant = fields.List(
        Text,
        load_default=list,
        metadata={
            "description": (
                "The two variants to compare, the second with the first; given twice. By default the only two."
            )
        },
    )
    column = fields.List(
        Text,
        load_default=list,
        metadata={"description": "The log's name of a column: OURS=THEIRS, such as user=visitor; repeatable."},
    )
    event = fields.List(
        Text,
        load_default=list,
        metadata={"description": "The log's name of an event: OURS=THEIRS, such as impression=view; repeatable."},
    )
    click_column = Text(
        load_default=None,
        metadata={"description": "Each line is a shown result, and this column is 1 if it was clicked."},
    )
    variant_from_name = fields.Boolean(
        load_default=False, metadata={"description": "Use the file name without .gz, .csv and the like as the variant."}
    )
    drop_bad_lines = fields.Boolean(
        load_default=False, metadata={"description": "Skip and count lines that cannot be read."}
    )
    bootstrap = fields.Boolean(load_default=False, metadata={"description": "Bootstrap over users."})
    return_days = counted(load_default=RETURN_DAYS, metadata={"description": "Users return within this many days."})
    split = fields.Float(
        load_default=0.5,
        validate=validate.Range(0, 1, min_inclusive=False, max_inclusive=False),
        metadata={"description": "The planned share of users for the first variant."},
    )
    without_bots = fields.Boolean(
        load_default=False, metadata={"description": "Leave out users who view pages faster than people read."}
    )


class ClickLog(Schema):
    """A log that was studied."""

    name = fields.String(required=True)
    kind = fields.String(required=True, metadata={"description": "comparison or interleaving."})
    files = fields.List(fields.String, required=True)
    checksum = fields.String(required=True, metadata={"description": "SHA-256 of its files, one after the other."})
    runs = fields.Dict(
        fields.String,
        fields.String(allow_none=True),
        required=True,
        metadata={"description": "The tag of the linked run, by variant; null for no run."},
    )
    lines = fields.Integer(required=True)
    dropped = fields.Integer(required=True, metadata={"description": "Lines that are left out."})
    added_by = fields.String(required=True, allow_none=True)
    added_at = Moment(required=True)


class ClickFindings(ClickLog):
    """A log with what was found in it, of an A/B test as `comparison`, else as `interleaving`."""

    conclusion = fields.String(
        required=True, allow_none=True, metadata={"description": "The compared variants of an A/B test."}
    )
    comparison = fields.Dict(required=True, allow_none=True)
    interleaving = fields.Dict(required=True, allow_none=True)
    left_out = fields.Dict(
        required=True, metadata={"description": "Events of an interleaving that are not counted, by reason."}
    )


class Links(Schema):
    """Which runs the variants of a log stand for; variants that are not named stay as they are."""

    runs = fields.Dict(
        Text, Text(allow_none=True), required=True, metadata={"description": "Tags by variant; null for no run."}
    )


@operation(resource, "GET", "/collections/<slug>/click-logs", READ, Gives(ClickLog, many=True), Takes(pages=True))
def list_click_logs(call: Call) -> object:
    """List the click logs, newest first."""
    return database().read(click_logs.list_logs, call.slug)


@operation(
    resource,
    "POST",
    "/collections/<slug>/click-logs",
    ORGANISE,
    Gives(ClickLog, 201),
    Takes(query=LogQuery, parts=[LOG, LISTS]),
)
def add_click_log(call: Call) -> object:
    """Analyse a log and store the results; a log of more than 4 MiB, unpacked, is processed by a background job.

    The part “log” is one file, or several that make one log; “lists” is the file of the shown lists, as written by
    “annotator interleave”. A variant with the name of a run is linked to that run.
    """
    files = [(file.name, file.content) for file in call.files[LOG]]
    asked = _request(call)
    titles = database().read(click_logs.foresee_log, call.slug, asked.name)
    advance = report_percent(sum(len(content) for _, content in files))
    studied = click_logs.study_log(files, asked, titles, advance=advance)
    with database().transaction() as session:
        stored = click_logs.store_log(session, call.slug, studied, by_id=caller().id, at=arrived_at())
        note(session, "clicks.add", call.slug, subject=stored.name, details={"sha256": stored.checksum})
    return stored


@operation(resource, "GET", "/collections/<slug>/click-logs/<path:name>", READ, Gives(ClickFindings))
def show_click_log(call: Call) -> Response:
    """Show the results of a log, as in `annotator clicks compare` or `clicks interleaving show`."""
    report = database().read(click_logs.show_log, call.slug, call.path["name"])
    compared = report.findings.comparison
    conclusion = None if compared is None else str(click_logs.conclusion(compared))
    return as_json(ClickFindings().dump({**vars(report.view), **report.findings.to_json(), "conclusion": conclusion}))


@operation(
    resource, "PATCH", "/collections/<slug>/click-logs/<path:name>", ORGANISE, Gives(ClickLog), Takes(body=Links)
)
def link_click_log(call: Call) -> object:
    """Link the variants of a log to runs."""
    name, runs = call.path["name"], call.body["runs"]
    with database().transaction() as session:
        click_logs.link_variants(session, call.slug, name, runs)
        note(session, "clicks.link", call.slug, subject=name, details={"runs": runs})
    return _view(call)


@operation(resource, "DELETE", "/collections/<slug>/click-logs/<path:name>", ORGANISE, Gives(ClickLog))
def remove_click_log(call: Call) -> object:
    """Remove a log with its results; documents that it added to the pool stay there."""
    removed, name = _view(call), call.path["name"]
    with database().transaction() as session:
        click_logs.remove_log(session, call.slug, name)
        note(session, "clicks.remove", call.slug, subject=name)
    return removed


def _view(call: Call) -> LogView:
    with database().reading() as session:
        return click_logs.show_log(session, call.slug, call.path["name"]).view


def _request(call: Call) -> LogRequest:
    """Read the request into a `LogRequest`; raises `InvalidValueError` for values that do not fit."""
    asked = call.query
    lists = next(((file.name, file.content) for file in call.files[LISTS]), None)
    return LogRequest(
        name=asked["name"],
        kind=LogKind(asked["kind"]) if lists is None else LogKind.INTERLEAVING,
        mapping=_mapping(asked),
        wanted=ComparisonWanted(
            variants=_variants(asked),
            bootstraps=asked["bootstrap"],
            return_days=asked["return_days"],
            expected=Expected(asked["split"], leaves_bots_out=asked["without_bots"]),
        ),
        lists=lists,
        unpacked_limit=settings().unpacked_limit,
    )


def _mapping(asked: Mapping[str, Any]) -> LogMapping:
    return parse_mapping(
        asked["column"],
        asked["event"],
        click_column=asked["click_column"],
        variant_from_name=asked["variant_from_name"],
        drops_bad_lines=asked["drop_bad_lines"],
    )


def _variants(asked: Mapping[str, Any]) -> tuple[str, str] | None:
    match asked["variant"]:
        case []:
            return None
        case [first, second]:
            return first, second
        case named:
            raise InvalidValueError("Two variants are compared, not %(count)d: name two, or none.", count=len(named))
