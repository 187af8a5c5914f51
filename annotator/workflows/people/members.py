"""Members of a collection and their roles."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, InvalidValueError, NotFoundError, Problems
from annotator.evaluation.formats.people_format import PersonRow, parse_people
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.files import InputFile
from annotator.passwords import new_secret, secret_fingerprint
from annotator.spreadsheets import csv_text
from annotator.storage import (
    ACCEPTED,
    IN_FORCE,
    Assignment,
    Collection,
    Invitation,
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
from annotator.storage.judging.leases import give_back
from annotator.storage.people.accounts import (
    find_membership,
    find_user,
    give_role,
    new_user,
    refuse_without_organiser,
    withdraw_links_to_team,
)
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import SHOWN


@dataclass(frozen=True)
class MemberRow:
    """One role of one person, and when they accepted the current terms."""

    name: str
    role: Role
    team: str | None
    terms_accepted_at: datetime | None


@dataclass(frozen=True)
class TeamRow:
    """A team with the names of its participants."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """One person's roles and team in one collection."""

    roles: frozenset[Role]
    team: str | None


@dataclass(frozen=True)
class Removal:
    """Effects of removing a role: leases returned to the queue, and the judgements that are kept.

    `owned` are the accepted topics that a judge owns, which need another owner.
    """

    returned: int = 0
    judgements: int = 0
    owned: int = 0


def add_member(
    session: Session,
    slug: str,
    name: str,
    role: Role,
    *,
    team: str | None = None,
    added_at: datetime,
    force: bool = False,
) -> bool:
    """Give a person a role; a participant needs a team, other roles have none. Returns whether it was forced.

    Raises `NotFoundError` for an unknown person, and `ConflictError` for a role already held and, unless `force`, for
    a judge or adjudicator who becomes a participant or the reverse.
    """
    collection = lock_collection(session, slug)
    user = find_user(session, name)
    return give_role(session, collection.id, user, role, team=team, added_at=added_at, force=force)


def become_judge(session: Session, slug: str, user_id: int, *, added_at: datetime) -> bool:
    """Give an organiser the role of a judge, unless held; returns whether it was given.

    Raises `ConflictError` when they are a participant, too.
    """
    collection = lock_collection(session, slug)
    if find_membership(session, collection.id, user_id, Role.JUDGE) is not None:
        return False
    give_role(session, collection.id, session.get_one(User, user_id), Role.JUDGE, team=None, added_at=added_at)
    return True


def remove_member(session: Session, slug: str, name: str, role: Role, *, at: datetime) -> Removal:
    """Remove a role; its leases are returned to the queue, judgements and decisions are kept.

    Links to their team that a participant has made, and nobody has used, are withdrawn.

    Raises `NotFoundError` for a role that is not held, and `ConflictError` for the last organiser.
    """
    # Waits for a concurrent draw, whose leases are then returned, too.
    collection = lock_collection(session, slug, against_judging=True)
    user = find_user(session, name)
    membership = find_membership(session, collection.id, user.id, role)
    if membership is None:
        raise NotFoundError("“%(name)s” does not have the role %(role)s.", name=name, role=role)
    if role == Role.ORGANISER:
        refuse_without_organiser(session, collection.id, slug, user)
    session.delete(membership)
    if role == Role.PARTICIPANT:
        withdraw_links_to_team(session, membership, at=at)
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
    """The teams with members but no active run, by name."""
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
    """The roles and the team of a person in a collection; no roles for a non-member."""
    rows = session.execute(
        select(Membership.role, Team.name)
        .outerjoin(Team, Team.id == Membership.team_id)
        .where(Membership.collection_id == find_collection(session, slug).id, Membership.user_id == user_id)
    ).all()
    return Standing(frozenset(Role(role) for role, _ in rows), next((team for _, team in rows if team), None))


