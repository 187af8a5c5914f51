"""Accounts, teams and roles in collections; ending of links, tokens and sessions; throttling of attempts."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, case, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.tables.people import (
    FORGOTTEN,
    GREATEST_NAME_LENGTH,
    ApiToken,
    Attempts,
    EndedSession,
    Identity,
    Invitation,
    Membership,
    Role,
    Team,
    User,
    UserKind,
)

# Participants see released scores, judges must not: nobody has two such roles of a collection unless this is forced.
EXCLUDED_BY: Mapping[Role, tuple[Role, ...]] = {
    Role.PARTICIPANT: (Role.JUDGE, Role.ADJUDICATOR),
    Role.JUDGE: (Role.PARTICIPANT,),
    Role.ADJUDICATOR: (Role.PARTICIPANT,),
}


@dataclass(frozen=True)
class Person:
    """A signed-in user; sessions with an older `generation` end when the password changes."""

    id: int
    name: str
    administrator: bool
    generation: int


def person_of(user: User) -> Person:
    """The signed-in view of an account."""
    return Person(user.id, user.name, user.administrator, user.sign_in_generation)


def find_user(session: Session, name: str) -> User:
    """The user with that name; raises `NotFoundError` when there is none."""
    user = session.scalar(select(User).where(User.name == name, User.being_imported.is_(False)))
    if user is None:
        raise NotFoundError("There is no user “%(name)s”.", name=name)
    return user


def locked_user(session: Session, name: str) -> User:
    """The user with that name, reread and locked (on PostgreSQL) until the transaction ends."""
    return lock_user(session, find_user(session, name).id)


def lock_user(session: Session, user_id: int) -> User:
    """The account with this id, reread and locked; in the order of locks it precedes links and tokens."""
    return session.get_one(User, user_id, with_for_update={"key_share": True}, populate_existing=True)


def check_team_name(name: str) -> None:
    """Raise `InvalidValueError` for a name that no team can have."""
    if not _is_usable(name.replace(" ", "_")) or name != name.strip():
        raise InvalidValueError(
            "A team's name has 1 to %(most)d printable characters and no blanks at its ends; “%(name)s” does not fit.",
            most=GREATEST_NAME_LENGTH,
            name=name,
        )


def find_or_add_team(session: Session, collection_id: int, name: str) -> Team:
    """The team with that name in the collection, created if missing; raises as `check_team_name`."""
    check_team_name(name)
    team = session.scalar(select(Team).where(Team.collection_id == collection_id, Team.name == name))
    if team is None:
        team = Team(collection_id=collection_id, name=name)
        session.add(team)
        session.flush()
    return team


def find_or_add_user(session: Session, name: str, added_at: datetime) -> User:
    """The account with that name, created if missing, without a password, so that it cannot sign in."""
    user = session.scalar(select(User).where(User.name == name))
    if user is None:
        user = new_user(
            session, name, password_hash=None, administrator=False, added_at=added_at, may_be_forgotten=True
        )
    refuse_unfinished(user)
    return user


def refuse_unfinished(user: User) -> None:
    """Raise `ConflictError` for an account of an archive whose import is unfinished."""
    if user.being_imported:
        raise ConflictError(
            "The account “%(name)s” comes with a collection that is being imported. Try again later.", name=user.name
        )


def new_user(
    session: Session,
    name: str,
    *,
    password_hash: str | None,
    administrator: bool,
    added_at: datetime,
    may_be_forgotten: bool = False,
) -> User:
    """Create an account; names are printable, without blanks, and unique without regard to case.

    Only an import (`may_be_forgotten`) may use a name of an erased account. Raises `InvalidValueError` for an unusable
    name and `ConflictError` for an existing one.
    """
    if not _is_usable(name):
        raise InvalidValueError(
            "A user's name has 1 to %(most)d printable characters and no blanks; “%(name)s” does not fit.",
            most=GREATEST_NAME_LENGTH,
            name=name,
        )
    key = unicodedata.normalize("NFKC", name).casefold()
    if key.startswith(FORGOTTEN) and not may_be_forgotten:
        raise InvalidValueError(
            "Names that begin with “%(beginning)s” are reserved for erased accounts.", beginning=FORGOTTEN
        )
    taken = session.scalar(select(User.name).where(User.name_key == key))
    if taken is not None:
        raise ConflictError("The name “%(name)s” is taken.", name=taken)
    user = User(name=name, name_key=key, password_hash=password_hash, administrator=administrator, added_at=added_at)
    session.add(user)
    session.flush()
    return user


def give_role(
    session: Session,
    collection_id: int,
    user: User,
    role: Role,
    *,
    team: str | None = None,
    added_at: datetime,
    force: bool = False,
) -> bool:
    """Add a membership; a participant needs a team, and other roles have none. Returns whether it was forced.

    Raises `InvalidValueError` when this is violated, and `ConflictError` for a role already held, and for a judge or
    adjudicator who becomes a participant or the reverse, unless it is to be forced.
    """
    if (role == Role.PARTICIPANT) != bool(team):
        raise InvalidValueError("A participant belongs to a team, and only a participant does.")
    if find_membership(session, collection_id, user.id, role) is not None:
        raise ConflictError("“%(name)s” has the role %(role)s already.", name=user.name, role=role)
    excluding = [one for one in EXCLUDED_BY.get(role, ()) if find_membership(session, collection_id, user.id, one)]
    if excluding and not force:
        raise ConflictError(
            "“%(name)s” has the role %(held)s, which excludes the role %(role)s: participants see released scores, and "
            "judges must not. An organiser can allow it on the page of members, or by command with --force.",
            name=user.name,
            held=excluding[0],
            role=role,
        )
    team_id = find_or_add_team(session, collection_id, team).id if team else None
    session.add(Membership(user_id=user.id, collection_id=collection_id, role=role, team_id=team_id, added_at=added_at))
    return bool(excluding)


def find_membership(session: Session, collection_id: int, user_id: int, role: Role) -> Membership | None:
    """A person's membership with this role in a collection; None when they do not have it."""
    return session.scalar(
        select(Membership).where(
            Membership.collection_id == collection_id, Membership.user_id == user_id, Membership.role == role
        )
    )


