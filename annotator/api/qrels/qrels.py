"""Qrels: the settled grades, and their stored versions."""

import json

from flask import Response
from marshmallow import INCLUDE, Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.site.access import ORGANISE, READ, caller, gate_of
from annotator.api.site.door import Call, Gives, Takes, as_json, operation, resource_of, text
from annotator.api.site.values import Moment, Text, counted
from annotator.errors import InvalidValueError, NotAllowedError
from annotator.storage import Role
from annotator.web.site.context import database, now, the_place
from annotator.web.site.downloads import PLAIN
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import QrelsExport, export_qrels

resource = resource_of("qrels", "The settled grades: TREC's four columns, as ir_measures and trec_eval read them.")


class GradesQuery(Schema):
    """Which grades."""

    version = counted(load_default=None, metadata={"description": "A kept version, byte for byte."})
    policy = Text(load_default=None, metadata={"description": "Settle by this consensus policy."})
    judge = Text(load_default=None, metadata={"description": "Only the grades of this judge."})
    unjudged = fields.Boolean(
        load_default=False, metadata={"description": "Write -1 for pooled documents without a judgement."}
    )


class KeepBody(Schema):
    """How the grades that are to be kept are settled."""

    policy = Text(load_default=None, allow_none=True)


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
    Gives(media=[PLAIN]),
    Takes(query=GradesQuery),
)
def export(call: Call) -> Response:
    """Export the qrels: topic, iteration, docno, grade; those of one judge or by another policy only for organisers."""
    if not the_place().organises and (call.query["judge"] is not None or call.query["policy"] is not None):
        raise NotAllowedError("Only organisers choose how the grades are settled.")
    qrels, _ = _export(call)
    note_export("qrels.export", call.slug, subject=call.query["version"] or "")
    return text(qrels, PLAIN)


@operation(resource, "GET", "/collections/<slug>/qrels/manifest", READ, Gives(Manifest), Takes(query=GradesQuery))
def manifest(call: Call) -> Response:
    """Show the manifest of these qrels: pool, scale, policy, counts, checksum."""
    _, about = _export(call)
    return as_json(json.loads(about))


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
    made = database().read(export_qrels, call.slug, policy=call.body["policy"], made_at=at)
    with database().transaction() as session:
        number = qrels_versions.keep_qrels(
            session, call.slug, made.grades, made.manifest, made_by_id=caller().id, made_at=at
        )
        note(session, "qrels.keep", call.slug, subject=str(number))
    with database().reading() as session:
        return next(one for one in qrels_versions.list_versions(session, call.slug) if one.number == number)


def _export(call: Call) -> tuple[bytes, str]:
    """The qrels file and its manifest, of a stored version or live."""
    asked = call.query
    if asked["version"] is not None and (asked["policy"] or asked["judge"] or asked["unjudged"]):
        raise InvalidValueError("A kept version is what it is: “version” stands alone.")
    with database().reading() as session:
        if asked["version"] is not None:
            kept = qrels_versions.export_version(session, call.slug, asked["version"])
            return kept.qrels, kept.manifest
        made: QrelsExport = export_qrels(
            session,
            call.slug,
            policy=asked["policy"],
            judge=asked["judge"],
            with_unjudged=asked["unjudged"],
            made_at=now(),
        )
    return made.qrels, made.manifest
