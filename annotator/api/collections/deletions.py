"""Deletions: delete data, list what can be restored, restore it."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import actor, note
from annotator.api.site.access import ORGANISE, caller, gate_of, token_in_use
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.values import Moment, Text, one_of
from annotator.storage import DeletedKind
from annotator.web.site.context import database, now, settings
from annotator.workflows.collections import restoring
from annotator.workflows.collections.deletions import delete_it, foresee_deletion, prepare_deletion
from annotator.workflows.people.tokens import Scope

resource = resource_of("deletions", "Deletions, which can be restored for some days; for organisers.")


class DeletionView(Schema):
    """Something that was deleted and can be restored."""

    number = fields.Integer(required=True)
    kind = fields.String(required=True)
    subject = fields.String(
        required=True,
        metadata={"description": "What was deleted, such as the number of a topic or a version of the pool."},
    )
    counts = fields.Dict(keys=fields.String, values=fields.Integer, required=True)
    deleted_at = Moment(required=True)
    until = Moment(required=True, metadata={"description": "When it will be purged."})


class DeletedCollectionView(Schema):
    """A deleted collection that can be restored."""

    slug = fields.String(required=True)
    title = fields.String(required=True)
    deleted_at = Moment(required=True)
    until = Moment(required=True, metadata={"description": "When it will be purged."})


class DeletionBody(Schema):
    """What to delete."""

    kind = one_of([kind.value for kind in DeletedKind], required=True)
    subjects = fields.List(Text(), load_default=list, metadata={"description": "The docnos, or one number."})
    typed = Text(
        load_default=None,
        metadata={"description": "The topic's number or the collection's short name, where judgements go with it."},
    )
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only count, and delete nothing."})


class DeletedView(Schema):
    """What a deletion took away, or would take away."""

    number = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The number of the deletion; null for a dry run."}
    )
    kind = fields.String(required=True)
    subject = fields.String(required=True)
    counts = fields.Dict(keys=fields.String, values=fields.Integer, required=True)
    to_type = fields.String(required=True, metadata={"description": "The required value of “typed”; empty if none is."})


class RestoredView(Schema):
    """What was restored."""

    kind = fields.String(required=True)


@operation(
    resource, "GET", "/collections/<slug>/deletions", ORGANISE, Gives(DeletionView, many=True), Takes(pages=True)
)
def list_deletions(call: Call) -> object:
    """List the deletions that can be restored, newest first."""
    return database().read(restoring.list_deletions, call.slug, days=settings().deletion_days)


@operation(resource, "POST", "/collections/<slug>/deletions", ORGANISE, Gives(DeletedView), Takes(body=DeletionBody))
def delete(call: Call) -> object:
    """Delete a topic, the newest version of the pool, an import of labels, documents' texts, or the collection."""
    kind, subjects, at, number = DeletedKind(call.body["kind"]), call.body["subjects"], now(), None
    with database().reading() as session:
        foreseen = foresee_deletion(session, call.slug, kind, subjects, at=at)
    if not call.body["dry_run"]:
        known = {"typed": call.body["typed"], "foreseen": foreseen}
        prepared = database().read(prepare_deletion, call.slug, kind, subjects)
        with database().transaction() as session:
            number, foreseen = delete_it(
                session, call.slug, kind, subjects, **known, actor=actor(), at=at, prepared=prepared
            )
    return {**vars(foreseen), "kind": kind.value, "number": number}


@operation(resource, "POST", "/collections/<slug>/deletions/<row:number>/restore", ORGANISE, Gives(RestoredView))
def restore(call: Call) -> object:
    """Restore a deletion, unchanged."""
    number = int(call.path["number"])
    read = database().read(restoring.read_deletion, call.slug, number)
    with database().transaction() as session:
        kind = restoring.restore_deletion(session, call.slug, number, read=read, at=now())
        note(session, "deletions.restore", call.slug, subject=number, details={"kind": kind.value})
    return {"kind": kind.value}


@operation(
    resource,
    "GET",
    "/deleted-collections",
    gate_of([Scope.ORGANISE]),
    Gives(DeletedCollectionView, many=True),
    Takes(pages=True),
)
def list_deleted_collections(_call: Call) -> object:
    """List the deleted collections that the caller organised and can restore; for an administrator, all."""
    return database().read(restoring.list_deleted_collections, days=settings().deletion_days, **_restorable())


# Not called `slug`: for a `slug` the gate looks up the collection, and a deleted one is not found.
@operation(resource, "POST", "/deleted-collections/<name>/restore", gate_of([Scope.ORGANISE]), Gives(RestoredView))
def restore_collection(call: Call) -> object:
    """Restore a deleted collection that the caller organised; administrators restore any."""
    slug = call.path["name"]
    with database().transaction() as session:
        restoring.restore_collection(session, slug, at=now(), **_restorable())
        note(session, "collections.restore", slug)
    return {"kind": DeletedKind.COLLECTION.value}


def _restorable() -> dict[str, int | None]:
    """The filter for deleted collections that the caller may restore with this token."""
    person = caller()
    return {
        "organised_by": None if person.administrator else person.id,
        "only_id": token_in_use().collection_id,
    }
