"""API tokens of accounts: create, list, revoke, and look up the owner and scopes."""

from collections.abc import Collection as Several
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.passwords import new_secret, secret_fingerprint
from annotator.storage import ApiToken, Collection, Membership, User
from annotator.storage.collections.collection import find_collection
from annotator.storage.people.accounts import Person, find_user, locked_user, person_of

PREFIX = "ann_"  # lets secret scanners find a leaked token
LONGEST_NAME = 64
MOST_DAYS = 366
MOST_TOKENS = 50  # per account
# Limits writes: a program may send a hundred requests a minute.
NOTED_EVERY = timedelta(minutes=1)


class Scope(StrEnum):
    """The access a token gives, within its owner's roles."""

    READ = "read"
    RUNS = "runs"
    JUDGE = "judge"
    ORGANISE = "organise"


@dataclass(frozen=True)
class TokenOwner:
    """The owner of a token and its scopes; without a collection it is valid in all of the owner's."""

    person: Person
    scopes: frozenset[Scope]
    collection_id: int | None
    token_id: int
    is_noted: bool  # last use was recorded recently


@dataclass(frozen=True)
class TokenRequest:
    """A token to create; without a slug it is valid in all the owner's collections, without days it never expires."""

    name: str
    scopes: Several[Scope]
    slug: str | None = None
    days: int | None = None


@dataclass(frozen=True)
class TokenRow:
    """A token in lists, without its secret, which is not stored."""

    id: int
    owner: str
    name: str
    scopes: tuple[Scope, ...]
    slug: str | None
    made_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    in_force: bool


def token_owner(session: Session, secret: str, *, now: datetime) -> TokenOwner | None:
    """The owner of the token with this secret; None if it is unknown, expired or revoked."""
    return _owner_where(session, ApiToken.fingerprint == secret_fingerprint(secret), now)


def owner_of_token(session: Session, token_id: int, *, now: datetime) -> TokenOwner | None:
    """The owner of the token with this id; None if it is expired or revoked."""
    return _owner_where(session, ApiToken.id == token_id, now)


def _owner_where(session: Session, is_it: ColumnElement[bool], now: datetime) -> TokenOwner | None:
    row = session.execute(select(ApiToken, User).join(User, User.id == ApiToken.user_id).where(is_it)).one_or_none()
    if row is None or not _is_in_force(row[0], now):
        return None
    token, user = row
    return TokenOwner(
        person_of(user),
        frozenset(map(Scope, token.scopes.split())),
        token.collection_id,
        token.id,
        is_noted=token.last_used_at is not None and now - token.last_used_at < NOTED_EVERY,
    )


def note_use(session: Session, token_id: int, *, at: datetime) -> None:
    """Record the time of a token's last use."""
    session.get_one(ApiToken, token_id).last_used_at = at


def make_token(session: Session, name: str, wanted: TokenRequest, *, at: datetime) -> str:
    """Create a token for the account of that name and return its secret, which is not stored.

    Raises `InvalidValueError` for an invalid name, no scope or an invalid number of days, `NotFoundError` for a
    collection of which the owner is no member, and `ConflictError` when there are too many tokens already.
    """
    owner = locked_user(session, name)
    _check(wanted)
    in_force = [row for row in list_tokens(session, name, now=at) if row.in_force]
    if len(in_force) >= MOST_TOKENS:
        raise ConflictError("An account has at most %(most)d tokens. Revoke one that is not needed.", most=MOST_TOKENS)
    secret = new_secret(PREFIX)
    session.add(
        ApiToken(
            user_id=owner.id,
            name=wanted.name,
            fingerprint=secret_fingerprint(secret),
            scopes=" ".join(scope for scope in Scope if scope in wanted.scopes),
            collection_id=_collection_id(session, owner, wanted.slug) if wanted.slug else None,
            made_at=at,
            expires_at=at + timedelta(days=wanted.days) if wanted.days else None,
        )
    )
    return secret


def list_tokens(session: Session, name: str | None = None, *, now: datetime) -> Sequence[TokenRow]:
    """The tokens of one account, or of all; newest first."""
    rows = session.execute(
        select(ApiToken, User.name, Collection.slug)
        .join(User, User.id == ApiToken.user_id)
        .outerjoin(Collection, Collection.id == ApiToken.collection_id)
        .where(*([] if name is None else [ApiToken.user_id == find_user(session, name).id]))
        .order_by(ApiToken.id.desc())
    )
    return [_row(token, owner, slug, now) for token, owner, slug in rows]


def revoke_token(session: Session, token_id: int, *, owner_id: int | None = None, at: datetime) -> str:
    """Revoke a token, of this owner if one is given, and return its name; idempotent.

    Raises `NotFoundError` for an unknown token.
    """
    token = session.get(ApiToken, token_id)
    if token is None or owner_id not in (None, token.user_id):
        raise NotFoundError("There is no token %(number)d.", number=token_id)
    token.revoked_at = token.revoked_at or at
    return token.name


def read_scopes(written: str) -> frozenset[Scope]:
    """Parse scopes such as “read runs”, separated by blanks or commas; raises `InvalidValueError`."""
    known = {scope.value: scope for scope in Scope}
    words = written.replace(",", " ").split()
    for word in words:
        if word not in known:
            raise InvalidValueError(
                "“%(word)s” is no scope: a token has some of read, runs, judge and organise.", word=word
            )
    return frozenset(known[word] for word in words)


def _check(wanted: TokenRequest) -> None:
    if not (1 <= len(wanted.name.strip()) <= LONGEST_NAME and wanted.name.isprintable()):
        raise InvalidValueError("A token's name has 1 to %(most)d printable characters.", most=LONGEST_NAME)
    if not wanted.scopes:
        raise InvalidValueError("A token without a scope opens nothing: choose one at least.")
    if wanted.days is not None and not 1 <= wanted.days <= MOST_DAYS:
        raise InvalidValueError("The number of days is between 1 and %(most)d.", most=MOST_DAYS)


def _collection_id(session: Session, owner: User, slug: str) -> int:
    collection = find_collection(session, slug)
    roles = select(func.count()).where(Membership.collection_id == collection.id, Membership.user_id == owner.id)
    if not owner.administrator and not session.scalar(roles):
        # The same message as for a collection that does not exist.
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    return collection.id


def _row(token: ApiToken, owner: str, slug: str | None, now: datetime) -> TokenRow:
    return TokenRow(
        token.id,
        owner,
        token.name,
        tuple(map(Scope, token.scopes.split())),
        slug,
        token.made_at,
        token.expires_at,
        token.last_used_at,
        token.revoked_at,
        _is_in_force(token, now),
    )


def _is_in_force(token: ApiToken, now: datetime) -> bool:
    return token.revoked_at is None and (token.expires_at is None or now < token.expires_at)
