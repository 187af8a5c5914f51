"""Registration of teams: while organisers keep it open, anybody may join a shared task for a new team."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import SHOWN_AS_NOTHING
from annotator.moments import write_moment
from annotator.storage import Collection, CollectionState, Invitation, Membership, Role, Run, Team
from annotator.storage.collections.collection import find_collection, lock_collection, lock_open_collection
from annotator.storage.people.accounts import Person, check_team_name
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.people.invitations import (
    InvitationRequest,
    accept_as,
    accept_with_new_account,
    invite,
)

GREATEST_MOST_TEAMS = 10_000


@dataclass(frozen=True)
class Registration:
    """Until when teams may register, None when they may not; the most teams there may be, and the teams there are."""

    until: datetime | None
    most_teams: int
    teams: int
    is_open: bool


@dataclass(frozen=True)
class RegistrationChange:
    """New values; None keeps the present one."""

    until: datetime | None = None
    most_teams: int | None = None


@dataclass(frozen=True)
class OpenRegistration:
    """What everybody may know of a task that takes registrations."""

    slug: str
    title: str
    until: datetime


def show_registration(session: Session, slug: str, *, now: datetime) -> Registration:
    """Whether teams may register."""
    return _registration(session, find_collection(session, slug), now)


def open_registration(session: Session, slug: str, change: RegistrationChange, *, at: datetime) -> Registration:
    """Let teams register until a moment, and up to a number of teams; the address may be published.

    Raises `InvalidValueError` for a moment that has passed or is missing and for a number out of range, and
    `ConflictError` for a team comparison, which has no participants, and a closed collection.
    """
    collection = lock_open_collection(session, slug)
    if collection.kind != CollectionKind.SHARED_TASK:
        raise ConflictError("A team comparison has no participants: registration is for shared tasks.")
    until = change.until or collection.registration_until
    if until is None:
        raise InvalidValueError("Until when may teams register? Give a moment.")
    if until <= at:
        raise InvalidValueError(
            "Registration would end at %(moment)s, which has passed: give a later moment.", moment=write_moment(until)
        )
    if change.most_teams is not None and not 1 <= change.most_teams <= GREATEST_MOST_TEAMS:
        raise InvalidValueError("The number of teams is from 1 to %(most)d.", most=GREATEST_MOST_TEAMS)
    collection.registration_until = until
    collection.most_teams = change.most_teams or collection.most_teams
    return _registration(session, collection, at)


def close_registration(session: Session, slug: str) -> None:
    """Let no further team register; those that did remain."""
    lock_collection(session, slug).registration_until = None


def find_open_registration(session: Session, slug: str, *, now: datetime) -> OpenRegistration:
    """What is shown to everybody; raises `NotFoundError`, whether there is no such collection or it is not open."""
    collection = _open_one(session, slug, now, find_collection)
    return OpenRegistration(collection.slug, collection.title, collection.registration_until or now)


def register(session: Session, slug: str, team: str, user_id: int, *, at: datetime) -> None:
    """Make an account the participant of a new team.

    Raises `NotFoundError` when registration is not open, `InvalidValueError` for an unusable name of a team,
    `ConflictError` for the name of a team there is, when there are as many teams as there may be, for an account that
    has a role which excludes it, and for one that an organiser has removed.
    """
    _refuse_removed(session, slug, user_id)
    accept_as(session, _place(session, slug, team, at), user_id, at=at)


def register_with_new_account(
    session: Session, slug: str, team: str, name: str, password_hash: str, *, at: datetime
) -> Person:
    """Create an account that is the participant of a new team; raises as `register` and `accept_with_new_account`."""
    return accept_with_new_account(session, _place(session, slug, team, at), name, password_hash, at=at)


def _place(session: Session, slug: str, team: str, at: datetime) -> str:
    """The secret of an invitation for a new team, which is used at once: the list of invitations then shows it.

    The lock lets the second of two registrations of the same name see the first.
    """
    collection = _open_one(session, slug, at, lock_collection)
    check_team_name(team)
    names = session.scalars(_teams(collection.id, at)).all()
    taken = next((name for name in names if _key(name) == _key(team)), None)
    if taken is not None:
        raise ConflictError(
            "There is a team “%(name)s” already. If it is yours, ask one of its members for a link; otherwise choose "
            "another name.",
            name=taken,
        )
    if len(names) >= collection.most_teams:
        raise ConflictError(
            "There are %(count)d teams, as many as the organisers take. Ask them for an invitation.", count=len(names)
        )
    wanted = InvitationRequest(Role.PARTICIPANT, team, days=1)
    return invite(session, slug, wanted, made_by_id=None, at=at).secret


def _teams(collection_id: int, at: datetime) -> Select[str]:
    """The names of teams with members, runs or open links; what else there is was made and left by somebody removed."""
    members = select(Membership.id).where(Membership.team_id == Team.id).correlate(Team)
    runs = select(Run.id).where(Run.team_id == Team.id).correlate(Team)
    links = select(Invitation.id).where(
        Invitation.collection_id == Team.collection_id,
        Invitation.team == Team.name,
        Invitation.used_at.is_(None),
        Invitation.withdrawn_at.is_(None),
        Invitation.expires_at > at,
    )
    return select(Team.name).where(
        Team.collection_id == collection_id, members.exists() | runs.exists() | links.correlate(Team).exists()
    )


def _refuse_removed(session: Session, slug: str, user_id: int) -> None:
    """Refuse an account that joined by a link as a participant, and is none any more."""
    joined = select(Invitation.id).join(Collection, Collection.id == Invitation.collection_id)
    joined = joined.where(
        Collection.slug == slug, Invitation.used_by_id == user_id, Invitation.role == Role.PARTICIPANT
    )
    present = select(Membership.id).join(Collection, Collection.id == Membership.collection_id)
    present = present.where(Collection.slug == slug, Membership.user_id == user_id, Membership.role == Role.PARTICIPANT)
    if session.scalar(joined.limit(1)) is not None and session.scalar(present) is None:
        raise ConflictError("An organiser has removed you from a team of this task: ask them for an invitation.")


def _key(name: str) -> str:
    """What two names have in common that people would take for the same: without case, width and invisible characters.

    Letters of different scripts that look alike stay different.
    """
    seen = SHOWN_AS_NOTHING.sub("", unicodedata.normalize("NFKC", name))
    return " ".join(seen.casefold().split())


def _is_open(collection: Collection, now: datetime) -> bool:
    return (
        collection.state == CollectionState.OPEN
        and collection.registration_until is not None
        and now < collection.registration_until
    )


def _registration(session: Session, collection: Collection, now: datetime) -> Registration:
    teams = session.scalars(select(func.count()).select_from(_teams(collection.id, now).subquery())).one()
    return Registration(collection.registration_until, collection.most_teams, teams, _is_open(collection, now))


def _open_one(session: Session, slug: str, now: datetime, find: Callable[[Session, str], Collection]) -> Collection:
    """The collection that takes registrations; `NotFoundError` otherwise, also when there is none of that name."""
    try:
        collection = find(session, slug)
    except NotFoundError:
        collection = None
    if collection is None or not _is_open(collection, now):
        raise NotFoundError("No team can register here: registration has not begun, or has ended.")
    return collection
