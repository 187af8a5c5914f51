"""Registration: while organisers keep it open, anybody joins with a new team, and teams invite their own members."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from build import HASH, NOW, SLUG, member, news, user
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, Database, Invitation, Role, User
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.collections.collection import close_collection, reopen_collection
from annotator.workflows.people import erasure, invitations, members, own_team, registration
from annotator.workflows.people.invitations import InvitationRequest, InvitationState
from annotator.workflows.people.registration import RegistrationChange

UNTIL = NOW + timedelta(days=30)
NOT_OPEN = "registration has not begun, or has ended"
FOR_ME = InvitationRequest(note="Quin")


@pytest.fixture
def open_task(session: Session) -> None:
    """A shared task that takes up to four teams until `UNTIL`."""
    news(session)
    member(session, "ola", Role.ORGANISER)
    registration.open_registration(session, SLUG, RegistrationChange(UNTIL, 4), at=NOW)


def team_of(session: Session, name: str) -> str | None:
    session.flush()
    id_ = session.scalars(select(User.id).where(User.name == name)).one()
    return members.standing_of(session, SLUG, id_).team


def test_registration_is_closed_until_it_is_opened(session: Session) -> None:
    news(session)
    shown = registration.show_registration(session, SLUG, now=NOW)
    assert (shown.is_open, shown.until, shown.most_teams, shown.teams) == (False, None, 100, 0)
    for slug in (SLUG, "unknown"):
        with pytest.raises(NotFoundError, match=NOT_OPEN):
            registration.find_open_registration(session, slug, now=NOW)
        with pytest.raises(NotFoundError, match=NOT_OPEN):
            registration.register_with_new_account(session, slug, "red", "pat", HASH, at=NOW)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (RegistrationChange(), "Until when may teams register"),
        (RegistrationChange(NOW), "which has passed"),
        (RegistrationChange(UNTIL, 0), "from 1 to 10000"),
        (RegistrationChange(UNTIL, 10_001), "from 1 to 10000"),
    ],
)
def test_values_that_cannot_be_are_refused(session: Session, change: RegistrationChange, complaint: str) -> None:
    news(session)
    with pytest.raises(InvalidValueError, match=complaint):
        registration.open_registration(session, SLUG, change, at=NOW)


def test_a_team_comparison_has_no_registration(session: Session) -> None:
    news(session)
    session.scalars(select(Collection)).one().kind = CollectionKind.COMPARISON
    with pytest.raises(ConflictError, match="has no participants"):
        registration.open_registration(session, SLUG, RegistrationChange(UNTIL), at=NOW)


@pytest.mark.usefixtures("open_task")
def test_what_is_left_out_of_a_change_stays(session: Session) -> None:
    later = registration.open_registration(session, SLUG, RegistrationChange(UNTIL + timedelta(1)), at=NOW)
    assert (later.most_teams, later.is_open) == (4, True)
    more = registration.open_registration(session, SLUG, RegistrationChange(most_teams=9), at=NOW)
    assert (more.until, more.most_teams) == (UNTIL + timedelta(1), 9)


@pytest.mark.usefixtures("open_task")
def test_a_person_without_an_account_registers_a_team(session: Session) -> None:
    assert registration.find_open_registration(session, SLUG, now=NOW).title == "News search"
    person = registration.register_with_new_account(session, SLUG, "Team Red", "pat", HASH, at=NOW)
    assert (person.name, team_of(session, "pat")) == ("pat", "Team Red")
    # It is in the list of invitations as used, so that the organiser may help with a lost password.
    [link] = invitations.list_invitations(session, SLUG, now=NOW)
    assert (link.team, link.used_by, link.state) == ("Team Red", "pat", InvitationState.USED)
    assert invitations.invite_to_password(session, SLUG, "pat", made_by_id=None, at=NOW)


@pytest.mark.usefixtures("open_task")
def test_a_person_with_an_account_registers_a_team(session: Session) -> None:
    registration.register(session, SLUG, "blue", user(session, "quin"), at=NOW)
    assert team_of(session, "quin") == "blue"
    with pytest.raises(ConflictError, match="has the role participant already"):
        registration.register(session, SLUG, "green", member_id(session, "quin"), at=NOW)


def member_id(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


@pytest.mark.usefixtures("open_task")
def test_a_judge_does_not_become_a_participant(session: Session) -> None:
    with pytest.raises(ConflictError, match="excludes the role participant"):
        registration.register(session, SLUG, "blue", member(session, "jo"), at=NOW)


@pytest.mark.usefixtures("open_task")
@pytest.mark.parametrize("name", ["red", "RED", "ｒed", "re\N{HANGUL FILLER}d"])  # noqa: RUF001 - a letter that looks the same
def test_the_name_of_a_team_there_is_does_not_admit_to_it(session: Session, name: str) -> None:
    member(session, "pat", Role.PARTICIPANT, team="red")
    with pytest.raises(ConflictError, match="There is a team “red” already"):
        registration.register(session, SLUG, name, user(session, "quin"), at=NOW)


@pytest.mark.usefixtures("open_task")
def test_a_name_that_no_team_can_have_is_refused(session: Session) -> None:
    with pytest.raises(InvalidValueError, match="A team's name has 1 to 64"):
        registration.register(session, SLUG, " red", user(session, "quin"), at=NOW)


@pytest.mark.usefixtures("open_task")
def test_no_more_teams_register_than_the_organisers_take(session: Session) -> None:
    for number in range(4):
        registration.register_with_new_account(session, SLUG, f"team{number}", f"pat{number}", HASH, at=NOW)
    with pytest.raises(ConflictError, match="There are 4 teams"):
        registration.register_with_new_account(session, SLUG, "another", "quin", HASH, at=NOW)


def by_the_clock(_session: Session) -> None: ...


def by_hand(session: Session) -> None:
    registration.close_registration(session, SLUG)


def with_the_collection(session: Session) -> None:
    close_collection(session, SLUG)


@pytest.mark.usefixtures("open_task")
@pytest.mark.parametrize("end", [by_the_clock, by_hand, with_the_collection])
def test_registration_ends(session: Session, end: Callable[[Session], None]) -> None:
    end(session)
    at = UNTIL if end is by_the_clock else NOW
    with pytest.raises(NotFoundError, match=NOT_OPEN):
        registration.register_with_new_account(session, SLUG, "red", "pat", HASH, at=at)
    assert not registration.show_registration(session, SLUG, now=at).is_open


def test_of_two_who_register_a_team_at_once_one_is_in(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        registration.open_registration(session, SLUG, RegistrationChange(UNTIL), at=NOW)
    start = Barrier(2)

    def register(name: str) -> str:
        start.wait()
        try:
            with database.transaction() as session:
                registration.register_with_new_account(session, SLUG, "red", name, HASH, at=NOW)
        except ConflictError as refusal:
            return str(refusal)
        return "in"

    with ThreadPoolExecutor(2) as both:
        refused, admitted = sorted(both.map(register, ("pat", "quin")))
    assert (admitted, refused.startswith("There is a team “red” already")) == ("in", True)
    with database.reading() as session:
        assert len(members.list_members(session, SLUG)) == 1
        assert len(session.scalars(select(User)).all()) == 1


@pytest.mark.usefixtures("open_task")
def test_members_of_a_team_invite_others_and_see_no_other_links(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    member(session, "rae", Role.PARTICIPANT, team="blue")
    of_organiser = InvitationRequest(Role.PARTICIPANT, "red", note="a secret note")
    invitations.invite(session, SLUG, of_organiser, made_by_id=member_id(session, "ola"), at=NOW)
    # Whatever the request names: the team is their own.
    asked = InvitationRequest(Role.ORGANISER, "blue", note="Quin")
    made = own_team.invite_to_team(session, SLUG, pat, asked, at=NOW)
    assert [link.note for link in own_team.show_team(session, SLUG, pat, now=NOW).links] == ["Quin"]
    invitations.accept_as(session, made.secret, user(session, "quin"), at=NOW)
    shown = own_team.show_team(session, SLUG, member_id(session, "quin"), now=NOW)
    assert (shown.name, shown.members, shown.links[0].used_by) == ("red", ["pat", "quin"], "quin")


@pytest.mark.usefixtures("open_task")
def test_a_team_withdraws_its_own_links_alone(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    rae = member(session, "rae", Role.PARTICIPANT, team="blue")
    made = own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)
    with pytest.raises(NotFoundError, match="There is no invitation"):
        own_team.withdraw_team_link(session, SLUG, rae, made.number, at=NOW)
    own_team.withdraw_team_link(session, SLUG, pat, made.number, at=NOW)
    with pytest.raises(NotFoundError, match="This link is not valid"):
        invitations.accept_as(session, made.secret, user(session, "quin"), at=NOW)


@pytest.mark.usefixtures("open_task")
def test_a_person_who_leaves_the_team_has_no_link_left(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    secret = own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW).secret
    members.remove_member(session, SLUG, "pat", Role.PARTICIPANT, at=NOW)
    with pytest.raises(NotFoundError, match="This link is not valid"):
        invitations.accept_as(session, secret, pat, at=NOW)
    with pytest.raises(NotFoundError, match="belong to no team"):
        own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)


@pytest.mark.usefixtures("open_task")
def test_blanks_in_the_name_of_a_team_make_no_other(session: Session) -> None:
    member(session, "pat", Role.PARTICIPANT, team="Team A")
    with pytest.raises(ConflictError, match="There is a team “Team A” already"):
        registration.register(session, SLUG, "Team  A", user(session, "quin"), at=NOW)


@pytest.mark.usefixtures("open_task")
def test_a_team_whose_members_were_removed_takes_no_place(session: Session) -> None:
    for number in range(4):
        registration.register_with_new_account(session, SLUG, f"team{number}", f"pat{number}", HASH, at=NOW)
    members.remove_member(session, SLUG, "pat0", Role.PARTICIPANT, at=NOW)
    assert registration.show_registration(session, SLUG, now=NOW).teams == 3
    with pytest.raises(ConflictError, match="An organiser has removed you"):
        registration.register(session, SLUG, "team0", member_id(session, "pat0"), at=NOW)
    registration.register_with_new_account(session, SLUG, "team0", "quin", HASH, at=NOW)
    assert team_of(session, "quin") == "team0"


@pytest.mark.usefixtures("open_task")
def test_an_observer_does_not_join_a_team_without_an_organiser(session: Session) -> None:
    obs, pat = member(session, "obs", Role.OBSERVER), member(session, "pat", Role.PARTICIPANT, team="red")
    with pytest.raises(ConflictError, match="only an organiser can add them"):
        registration.register(session, SLUG, "blue", obs, at=NOW)
    link = own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)
    with pytest.raises(ConflictError, match="only an organiser can add them"):
        invitations.accept_as(session, link.secret, obs, at=NOW)
    assert members.add_member(session, SLUG, "obs", Role.PARTICIPANT, team="red", added_at=NOW) is False


@pytest.mark.usefixtures("open_task")
def test_registration_stays_closed_when_the_collection_is_opened_again(session: Session) -> None:
    close_collection(session, SLUG)
    reopen_collection(session, SLUG)
    assert not registration.show_registration(session, SLUG, now=NOW).is_open


@pytest.mark.usefixtures("open_task")
def test_links_to_other_teams_stay_when_an_organiser_leaves_theirs(session: Session) -> None:
    ola = member(session, "ola", Role.PARTICIPANT, team="red")
    to = [InvitationRequest(Role.PARTICIPANT, team) for team in ("red", "blue")]
    red, blue = (invitations.invite(session, SLUG, one, made_by_id=ola, at=NOW).secret for one in to)
    members.remove_member(session, SLUG, "ola", Role.PARTICIPANT, at=NOW)
    with pytest.raises(NotFoundError, match="This link is not valid"):
        invitations.open_invitation(session, red, now=NOW)
    assert invitations.open_invitation(session, blue, now=NOW).team == "blue"


@pytest.mark.usefixtures("open_task")
def test_links_of_an_erased_person_are_gone(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)
    erasure.forget_user(session, "pat")
    assert session.scalars(select(Invitation)).all() == []


@pytest.mark.usefixtures("open_task")
def test_a_team_has_no_more_members_and_open_links_than_it_may(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    made = [own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW) for _ in range(own_team.MOST_MEMBERS - 1)]
    invitations.accept_as(session, made[1].secret, user(session, "quin"), at=NOW)
    with pytest.raises(ConflictError, match="at most 30 members"):
        own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)
    own_team.withdraw_team_link(session, SLUG, pat, made[0].number, at=NOW)
    own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)


@pytest.mark.usefixtures("open_task")
def test_nobody_invites_to_a_closed_collection(session: Session) -> None:
    pat = member(session, "pat", Role.PARTICIPANT, team="red")
    close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="closed"):
        own_team.invite_to_team(session, SLUG, pat, FOR_ME, at=NOW)
