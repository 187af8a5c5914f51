"""Who calls, by a token alone, and what the token and its owner's roles open."""

from collections.abc import Collection
from dataclasses import dataclass

from flask import Response, g, request

from annotator.api.site.problems import problem
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
    """What an operation asks of its caller: one of these scopes, and in a collection one of these roles.

    Without roles any member may; an operation without a collection has None for them.
    """

    scopes: frozenset[Scope]
    roles: frozenset[Role] | None


def gate_of(scopes: Collection[Scope] = (), roles: Collection[Role] | None = None) -> Gate:
    """A gate for tokens with one of these scopes, in a collection for one of these roles; no role means any member."""
    return Gate(frozenset(scopes), None if roles is None else frozenset(roles))


# The gates that several operations have.
READ = gate_of([Scope.READ], [Role.ORGANISER])
OBSERVE = gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER])
SEE_SCORES = gate_of([Scope.READ], [Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT])
ORGANISE = gate_of([Scope.ORGANISE], [Role.ORGANISER])
JUDGE = gate_of([Scope.JUDGE], [Role.JUDGE])
SEE_RUNS = gate_of([Scope.READ, Scope.RUNS], [Role.ORGANISER, Role.PARTICIPANT])
SEND_RUNS = gate_of([Scope.RUNS], [Role.ORGANISER, Role.PARTICIPANT])


def let_in(gate: Gate, slug: str | None) -> Response | None:
    """Find out who calls and let them in, or say why not; `caller` and `the_place` tell who it is from then on.

    Cookies are not looked at, so that no page of another site can call in a reader's name.
    """
    owner = _owner()
    if owner is None:
        return problem(
            UNAUTHORIZED,
            "Send “Authorization: Bearer TOKEN” with a token that is known, has not expired and was not revoked.",
            {"WWW-Authenticate": 'Bearer realm="annotator"'},
        )
    g.token_owner = owner
    g.caller_id = owner.person.id  # for the request log, also of what is refused
    if gate.scopes and not gate.scopes & owner.scopes:
        needed = " ".join(sorted(gate.scopes))
        return problem(
            FORBIDDEN,
            f"This token does not open this address: it needs one of the scopes {needed}.",
            {"WWW-Authenticate": f'Bearer realm="annotator", error="insufficient_scope", scope="{needed}"'},
        )
    if slug is not None:
        g.place = _place(slug, owner, gate.roles or ())
    return None


def caller() -> Person:
    """Who calls."""
    owner: TokenOwner = g.token_owner
    return owner.person


def token_in_use() -> TokenOwner:
    """The token that the call came with."""
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
            pass  # the next call notes it
    return owner


def _place(slug: str, owner: TokenOwner, roles: Collection[Role]) -> Place:
    """The collection as the caller may see it; for a token of another one it is as if it did not exist."""
    place = place_of(slug, owner.person)
    if owner.collection_id is not None:
        with database().reading() as session:
            if find_collection(session, slug).id != owner.collection_id:
                raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    if roles and not place.roles & set(roles):
        raise NotAllowedError("Your role in this collection does not open this.")
    return place
