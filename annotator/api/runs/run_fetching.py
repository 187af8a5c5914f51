"""Runs from search engines."""

from flask import request
from flask.typing import ResponseReturnValue
from marshmallow import Schema, fields

from annotator.api.collections.audit import actor
from annotator.api.runs.runs import RunReceipt, resource, shown_receipt
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import given_to_worker
from annotator.api.site.values import Text, counted, one_of
from annotator.evaluation.runs.search_engines import USUAL_DEPTH, Dialect, HitPaths, SearchEngine
from annotator.storage import RunType
from annotator.storage.runs.runs import RunDetails
from annotator.web.site.background import arrived_at, work
from annotator.web.site.context import database, engine_access, now, settings
from annotator.workflows.runs import run_fetching
from annotator.workflows.runs.run_fetching import RunOrder


class EngineBody(Schema):
    """A search engine, what it is asked, and the details of the runs that its hits become."""

    endpoint = Text(
        required=True,
        metadata={"description": "The address that is asked; its host is one that an administrator has named."},
    )
    query = Text(
        load_default="",
        metadata={
            "description": "A JSON body if it begins with a brace, otherwise parameters; {query} is replaced by the "
            "title of each topic, {depth} by the number of hits."
        },
    )
    dialect = one_of(
        [one.value for one in Dialect],
        load_default=Dialect.OPENSEARCH.value,
        metadata={"description": "How the engine is asked, and how it answers."},
    )
    depth = counted(load_default=USUAL_DEPTH, metadata={"description": "The most hits for a topic."})
    paths = fields.List(
        Text,
        load_default=list,
        metadata={"description": "Paths into the answer, OURS=PATH; ours is hits, docno, score, title or body."},
    )
    texts = fields.Boolean(load_default=False, metadata={"description": "Store the texts of the hits, too."})
    team = Text(load_default=None, metadata={"description": "The team of the run."})
    description = Text(load_default=None)
    type = one_of([RunType.AUTOMATIC, RunType.MANUAL], load_default=None)
    priority = counted(
        load_default=None,
        metadata={"description": "The pooling priority among the runs of the team: 1 = pooled first."},
    )
    task = Text(
        load_default=None,
        metadata={"description": "The key of its task, whose topics are searched for, where the collection has tasks."},
    )


class FetchRunBody(EngineBody):
    """A search engine, what it is asked, and the run that its hits become."""

    tag = Text(required=True, metadata={"description": "The tag of the run."})
    replaces = fields.Boolean(load_default=False, metadata={"description": "Replace the run with the same tag."})


@operation(
    resource,
    "POST",
    "/collections/<slug>/runs/fetch",
    ORGANISE,
    Gives(RunReceipt, 201),
    Takes(body=FetchRunBody, long=True),
)
def fetch_run(call: Call) -> ResponseReturnValue | object:
    """Ask a search engine for every accepted topic, and store its hits as a run; a background job does it.

    When one topic fails nothing is stored, and the problem of the job names the topic and the address.
    """
    order, access, at_work = _order(call), engine_access(), work()
    if at_work is None:
        database().read(run_fetching.check_order, call.slug, order, access)
        return given_to_worker(call.slug, request.get_data())
    done = run_fetching.fetch_run(
        database(),
        call.slug,
        order,
        access,
        actor=actor(),
        at=arrived_at(),
        noted_at=now(),
        unpacked_limit=settings().unpacked_limit,
        progress=at_work.tell,
    )
    return shown_receipt(call.slug, done.receipt)


def _order(call: Call) -> RunOrder:
    return RunOrder(engine_in(call), call.body["tag"], details_in(call), replaces=call.body["replaces"])


def engine_in(call: Call) -> SearchEngine:
    """The search engine of an `EngineBody`; raises `InvalidValueError` for malformed paths."""
    asked = call.body
    return SearchEngine(
        asked["endpoint"],
        asked["query"],
        Dialect(asked["dialect"]),
        HitPaths.parse(asked["paths"]),
        asked["depth"],
        with_texts=asked["texts"],
    )


def details_in(call: Call) -> RunDetails:
    """The details of runs in an `EngineBody`."""
    asked = call.body
    run_type = None if asked["type"] is None else RunType(asked["type"])
    return RunDetails(asked["team"], asked["description"], run_type, asked["priority"], task=asked["task"])
