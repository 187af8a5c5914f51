"""Authentication by token, and what the scopes of the token and the roles of its owner allow."""

from collections.abc import Collection
from dataclasses import dataclass

from flask import Response, g, request

from annotator.api.site.problems import SCOPE, problem
from annotator.errors import BusyError, NotAllowedError, NotFoundError
from annotator.storage import Role
from annotator.storage.collections.collection import find_collection
from annotator.storage.people.accounts import Person
from annotator.web.site.access import place_of
from annotator.web.site.background import work
from annotator.web.site.context import Place, database, now
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import Scope, TokenOwner

UNAUTHORIZED = 401
FORBIDDEN = 403
KIND = "bearer"


@dataclass(frozen=True)
class Gate:
    """A caller needs one of these scopes and one of these roles.

    With no roles any member may call; `roles` is None for operations outside a collection. `administrator` restricts
    it to administrators, with a token that is valid for every collection.
    """

    scopes: frozenset[Scope]
    roles: frozenset[Role] | None
    administrator: bool = False


def gate_of(scopes: Collection[Scope] = (), roles: Collection[Role] | None = None) -> Gate:
    """A gate for tokens with one of these scopes and callers with one of these roles; no roles means any member."""
    return Gate(frozenset(scopes), None if roles is None else frozenset(roles))


# Gates that several operations share.
READ = gate_of([Scope.READ], [Role.ORGANISER])
OBSERVE = gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER])
SEE_SCORES = gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT])
ORGANISE = gate_of([Scope.ORGANISE], [Role.ORGANISER])
ADMINISTER = Gate(frozenset([Scope.ORGANISE]), None, administrator=True)
JUDGE = gate_of([Scope.JUDGE], [Role.JUDGE])
SEE_RUNS = gate_of([Scope.READ, Scope.RUNS], [Role.ORGANISER, Role.PARTICIPANT])
SEND_RUNS = gate_of([Scope.RUNS], [Role.ORGANISER, Role.PARTICIPANT])


def let_in(gate: Gate, slug: str | None) -> Response | None:
    """Authenticate the caller and set `caller` and `the_place`, or return the response that refuses the request.

    Cookies are ignored, so that no other site can call the API in a reader's name (CSRF).
    """
    owner = _owner()
    if owner is None:
        return problem(
            UNAUTHORIZED,
            "Send “Authorization: Bearer TOKEN” with a token that is known, has not expired and was not revoked.",
            {"WWW-Authenticate": 'Bearer realm="annotator"'},
        )
    g.token_owner = owner
    g.caller_id = owner.person.id  # for the request log, also when the request is refused
    if (missing := without_scope(gate.scopes)) is not None:
        return missing
    if slug is not None:
        g.place = _place(slug, owner, gate.roles or ())
    if gate.administrator and not (owner.person.administrator and owner.collection_id is None):
        return problem(FORBIDDEN, "This is for administrators, with a token that is valid for every collection.")
    return None


def without_scope(scopes: Collection[Scope]) -> Response | None:
    """The problem of a token that has none of these scopes; None when it has one, or when none is needed."""
    if not scopes or token_in_use().scopes.intersection(scopes):
        return None
    needed = " ".join(sorted(scopes))
    return problem(
        FORBIDDEN,
        f"This token does not open this address: it needs one of the scopes {needed}.",
        {"WWW-Authenticate": f'Bearer realm="annotator", error="insufficient_scope", scope="{needed}"'},
        kind=SCOPE,
    )


def caller() -> Person:
    """The owner of the token in use."""
    owner: TokenOwner = g.token_owner
    return owner.person


def token_in_use() -> TokenOwner:
    """The token of this request, with its owner."""
    owner: TokenOwner = g.token_owner
    return owner


def _owner() -> TokenOwner | None:
    if (at_work := work()) is not None and at_work.token_id is not None:
        return database().read(tokens.owner_of_token, at_work.token_id, now=now())
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != KIND or not secret.strip():
        return None
    at = now()
    owner = database().read(tokens.token_owner, secret.strip(), now=at)
    if owner is not None and not owner.is_noted:
        try:
            with database().transaction() as session:
                tokens.note_use(session, owner.token_id, at=at)
        except BusyError:
            pass  # the next request notes it
    return owner


def _place(slug: str, owner: TokenOwner, roles: Collection[Role]) -> Place:
    """The collection as the caller sees it; one that the token is not valid for is reported as not found."""
    place = place_of(slug, owner.person)
    if owner.collection_id is not None:
        with database().reading() as session:
            if find_collection(session, slug).id != owner.collection_id:
                raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    if roles and not place.roles & set(roles):
        raise NotAllowedError("Your role in this collection does not open this.")
    return place
