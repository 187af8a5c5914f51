"""Sources of runs."""

from flask import request
from flask.typing import ResponseReturnValue
from marshmallow import Schema, fields

from annotator.api.collections.audit import actor, note
from annotator.api.runs.run_fetching import EngineBody, details_in, engine_in
from annotator.api.runs.runs import RunReceipt, resource, shown_receipt
from annotator.api.site.access import ORGANISE, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import given_to_worker
from annotator.api.site.values import Moment, Text, whole
from annotator.evaluation.runs.search_engines import PATHS
from annotator.web.site.background import arrived_at, work
from annotator.web.site.context import database, engine_access, now, settings
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.run_sources import SourceSettings, SourceView


class RunSourceBody(EngineBody):
    """What a source asks, and what its runs are like; what is left out has its default."""

    tag = Text(
        required=True,
        metadata={"description": "The tag of its runs; {date} is the day in UTC, {number} counts its runs."},
    )
    hour = whole(
        most=23,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "The hour of the day, in UTC, at which a worker fetches a run; null: only on request."
        },
    )


class RunSourceShown(Schema):
    """A source of runs."""

    name = fields.String(required=True)
    endpoint = fields.String(required=True, metadata={"description": "The address that is asked."})
    query = fields.String(required=True, metadata={"description": "The template of the query."})
    dialect = fields.String(required=True, metadata={"description": "How the engine is asked, and how it answers."})
    depth = fields.Integer(required=True, metadata={"description": "The most hits for a topic."})
    paths = fields.List(fields.String, required=True, metadata={"description": "Paths into the answer, OURS=PATH."})
    texts = fields.Boolean(required=True, metadata={"description": "Whether the texts of the hits are stored, too."})
    tag = fields.String(required=True, metadata={"description": "The tag of its runs, with {date} and {number}."})
    team = fields.String(required=True, allow_none=True, metadata={"description": "The team of its runs."})
    description = fields.String(required=True, allow_none=True)
    type = fields.String(required=True, allow_none=True, metadata={"description": "automatic or manual."})
    priority = fields.Integer(required=True, metadata={"description": "The pooling priority of its runs."})
    task = fields.String(
        required=True, allow_none=True, metadata={"description": "The key of the task whose topics are searched for."}
    )
    refusal = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Why it brings no run until its task is set again; null if it does."},
    )
    hour = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The hour of the day, in UTC; null: only on request."}
    )
    next_at = Moment(required=True, allow_none=True, metadata={"description": "When a worker fetches the next run."})
    fetched = fields.Integer(required=True, metadata={"description": "How many runs came from it."})
    tried_at = Moment(required=True, allow_none=True, metadata={"description": "The last attempt."})
    problem = fields.String(
        required=True, allow_none=True, metadata={"description": "Why the last attempt brought no run; null if it did."}
    )
    set_by = fields.String(
        required=True, allow_none=True, metadata={"description": "Who saved it last; null for a command."}
    )
    set_at = Moment(required=True, metadata={"description": "When it was saved last."})


@operation(
    resource, "GET", "/collections/<slug>/run-sources", ORGANISE, Gives(RunSourceShown, many=True), Takes(pages=True)
)
def list_run_sources(call: Call) -> object:
    """List the sources of runs by name."""
    return [_shown(one) for one in database().read(run_sources.list_sources, call.slug)]


@operation(resource, "GET", "/collections/<slug>/run-sources/<name>", ORGANISE, Gives(RunSourceShown))
def show_run_source(call: Call) -> object:
    """Show a source of runs."""
    return _of_name(call)


@operation(
    resource,
    "PUT",
    "/collections/<slug>/run-sources/<name>",
    ORGANISE,
    Gives(RunSourceShown),
    Takes(body=RunSourceBody),
)
def set_run_source(call: Call) -> object:
    """Save a source of runs, in place of an earlier one of that name, whose runs stay with it."""
    name, chosen = call.path["name"], _settings(call)
    with database().transaction() as session:
        run_sources.set_source(session, call.slug, name, chosen, engine_access(), by_id=caller().id, at=now())
        note(session, "run-sources.set", call.slug, subject=name, details=chosen.noted)
    return _of_name(call)


@operation(resource, "DELETE", "/collections/<slug>/run-sources/<name>", ORGANISE, Gives(RunSourceShown))
def remove_run_source(call: Call) -> object:
    """Remove a source of runs; its runs stay."""
    found = _of_name(call)
    with database().transaction() as session:
        run_sources.remove_source(session, call.slug, call.path["name"])
        note(session, "run-sources.remove", call.slug, subject=call.path["name"])
    return found


@operation(
    resource,
    "POST",
    "/collections/<slug>/run-sources/<name>/fetch",
    ORGANISE,
    Gives(RunReceipt, 201),
    Takes(long=True),
)
def fetch_from_run_source(call: Call) -> ResponseReturnValue | object:
    """Fetch a run from a source; a background job does it.

    When nothing came, the problem of the job says why, and the source shows it, too.
    """
    name, access, at_work = call.path["name"], engine_access(), work()
    if at_work is None:
        database().read(run_sources.check_source, call.slug, name, access, at=now())
        return given_to_worker(call.slug, request.get_data())
    done = run_sources.fetch_from_source(
        database(),
        call.slug,
        name,
        access,
        actor=actor(),
        at=arrived_at(),
        noted_at=now(),
        unpacked_limit=settings().unpacked_limit,
        progress=at_work.tell,
    )
    return shown_receipt(call.slug, done.receipt)


def _settings(call: Call) -> SourceSettings:
    return SourceSettings(engine_in(call), call.body["tag"], details_in(call), call.body["hour"])


def _of_name(call: Call) -> dict[str, object]:
    return _shown(database().read(run_sources.show_source, call.slug, call.path["name"]))


def _shown(source: SourceView) -> dict[str, object]:
    saved, engine, details = source.settings, source.settings.engine, source.settings.details
    return {
        **vars(source),
        **vars(engine),
        **vars(details),
        "paths": [f"{name}={path}" for name in PATHS if (path := getattr(engine.paths, name))],
        "texts": engine.with_texts,
        "tag": saved.tag,
        "type": details.run_type,
        "hour": saved.hour,
        "refusal": None if source.refusal is None else str(source.refusal),
        "problem": None if source.problem is None else str(source.problem),
    }
