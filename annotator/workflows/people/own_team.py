"""A participant's team: its members, and the links by which they invite others to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Membership, Role, Team, User
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.people.accounts import find_membership
from annotator.workflows.people.invitations import (
    InvitationRequest,
    InvitationRow,
    InvitationState,
    MadeInvitation,
    invite,
    list_invitations,
    withdraw_invitation,
)

MOST_MEMBERS = 30  # who joins needs nobody's consent but the team's


@dataclass(frozen=True)
class OwnTeam:
    """A team with the names of its members, and the links that these have made; newest first."""

    name: str
    members: Sequence[str]
    links: Sequence[InvitationRow]


def show_team(session: Session, slug: str, user_id: int, *, now: datetime) -> OwnTeam:
    """The team of a participant; raises `NotFoundError` for anybody else."""
    team = _team_of(session, find_collection(session, slug).id, user_id)
    members = session.scalars(
        select(User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.team_id == team.id)
        .order_by(User.name)
    ).all()
    links = [
        link
        for link in list_invitations(session, slug, now=now)
        if link.team == team.name and link.role is Role.PARTICIPANT and link.made_by in members
    ]
    return OwnTeam(team.name, members, links)


def invite_to_team(
    session: Session, slug: str, user_id: int, wanted: InvitationRequest, *, at: datetime
) -> MadeInvitation:
    """Create a link to the participant's own team; the role and team of `wanted` do not matter.

    Raises as `show_team` and `invite`, and `ConflictError` for a closed collection and for a team that has, with its
    open links, as many members as a team may have.
    """
    lock_open_collection(session, slug)
    team = show_team(session, slug, user_id, now=at)
    if len(team.members) + sum(link.state is InvitationState.OPEN for link in team.links) >= MOST_MEMBERS:
        raise ConflictError(
            "A team has at most %(most)d members, unused links included: withdraw a link, or ask an organiser.",
            most=MOST_MEMBERS,
        )
    return invite(session, slug, replace(wanted, role=Role.PARTICIPANT, team=team.name), made_by_id=user_id, at=at)


def withdraw_team_link(session: Session, slug: str, user_id: int, number: int, *, at: datetime) -> None:
    """Withdraw a link that a member of the team has made; raises `NotFoundError` for every other link."""
    team = show_team(session, slug, user_id, now=at)
    if all(link.id != number for link in team.links):
        raise NotFoundError("There is no invitation %(number)d.", number=number)
    withdraw_invitation(session, slug, number, at=at)


def _team_of(session: Session, collection_id: int, user_id: int) -> Team:
    membership = find_membership(session, collection_id, user_id, Role.PARTICIPANT)
    if membership is None or membership.team_id is None:
        raise NotFoundError("You belong to no team in this collection.")
    return session.get_one(Team, membership.team_id)