def roles_everywhere(session: Session, user_id: int) -> dict[str, frozenset[Role]]:
    """Slug → roles, for every collection of which a person is a member."""
    rows = session.execute(
        select(Collection.slug, Membership.role)
        .join(Membership, (Membership.collection_id == Collection.id) & SHOWN)
        .where(Membership.user_id == user_id)
    )
    roles: dict[str, set[Role]] = {}
    for slug, role in rows:
        roles.setdefault(slug, set()).add(Role(role))
    return {slug: frozenset(held) for slug, held in roles.items()}


USUAL_DAYS = 14
MOST_DAYS = 90
LINKED = ("name", "role", "team", "link")


@dataclass(frozen=True)
class PeopleFile:
    """The rows of a file that parsed without a problem."""

    name: str
    rows: Sequence[PersonRow]


@dataclass(frozen=True)
class NewMember:
    """A new member; `secret` is that of their link, None for an existing account."""

    name: str
    role: Role
    team: str | None
    secret: str | None


@dataclass
class _Adding:
    """Arguments shared by all rows of a file."""

    session: Session
    collection_id: int
    made_by_id: int | None
    at: datetime
    expires_at: datetime
    present: dict[str, User] = field(default_factory=dict)


def read_people(file: InputFile, *, unpacked_limit: int) -> PeopleFile:
    """Parse a file of name, role and team; `FileRefusedError` lists every problem of its format."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    rows = [] if text is None else parse_people(file.name, text, problems)
    problems.refuse_if_any()
    return PeopleFile(file.name, rows)


def add_people(
    session: Session, slug: str, people: PeopleFile, *, days: int = USUAL_DAYS, made_by_id: int | None, at: datetime
) -> list[NewMember]:
    """Give all of them their roles, creating missing accounts; one result per row, in order.

    A created account cannot sign in until its link was opened and a password chosen. Raises `FileRefusedError` for
    every name, role or team that does not fit; nothing is stored then.
    """
    if not 1 <= days <= MOST_DAYS:
        raise InvalidValueError("The number of days is between 1 and %(most)d.", most=MOST_DAYS)
    collection = lock_collection(session, slug)
    adding = _Adding(session, collection.id, made_by_id, at, at + timedelta(days=days))
    adding.present = _accounts(session, {row.name for row in people.rows})
    problems = Problems()
    added: list[NewMember] = []
    for row in people.rows:
        try:
            added.append(_add(adding, row))
        except AnnotatorError as refusal:
            problems.add(people.name, row.line, refusal.sentence.template, **refusal.sentence.values)
    problems.refuse_if_any()
    return added


def links_csv(added: Sequence[NewMember], address: str) -> str:
    """CSV of new roles, with the links of members without a password; `address` precedes the secret."""
    rows = [
        (one.name, one.role.value, one.team or "", "" if one.secret is None else f"{address}{one.secret}")
        for one in added
    ]
    return csv_text([LINKED, *rows])


def _add(adding: _Adding, row: PersonRow) -> NewMember:
    role = _role(row.role)
    user = adding.present.get(row.name)
    is_new = user is None
    if user is None:
        user = new_user(adding.session, row.name, password_hash=None, administrator=False, added_at=adding.at)
        adding.present[row.name] = user
    give_role(adding.session, adding.collection_id, user, role, team=row.team or None, added_at=adding.at)
    return NewMember(row.name, role, row.team or None, _link(adding, user) if is_new else None)


def _link(adding: _Adding, user: User) -> str:
    secret = new_secret()
    adding.session.add(
        Invitation(
            fingerprint=secret_fingerprint(secret),
            note="",
            collection_id=adding.collection_id,
            user_id=user.id,
            made_by_id=adding.made_by_id,
            made_at=adding.at,
            expires_at=adding.expires_at,
        )
    )
    return secret


def _role(written: str) -> Role:
    try:
        return Role(written)
    except ValueError:
        raise InvalidValueError(
            "“%(written)s” is no role: organiser, judge, adjudicator, participant or observer.", written=written
        ) from None


def _accounts(session: Session, names: set[str]) -> dict[str, User]:
    found = (
        session.scalars(select(User).where(User.name.in_(some), User.being_imported.is_(False)))
        for some in chunks(sorted(names))
    )
    return {user.name: user for users in found for user in users}
