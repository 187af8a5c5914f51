"""The collections that the caller may see, their contents and guidelines, and details of the token in use."""

from marshmallow import Schema, fields

from annotator.api.site.access import JUDGE, caller, gate_of, token_in_use
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of
from annotator.api.site.values import Moment, whole
from annotator.storage import Role
from annotator.web.site.context import database, the_place
from annotator.workflows.collections import collection, collection_list
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.people import members
from annotator.workflows.people.tokens import Scope

resource = resource_of("collections", "Evaluation exercises: topics, documents, runs, judgements.")

ANY_SCOPE = tuple(Scope)


class TokenView(Schema):
    """For whom a token acts, and what it opens."""

    name = fields.String(required=True)
    administrator = fields.Boolean(required=True)
    scopes = fields.List(fields.String, required=True)


class GradeView(Schema):
    """A grade of the scale."""

    value = fields.Integer(required=True)
    name = fields.String(required=True)
    description = fields.String(required=True)


class CollectionRow(Schema):
    """A collection as lists show it."""

    slug = fields.String(required=True)
    title = fields.String(required=True)
    kind = fields.String(required=True, metadata={"description": "shared-task or comparison."})
    closed = fields.Boolean(required=True)
    roles = fields.List(fields.String, required=True, metadata={"description": "The caller's."})


class CollectionDetails(CollectionRow):
    """A collection with its scale and rules; only organisers get the counts."""

    team = fields.String(required=True, allow_none=True, metadata={"description": "The caller's."})
    scale = fields.List(fields.Nested(GradeView), required=True)
    relevant_from = fields.Integer(required=True)
    submissions_until = Moment(required=True, allow_none=True)
    submissions_until_written = fields.String(
        required=True, metadata={"description": "The deadline as the organiser wrote it, with its zone; may be empty."}
    )
    counts = fields.Dict(fields.String, fields.Integer, required=True, allow_none=True)


class GuidelinesView(Schema):
    """The guidelines in force; number 0 and no text before the first version."""

    number = fields.Integer(required=True)
    text = fields.String(required=True, metadata={"description": "Markdown."})


class AcceptanceBody(Schema):
    """Which version was read."""

    number = whole(1, required=True)


@operation(resource, "GET", "/token", gate_of([]), Gives(TokenView))
def show_token(_call: Call) -> object:
    """Show the owner and the scopes of this token."""
    return {**vars(caller()), "scopes": sorted(token_in_use().scopes)}


@operation(resource, "GET", "/collections", gate_of(ANY_SCOPE), Gives(CollectionRow, many=True), Takes(pages=True))
def list_collections(_call: Call) -> object:
    """List the collections of the caller; for an administrator, all."""
    person, only = caller(), token_in_use().collection_id
    with database().reading() as session:
        shown = collection_list.list_collections(session, None if person.administrator else person.id, only_id=only)
        roles = members.roles_everywhere(session, person.id)
    return [_row(one, roles.get(one.slug, frozenset())) for one in shown]


@operation(resource, "GET", "/collections/<slug>", gate_of(ANY_SCOPE, []), Gives(CollectionDetails))
def show_collection(call: Call) -> object:
    """Show a collection with its scale and its rules."""
    place, counts = the_place(), None
    if place.organises:
        with database().reading() as session:
            counts = vars(collection.count_collection(session, call.slug))
    shown = place.collection
    return {
        **_row(shown, place.roles),
        "team": place.team,
        "scale": shown.scale,
        "relevant_from": shown.relevant_from,
        "submissions_until": shown.submissions_until,
        "submissions_until_written": shown.submissions_until_written,
        "counts": counts,
    }


@operation(resource, "GET", "/collections/<slug>/guidelines", gate_of(ANY_SCOPE, []), Gives(GuidelinesView))
def show_guidelines(call: Call) -> object:
    """Show the guidelines for judges."""
    return database().read(collection.show_guidelines, call.slug)


@operation(
    resource,
    "POST",
    "/collections/<slug>/guidelines/acceptances",
    JUDGE,
    Gives(GuidelinesView),
    Takes(body=AcceptanceBody),
)
def accept_guidelines(call: Call) -> object:
    """Accept this version of the guidelines; the caller can draw documents only afterwards."""
    with database().transaction() as session:
        collection.accept_guidelines(session, call.slug, caller().id, call.body["number"])
    return database().read(collection.show_guidelines, call.slug)


def _row(shown: CollectionView, roles: frozenset[Role]) -> dict[str, object]:
    return {
        "slug": shown.slug,
        "title": shown.title,
        "kind": shown.kind,
        "closed": shown.closed,
        "roles": sorted(roles),
    }
