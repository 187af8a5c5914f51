"""Interleaved lists of runs, as a file for an online experiment."""

from flask import Response
from marshmallow import Schema, fields, validate

from annotator.api.collections.audit import note_export
from annotator.api.site.access import READ
from annotator.api.site.door import Call, Gives, Takes, operation, text
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.values import Text, counted, one_of
from annotator.clicks.api.clicks import resource
from annotator.clicks.workflows.interleaving import (
    METHODS,
    MOST_DEPTH,
    MOST_LISTS,
    USUAL_DEPTH,
    USUAL_LISTS,
    USUAL_LISTS_SEED,
    USUAL_METHOD,
    ListsWanted,
    interleave_stored,
)
from annotator.storage.pools.pools import GREATEST_SEED
from annotator.web.site.context import database

TSV = "text/tab-separated-values"


class InterleavingQuery(Schema):
    """The runs, and how lists are made of them."""

    run = fields.List(
        Text,
        required=True,
        validate=validate.Length(1),
        metadata={"description": "The tag of a run; repeatable, for two runs or more."},
    )
    method = one_of(
        METHODS,
        load_default=USUAL_METHOD,
        metadata={"description": "In each round every run picks once; or balanced, for two runs only, and biased."},
    )
    depth = counted(1, MOST_DEPTH, load_default=USUAL_DEPTH, metadata={"description": "Documents per list."})
    lists = counted(
        1,
        MOST_LISTS,
        load_default=USUAL_LISTS,
        metadata={"description": "Lists per topic; show each user one of them at random."},
    )
    seed = counted(
        0,
        GREATEST_SEED,
        load_default=USUAL_LISTS_SEED,
        metadata={"description": "The same runs, options and seed give the same file."},
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/interleaving",
    READ,
    Gives(media=[TSV]),
    Takes(query=InterleavingQuery, long=True),
)
def interleave_runs(call: Call) -> Response:
    """Interleave runs into lists for users, as `annotator interleave` does with files."""
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    wanted = ListsWanted(asked["method"], asked["depth"], asked["lists"], asked["seed"])
    made = database().read(interleave_stored, call.slug, tags=asked["run"], wanted=wanted)
    note_export("interleaving.export", call.slug, details=vars(wanted))
    return text(made.content, TSV)