def refuse_without_organiser(session: Session, collection_id: int, slug: str, leaving: User) -> None:
    """Raise `ConflictError` when this organiser is the last one; the caller has locked the collection.

    An account that has no password yet does not replace an organiser who can sign in.
    """
    others = (
        select(Membership.id)
        .join(User, User.id == Membership.user_id)
        .where(
            Membership.collection_id == collection_id,
            Membership.role == Role.ORGANISER,
            Membership.user_id != leaving.id,
        )
    )
    if leaving.password_hash is not None:
        others = others.where(User.password_hash.is_not(None))
    if session.scalar(others.limit(1)) is None:
        raise ConflictError(
            "Without “%(name)s” nobody who can sign in would organise “%(slug)s”: make somebody else an organiser "
            "first.",
            name=leaving.name,
            slug=slug,
        )


def refuse_person_elsewhere(session: Session, collection_id: int, judge: User) -> None:
    """Raise `ConflictError` when imported labels name a person who is not a member of the collection.

    An account without password and roles is not a person's: an import of labels created it.
    """
    if judge.kind == UserKind.MACHINE:
        return
    places = set(session.scalars(select(Membership.collection_id).where(Membership.user_id == judge.id)))
    if (judge.password_hash is not None or places) and collection_id not in places:
        raise ConflictError(
            "“%(name)s” is the account of a person who is no member of this collection: make them a member first, or "
            "give the labels the name of another judge.",
            name=judge.name,
        )


def replace_password(user: User, new_hash: str) -> None:
    """Change the password of a locked account; all of its sessions end."""
    user.password_hash = new_hash
    end_sessions(user)


def end_sessions(user: User) -> None:
    """End all sessions of an account; the caller has locked it, so that concurrent increments are not lost."""
    user.sign_in_generation += 1


def _is_usable(name: str) -> bool:
    """Whether a name can be one field of any export format."""
    return 1 <= len(name) <= GREATEST_NAME_LENGTH and name.isprintable() and not any(map(str.isspace, name))


