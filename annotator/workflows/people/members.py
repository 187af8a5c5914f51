"""Who takes part in a collection, and as what."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage import (
    ACCEPTED,
    IN_FORCE,
    Assignment,
    Collection,
    Judgement,
    Membership,
    PoolItem,
    Purpose,
    Role,
    Run,
    Team,
    Topic,
    User,
)
from annotator.storage.collections.collection import find_collection, lock_collection
from annotator.storage.judging.judging import give_back
from annotator.storage.people.accounts import (
    find_membership,
    find_user,
    give_role,
    refuse_without_organiser,
)
from annotator.storage.tables.collections import SHOWN


@dataclass(frozen=True)
class MemberRow:
    """One role of one person, and when they accepted the terms that are in force."""

    name: str
    role: Role
    team: str | None
    terms_accepted_at: datetime | None


@dataclass(frozen=True)
class TeamRow:
    """A team with the names of those who send its runs."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """What one person may do in one collection."""

    roles: frozenset[Role]
    team: str | None


@dataclass(frozen=True)
class Removal:
    """What comes with taking a role away: documents that go back to the queue, and judgements of theirs that stay.

    `owned` are the accepted topics that a judge owns, which wait for another owner.
    """

    returned: int = 0
    judgements: int = 0
    owned: int = 0


def add_member(
    session: Session, slug: str, name: str, role: Role, *, team: str | None = None, added_at: datetime
) -> None:
    """Give a person a role; a participant needs a team, and nobody else has one.

    Raises `NotFoundError` for an unknown person and `ConflictError` for a role already held.
    """
    collection = lock_collection(session, slug)
    give_role(session, collection.id, find_user(session, name), role, team=team, added_at=added_at)


def remove_member(session: Session, slug: str, name: str, role: Role) -> Removal:
    """Take a role away; what somebody still holds by it goes back to the queue, what was judged or decided stays.

    Raises `NotFoundError` for a role that is not held, and `ConflictError` for the last organiser.
    """
    # Who draws at this moment is waited for, and what they drew goes back, too.
    collection = lock_collection(session, slug, against_judging=True)
    user = find_user(session, name)
    membership = find_membership(session, collection.id, user.id, role)
    if membership is None:
        raise NotFoundError("“%(name)s” does not have the role %(role)s.", name=name, role=role)
    if role == Role.ORGANISER:
        refuse_without_organiser(session, collection.id, slug, user)
    session.delete(membership)
    if role not in (Role.JUDGE, Role.ADJUDICATOR):
        return Removal()
    in_collection = select(PoolItem.id).join(Topic).where(Topic.collection_id == collection.id)
    decides = Assignment.purpose == Purpose.ADJUDICATION
    by_role = decides if role == Role.ADJUDICATOR else ~decides
    judged = (
        select(func.count(Judgement.id))
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(Judgement.judge_id == user.id, Judgement.current, Judgement.pool_item_id.in_(in_collection), by_role)
    )
    owned = select(func.count(Topic.id)).where(
        Topic.collection_id == collection.id, ACCEPTED, Topic.owner_id == user.id
    )
    return Removal(
        returned=give_back(
            session, Assignment.judge_id == user.id, Assignment.pool_item_id.in_(in_collection), by_role
        ),
        judgements=session.scalars(judged).one(),
        owned=session.scalars(owned).one() if role == Role.JUDGE else 0,
    )


def list_members(session: Session, slug: str) -> list[MemberRow]:
    """Every role in the collection, by person."""
    rows = session.execute(
        select(User.name, Membership.role, Team.name, Membership.terms_accepted_at)
        .join(Membership, Membership.user_id == User.id)
        .outerjoin(Team, Team.id == Membership.team_id)
        .where(Membership.collection_id == find_collection(session, slug).id)
        .order_by(User.name, Membership.role)
    )
    return [MemberRow(name, Role(role), team, accepted_at) for name, role, team, accepted_at in rows]


def teams_without_runs(session: Session, slug: str) -> list[TeamRow]:
    """The teams that have members and no run in force, by name."""
    has_run = select(Run.id).where(Run.team_id == Team.id, IN_FORCE).correlate(Team).exists()
    rows = session.execute(
        select(Team.name, User.name)
        .join(Membership, Membership.team_id == Team.id)
        .join(User, User.id == Membership.user_id)
        .where(Team.collection_id == find_collection(session, slug).id, ~has_run)
    )
    people: dict[str, list[str]] = {}
    for team, name in rows:
        people.setdefault(team, []).append(name)
    return [TeamRow(team, tuple(sorted(people[team]))) for team in sorted(people)]


def standing_of(session: Session, slug: str, user_id: int) -> Standing:
    """The roles and the team of a person in a collection; no role when they are no member."""
    rows = session.execute(
        select(Membership.role, Team.name)
        .outerjoin(Team, Team.id == Membership.team_id)
        .where(Membership.collection_id == find_collection(session, slug).id, Membership.user_id == user_id)
    ).all()
    return Standing(frozenset(Role(role) for role, _ in rows), next((team for _, team in rows if team), None))


def roles_everywhere(session: Session, user_id: int) -> dict[str, frozenset[Role]]:
    """The slug of every collection that a person is a member of, with their roles there."""
    rows = session.execute(
        select(Collection.slug, Membership.role)
        .join(Membership, (Membership.collection_id == Collection.id) & SHOWN)
        .where(Membership.user_id == user_id)
    )
    roles: dict[str, set[Role]] = {}
    for slug, role in rows:
        roles.setdefault(slug, set()).add(Role(role))
    return {slug: frozenset(held) for slug, held in roles.items()}
