"""Invitations: a link lets one person in, once, and opens no more than whoever made it may open."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from build import HASH, LIMIT, NOW, PASSWORD, SLUG, member, news, user
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.files import InputFile
from annotator.storage import ApiToken, Database, Invitation, Role, User
from annotator.storage.people.accounts import find_user
from annotator.workflows.people import accounts, invitations, members, tokens
from annotator.workflows.people.invitations import InvitationRequest, InvitationState
from annotator.workflows.people.tokens import Scope, TokenRequest

A_JUDGE = InvitationRequest(Role.JUDGE, note="Kim of the library")
NOT_VALID = "This link is not valid"
ANOTHER_HASH = "scrypt:256:8:1$salt$" + "0" * 128


def invited(session: Session, wanted: InvitationRequest = A_JUDGE, slug: str | None = SLUG) -> str:
    if slug is not None and not session.scalars(select(User)).first():
        news(session)
        member(session, "ola", Role.ORGANISER)
    secret = invitations.invite(session, slug, wanted, made_by_id=None, at=NOW).secret
    session.flush()
    return secret


def roles_of(session: Session, name: str) -> frozenset[Role]:
    session.flush()
    id_ = session.scalars(select(User.id).where(User.name == name)).one()
    return members.standing_of(session, SLUG, id_).roles


def test_a_link_makes_an_account_with_the_role(session: Session) -> None:
    secret = invited(session)
    offered = invitations.open_invitation(session, secret, now=NOW)
    assert (offered.slug, offered.title, offered.role, offered.account) == (SLUG, "News search", Role.JUDGE, None)
    person = invitations.accept_with_new_account(session, secret, "kim", HASH, at=NOW)
    assert (person.name, person.administrator) == ("kim", False)
    assert roles_of(session, "kim") == {Role.JUDGE}
    assert accounts.sign_in(session, "kim", PASSWORD) is not None


def test_a_link_gives_an_account_there_is_the_role(session: Session) -> None:
    secret = invited(session, InvitationRequest(Role.PARTICIPANT, "red"))
    invitations.accept_as(session, secret, user(session, "pat"), at=NOW)
    assert [(row.name, row.role, row.team) for row in members.list_members(session, SLUG)][1:] == [
        ("pat", Role.PARTICIPANT, "red")
    ]


def test_only_a_checksum_of_the_link_is_stored(session: Session) -> None:
    secret = invited(session)
    link = session.scalars(select(Invitation)).one()
    assert len(secret) == 43
    assert secret not in map(str, vars(link).values())


def used(session: Session, secret: str) -> None:
    invitations.accept_with_new_account(session, secret, "kim", HASH, at=NOW)
    session.flush()


def withdrawn(session: Session, _secret: str) -> None:
    number = session.scalars(select(Invitation.id)).one()
    invitations.withdraw_invitation(session, SLUG, number, at=NOW)
    session.flush()


def left_alone(_session: Session, _secret: str) -> None:
    """Nobody does anything, and the time is up."""


@pytest.mark.parametrize(
    ("end", "after", "state"),
    [
        (used, timedelta(), InvitationState.USED),
        (withdrawn, timedelta(), InvitationState.WITHDRAWN),
        (left_alone, timedelta(days=14), InvitationState.EXPIRED),
    ],
)
def test_a_link_that_has_ended_opens_nothing(
    session: Session, end: Callable[[Session, str], None], after: timedelta, state: InvitationState
) -> None:
    secret = invited(session)
    assert invitations.list_invitations(session, SLUG, now=NOW)[0].state is InvitationState.OPEN
    end(session, secret)
    later = NOW + after
    for attempt in (
        lambda: invitations.open_invitation(session, secret, now=later),
        lambda: invitations.accept_with_new_account(session, secret, "lee", HASH, at=later),
        lambda: invitations.accept_as(session, secret, 1, at=later),
        lambda: invitations.accept_password(session, secret, HASH, at=later),
    ):
        with pytest.raises(NotFoundError, match=NOT_VALID):
            attempt()
    assert invitations.list_invitations(session, SLUG, now=later)[0].state is state


def test_a_link_that_nobody_made_opens_nothing(session: Session) -> None:
    invited(session)
    for secret in ("", "guess", "\udcff"):
        with pytest.raises(NotFoundError, match=NOT_VALID):
            invitations.open_invitation(session, secret, now=NOW)


def test_a_name_that_is_taken_leaves_the_link_as_it_was(database: Database) -> None:
    with database.transaction() as session:
        secret = invited(session)
    with pytest.raises(ConflictError, match="is taken"), database.transaction() as session:
        invitations.accept_with_new_account(session, secret, "OLA", HASH, at=NOW)
    with database.transaction() as session:
        assert invitations.accept_with_new_account(session, secret, "kim", HASH, at=NOW).name == "kim"


def test_a_role_that_is_held_already_leaves_the_link_as_it_was(database: Database) -> None:
    with database.transaction() as session:
        secret = invited(session, InvitationRequest(Role.ORGANISER))
        ola = session.scalars(select(User.id)).one()
    with pytest.raises(ConflictError, match="has the role organiser already"), database.transaction() as session:
        invitations.accept_as(session, secret, ola, at=NOW)
    with database.reading() as session:
        assert invitations.open_invitation(session, secret, now=NOW).role == Role.ORGANISER


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (InvitationRequest(Role.PARTICIPANT), "belongs to a team"),
        (InvitationRequest(Role.JUDGE, "red"), "belongs to a team"),
        (InvitationRequest(Role.JUDGE, days=0), "between 1 and 90"),
        (InvitationRequest(Role.JUDGE, days=91), "between 1 and 90"),
        (InvitationRequest(Role.JUDGE, note="x" * 201), "is too long"),
        (InvitationRequest(Role.PARTICIPANT, " red"), "A team's name"),
    ],
)
def test_an_invitation_that_fits_no_role_is_refused(session: Session, wanted: InvitationRequest, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        invited(session, wanted)


def test_a_link_of_an_administrator_leads_to_an_account_without_a_role(session: Session) -> None:
    secret = invited(session, InvitationRequest(note="the new colleague"), slug=None)
    offered = invitations.open_invitation(session, secret, now=NOW)
    assert (offered.slug, offered.role) == (None, None)
    person = invitations.accept_with_new_account(session, secret, "lee", HASH, at=NOW)
    session.flush()
    assert members.roles_everywhere(session, person.id) == {}
    with pytest.raises(ConflictError, match="you have one"):
        invitations.accept_as(session, invited(session, InvitationRequest(), slug=None), person.id, at=NOW)


def test_a_link_is_withdrawn_in_its_own_collection_only(session: Session) -> None:
    invited(session)
    news(session, "other")
    number = session.scalars(select(Invitation.id)).one()
    for slug in ("other", None):
        with pytest.raises(NotFoundError, match="no invitation"):
            invitations.withdraw_invitation(session, slug, number, at=NOW)


# New passwords


def joined(session: Session, name: str = "jo", slug: str = SLUG) -> int:
    """An account that accepted an invitation to judge."""
    secret = invitations.invite(session, slug, A_JUDGE, made_by_id=None, at=NOW).secret
    session.flush()
    id_ = user(session, name)
    invitations.accept_as(session, secret, id_, at=NOW)
    session.flush()
    return id_


def test_a_link_to_a_new_password_ends_sessions_tokens_and_earlier_links(session: Session) -> None:
    news(session)
    jo = joined(session)
    tokens.make_token(session, "jo", TokenRequest("script", [Scope.READ]), at=NOW)
    first = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    session.flush()
    second = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    session.flush()
    assert invitations.open_invitation(session, second, now=NOW).account == "jo"
    before = accounts.load_person(session, jo, 0)
    with pytest.raises(NotFoundError, match=NOT_VALID):
        invitations.accept_password(session, first, HASH, at=NOW)
    person = invitations.accept_password(session, second, ANOTHER_HASH, at=NOW)
    session.flush()
    assert before is not None
    assert accounts.load_person(session, jo, before.generation) is None
    assert accounts.load_person(session, jo, person.generation) is not None
    assert accounts.sign_in(session, "jo", PASSWORD) is None
    assert session.scalars(select(ApiToken.revoked_at)).one() is not None
    with pytest.raises(NotFoundError, match=NOT_VALID):
        invitations.accept_password(session, second, HASH, at=NOW)


def test_a_link_to_a_new_password_lasts_two_days(session: Session) -> None:
    news(session)
    joined(session)
    secret = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    session.flush()
    assert invitations.open_invitation(session, secret, now=NOW + timedelta(hours=47)).account == "jo"
    with pytest.raises(NotFoundError, match=NOT_VALID):
        invitations.open_invitation(session, secret, now=NOW + timedelta(hours=48))


def test_links_of_one_kind_do_not_serve_as_the_other(session: Session) -> None:
    secret = invited(session)
    with pytest.raises(NotFoundError, match="not a password reset link"):
        invitations.accept_password(session, secret, HASH, at=NOW)
    jo = joined(session)
    link = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    session.flush()
    with pytest.raises(NotFoundError, match="is not an invitation"):
        invitations.accept_with_new_account(session, link, "lee", HASH, at=NOW)
    with pytest.raises(NotFoundError, match="is not an invitation"):
        invitations.accept_as(session, link, jo, at=NOW)


def administrator(session: Session) -> None:
    joined(session)
    find_user(session, "jo").administrator = True


def member_elsewhere(session: Session) -> None:
    news(session, "other")
    joined(session)
    member(session, "jo", slug="other")


def member_without_being_asked(session: Session) -> None:
    member(session, "jo")


def invited_elsewhere(session: Session) -> None:
    news(session, "other")
    id_ = joined(session, slug="other")
    session.flush()
    members.remove_member(session, "other", "jo", Role.JUDGE, at=NOW)
    assert member(session, "jo") == id_


def judge_of_imported_labels(session: Session) -> None:
    accounts.add_user(session, "jo", password_hash=None, added_at=NOW)
    member(session, "jo")


def invited_to_an_account(session: Session) -> None:
    secret = invited(session, InvitationRequest(), slug=None)
    invitations.accept_with_new_account(session, secret, "jo", HASH, at=NOW)
    member(session, "jo")


def no_member(session: Session) -> None:
    user(session, "jo")


@pytest.mark.parametrize(
    ("arrange", "refusal"),
    [
        (administrator, NotAllowedError),
        (member_elsewhere, NotAllowedError),
        (member_without_being_asked, NotAllowedError),
        (invited_elsewhere, NotAllowedError),
        (judge_of_imported_labels, NotAllowedError),
        (invited_to_an_account, NotAllowedError),
        (no_member, NotFoundError),
    ],
)
def test_an_organiser_gives_no_password_to_an_account_that_opens_more_than_they_do(
    session: Session, arrange: Callable[[Session], None], refusal: type[AnnotatorError]
) -> None:
    news(session)
    arrange(session)
    session.flush()
    with pytest.raises(refusal):
        invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    # An administrator may.
    assert invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW)


def test_an_organiser_gives_new_passwords_to_people_of_their_file(session: Session) -> None:
    news(session)
    people = members.read_people(InputFile("people.csv", b"name,role,team\njo,judge,\n"), unpacked_limit=LIMIT)
    [added] = members.add_people(session, SLUG, people, made_by_id=None, at=NOW)
    session.flush()
    assert added.secret is not None
    # Before the first password is chosen, since that link may be lost, and after it.
    later = NOW + timedelta(hours=1)
    first = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=later)
    session.flush()
    invitations.accept_password(session, first, HASH, at=later)
    second = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=later)
    session.flush()
    assert invitations.accept_password(session, second, ANOTHER_HASH, at=later).name == "jo"


def test_an_organisers_link_ends_when_the_account_may_open_more(session: Session) -> None:
    news(session)
    news(session, "other")
    joined(session)
    secret = invitations.invite_to_password(session, SLUG, "jo", made_by_id=None, at=NOW)
    members.add_member(session, "other", "jo", Role.ORGANISER, added_at=NOW)
    session.flush()
    with pytest.raises(NotAllowedError, match="an administrator alone"):
        invitations.accept_password(session, secret, ANOTHER_HASH, at=NOW)
    assert accounts.sign_in(session, "jo", PASSWORD) is not None


def test_a_link_to_a_first_password_ends_soon_once_there_is_one(session: Session) -> None:
    news(session)
    file = InputFile("people.csv", b"name,role\njo,judge\n")
    people = members.read_people(file, unpacked_limit=LIMIT)
    (added,) = members.add_people(session, SLUG, people, days=90, made_by_id=None, at=NOW)
    session.flush()
    late = NOW + timedelta(days=2)
    assert added.secret is not None
    assert invitations.open_invitation(session, added.secret, now=late).account == "jo"
    find_user(session, "jo").password_hash = HASH
    session.flush()
    assert invitations.open_invitation(session, added.secret, now=late - timedelta(hours=1)).account == "jo"
    with pytest.raises(NotFoundError, match=NOT_VALID):
        invitations.accept_password(session, added.secret, ANOTHER_HASH, at=late)
    (row,) = invitations.list_invitations(session, SLUG, now=late)
    assert (row.state, row.expires_at) == (InvitationState.EXPIRED, late)


def a_new_name(session: Session, secret: str) -> None:
    invitations.accept_with_new_account(session, secret, "kim", HASH, at=NOW)


def a_role(session: Session, secret: str) -> None:
    invitations.accept_as(session, secret, find_user(session, "lee").id, at=NOW)


@pytest.mark.parametrize("accept", [a_new_name, a_role])
def test_of_two_links_to_the_same_at_once_one_is_refused(
    database: Database, accept: Callable[[Session, str], None]
) -> None:
    with database.transaction() as session:
        first, second = invited(session), invited(session)
        user(session, "lee")
    both_looked = Barrier(2)

    def take(secret: str) -> str:
        try:
            with database.transaction() as session:
                if not database.is_sqlite:
                    session.execute(text("SELECT 1"))
                    both_looked.wait(timeout=20)
                accept(session, secret)
                # The other looks whether it is there before this one is stored.
                time.sleep(0 if database.is_sqlite else 0.1)
        except ConflictError:
            return "refused"
        return "in"

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(take, (first, second))) == ["in", "refused"]


def test_of_two_who_take_a_link_at_once_one_gets_in(database: Database) -> None:
    with database.transaction() as session:
        secret = invited(session)
    start = Barrier(2)

    def take(name: str) -> bool:
        start.wait()
        try:
            with database.transaction() as session:
                invitations.accept_with_new_account(session, secret, name, HASH, at=NOW)
        except NotFoundError:
            return False
        return True

    with ThreadPoolExecutor(2) as both:
        assert sorted(both.map(take, ("kim", "lee"))) == [False, True]
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(User)) == 2