def joined_by_link(session: Session, collection_id: int, user: User) -> bool:
    """Whether the user accepted an invitation to the collection, or a file of its members created the account."""
    accepted = (Invitation.used_by_id == user.id) & Invitation.role.is_not(None)
    made = (Invitation.user_id == user.id) & (Invitation.made_at == user.added_at)
    links = select(Invitation.id).where(Invitation.collection_id == collection_id, accepted | made)
    return session.scalar(links.limit(1)) is not None


def withdraw_password_links(session: Session, user_id: int, *, at: datetime) -> None:
    """Withdraw every unused password link of an account."""
    ended = update(Invitation).where(
        Invitation.user_id == user_id, Invitation.used_at.is_(None), Invitation.withdrawn_at.is_(None)
    )
    session.execute(ended.values(withdrawn_at=at))


def withdraw_links_to_team(session: Session, left: Membership, *, at: datetime) -> None:
    """Withdraw every unused link to the team that a participant leaves: they might use one of theirs themselves."""
    ended = update(Invitation).where(
        Invitation.collection_id == left.collection_id,
        Invitation.team.in_(select(Team.name).where(Team.id == left.team_id)),
        Invitation.made_by_id == left.user_id,
        Invitation.used_at.is_(None),
        Invitation.withdrawn_at.is_(None),
    )
    session.execute(ended.values(withdrawn_at=at))


def revoke_all(session: Session, user_id: int, *, at: datetime) -> None:
    """Revoke every active token of an account."""
    session.execute(
        update(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None)).values(revoked_at=at)
    )


def labels_by_account(session: Session) -> dict[int, list[str]]:
    """Id of an account → its identities at a provider, as people recognise them: address, or else the subject."""
    found: dict[int, list[str]] = {}
    for user_id, label, subject in session.execute(
        select(Identity.user_id, Identity.label, Identity.subject).order_by(Identity.id)
    ):
        found.setdefault(user_id, []).append(label or subject)
    return found


_COUNTED = cast("Table", Attempts.__table__)
_ADDED: dict[str, object] = {"key": bindparam("key"), "count": 1, "ends_at": bindparam("ends_at")}
_HAS_ENDED = _COUNTED.c.ends_at <= bindparam("now", type_=_COUNTED.c.ends_at.type)
_CHANGED: dict[str, object] = {
    "count": case((_HAS_ENDED, 1), else_=_COUNTED.c.count + 1),
    "ends_at": case((_HAS_ENDED, bindparam("ends_at", type_=_COUNTED.c.ends_at.type)), else_=_COUNTED.c.ends_at),
}
COUNT = {
    name: kind.insert(_COUNTED).values(_ADDED).on_conflict_do_update(index_elements=[_COUNTED.c.key], set_=_CHANGED)
    for name, kind in (("sqlite", sqlite), ("postgresql", postgresql))
}


def count_attempt(session: Session, windows: Mapping[str, timedelta], *, now: datetime) -> None:
    """Count an attempt under each key; a count restarts when its window since the first attempt has passed."""
    session.execute(delete(Attempts).where(Attempts.ends_at <= now))
    rows = [{"key": key, "now": now, "ends_at": now + window} for key, window in windows.items()]
    session.execute(COUNT[session.get_bind().dialect.name], rows)


def attempts_so_far(session: Session, keys: Iterable[str], *, now: datetime) -> dict[str, tuple[int, datetime]]:
    """Key → (number of attempts, end of the window); keys without attempts are absent."""
    found = session.scalars(select(Attempts).where(Attempts.key.in_(keys), Attempts.ends_at > now))
    return {one.key: (one.count, one.ends_at) for one in found}


_ENDED = cast("Table", EndedSession.__table__)
END = {
    "sqlite": sqlite.insert(_ENDED).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(_ENDED).on_conflict_do_nothing(),
}


def end_session(session: Session, key: str, *, until: datetime, now: datetime) -> None:
    """Store a session as ended until its cookie would expire; idempotent."""
    session.execute(delete(EndedSession).where(EndedSession.until < now))
    if until > now:
        session.execute(END[session.get_bind().dialect.name], {"key": key, "until": until})


def has_ended(session: Session, key: str) -> bool:
    """Whether the session was ended."""
    return session.get(EndedSession, key) is not None
