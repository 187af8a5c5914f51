"""Qrels: the settled grades, and their stored versions."""

import json

from flask import Response
from marshmallow import INCLUDE, Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.site.access import ORGANISE, READ, caller, gate_of
from annotator.api.site.door import JSON, Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Moment, Text, counted, one_of
from annotator.errors import InvalidValueError, NotAllowedError
from annotator.evaluation.outputs.qrels_outputs import QRELS_OUTPUTS, SAMPLES, TREC
from annotator.storage import Role
from annotator.web.site.context import database, now, the_place
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_files import GradesWanted, QrelsFile, qrels_file

ORGANISERS_ALONE = ("judge", "policy", "at")

resource = resource_of("qrels", "The settled grades: TREC's four columns, as ir_measures and trec_eval read them.")


class GradesQuery(Schema):
    """Which grades."""

    version = counted(load_default=None, metadata={"description": "A kept version, byte for byte."})
    policy = Text(load_default=None, metadata={"description": "Settle by this consensus policy."})
    judge = Text(load_default=None, metadata={"description": "Only the grades of this judge."})
    unjudged = fields.Boolean(
        load_default=False, metadata={"description": "Write -1 for pooled documents without a judgement."}
    )
    at = Moment(
        load_default=None,
        metadata={
            "description": (
                "Only judgements until then: ISO 8601 with a time zone. Settings, topics and texts are as they are now."
            )
        },
    )


class FileQuery(GradesQuery):
    """Which grades, and in which format."""

    format = one_of(
        [one.name for one in QRELS_OUTPUTS],
        load_default=TREC,
        metadata={
            "description": "The layout of trec_eval or of another tool; prels and infap are of a stratified sample, "
            "for organisers, and their version is that of the pool."
        },
    )


class GradesByTopic(Schema):
    """In the format json: the grades of each topic by document."""

    class Meta:
        """Topics are the fields."""

        unknown = INCLUDE


class KeepBody(Schema):
    """How the grades that are to be kept are settled."""

    policy = Text(load_default=None, allow_none=True)
    judge = Text(
        load_default=None, allow_none=True, metadata={"description": "Only the grades of this judge; null for all."}
    )
    at = Moment(
        load_default=None, allow_none=True, metadata={"description": "Only judgements until then; null for all."}
    )


class Manifest(Schema):
    """What these qrels are, and of how much they are made; further facts stand beside these."""

    class Meta:
        """Allow further fields."""

        unknown = INCLUDE

    collection = fields.String(required=True)
    made_at = fields.String(required=True)
    consensus = fields.String(required=True)
    relevant_from = fields.Integer(required=True)
    counts = fields.Dict(required=True)
    sha256 = fields.String(required=True)


class VersionView(Schema):
    """A kept version of the qrels."""

    number = fields.Integer(required=True)
    policy = fields.String(required=True)
    lines = fields.Integer(required=True)
    fingerprint = fields.String(required=True, metadata={"description": "SHA-256 of the file."})
    made_by = fields.String(required=True, allow_none=True)
    made_at = Moment(required=True)


@operation(
    resource,
    "GET",
    "/collections/<slug>/qrels",
    gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER]),
    Gives(GradesByTopic, media=sorted({one.media for one in QRELS_OUTPUTS} - {JSON})),
    Takes(query=FileQuery),
)
def export(call: Call) -> Response:
    """Export the qrels: topic, iteration, docno, grade, or in the layout of another tool.

    Only organisers choose one judge, another policy, a moment or a sample.
    """
    name = call.query["format"]
    if not the_place().organises:
        if any(call.query[one] is not None for one in ORGANISERS_ALONE):
            raise NotAllowedError("Only organisers choose how the grades are settled.")
        if name in SAMPLES:
            raise NotAllowedError("Samples are for organisers.")
    made = _made(call)
    note_export("qrels.export", call.slug, subject=call.query["version"] or ("" if name == TREC else name))
    return text(made.content, made.format.media)


@operation(resource, "GET", "/collections/<slug>/qrels/manifest", READ, Gives(Manifest), Takes(query=FileQuery))
def manifest(call: Call) -> Response:
    """Show the manifest of these qrels: pool, scale, policy, counts, checksum."""
    return as_json(json.loads(_made(call).manifest))


@operation(
    resource, "GET", "/collections/<slug>/qrels/versions", READ, Gives(VersionView, many=True), Takes(pages=True)
)
def list_versions(call: Call) -> object:
    """List the kept versions, newest first."""
    return database().read(qrels_versions.list_versions, call.slug)


@operation(
    resource, "POST", "/collections/<slug>/qrels/versions", ORGANISE, Gives(VersionView, 201), Takes(body=KeepBody)
)
def keep(call: Call) -> object:
    """Keep the current settled grades as a version, which later judgements do not change.

    The answer is 409 when they are identical to the last version, which it names.
    """
    at = now()
    made = database().read(export_qrels, call.slug, **call.body, to_keep=True, made_at=at)
    with qrels_versions.storing_grades(database(), call.slug, made) as stored, database().transaction() as session:
        number = qrels_versions.keep_qrels(session, call.slug, stored, made_by_id=caller().id, made_at=at)
        note(session, "qrels.keep", call.slug, subject=str(number))
    with database().reading() as session:
        return next(one for one in qrels_versions.list_versions(session, call.slug) if one.number == number)


def _made(call: Call) -> QrelsFile:
    """The qrels file and its manifest: of a kept version, live, or of a sample."""
    asked = call.query
    is_sample = asked["format"] in SAMPLES
    if is_sample and asked["unjudged"]:
        raise InvalidValueError("A sample always has -1 for what was not drawn: “unjudged” does not go with it.")
    if is_sample and asked["at"] is not None:
        raise InvalidValueError("A sample has the grades of this moment: “at” does not go with it.")
    is_chosen = asked["unjudged"] or any(asked[one] is not None for one in ORGANISERS_ALONE)
    if not is_sample and asked["version"] is not None and is_chosen:
        raise InvalidValueError("A kept version is what it is: “version” stands alone.")
    wanted = GradesWanted(asked["version"], asked["policy"], asked["judge"], asked["at"], asked["unjudged"])
    return database().read(qrels_file, call.slug, asked["format"], wanted, made_at=now())
