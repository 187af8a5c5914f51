"""Identities at a provider: each opens one account, and none without its owner's doing."""

from datetime import UTC, datetime

import pytest
from build import user
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotAllowedError, NotFoundError
from annotator.storage import Database, Identity, User
from annotator.storage.people.accounts import find_user
from annotator.workflows.people import accounts, erasure, identities, invitations
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.invitations import InvitationRequest

NOW = datetime(2026, 11, 27, 8, tzinfo=UTC)
ISSUER = "https://id.example.org"
OLA = ProvenIdentity(ISSUER, "248289761001", "ola@uni.example")


@pytest.fixture
def ola(database: Database) -> int:
    """The id of an account that is linked."""
    with database.transaction() as session:
        for name in ("ola", "jo"):
            user(session, name)
        id_ = find_user(session, "ola").id
        identities.link_identity(session, id_, OLA, at=NOW)
    return id_


def found(database: Database, identity: ProvenIdentity) -> str | None:
    person = database.read(identities.find_person, identity)
    return None if person is None else person.name


def test_issuer_and_subject_together_find_the_person(database: Database, ola: int) -> None:
    assert found(database, OLA) == "ola"
    assert found(database, ProvenIdentity(ISSUER, "248289761001", "another@uni.example")) == "ola"
    assert found(database, ProvenIdentity(ISSUER, "another", "ola@uni.example")) is None
    assert found(database, ProvenIdentity("https://id.example.net", "248289761001", "ola@uni.example")) is None
    assert found(database, ProvenIdentity(ISSUER, "ola")) is None
    [row] = database.read(identities.list_identities, ola)
    assert (row.issuer, row.label, row.added_at) == (ISSUER, "ola@uni.example", NOW)


@pytest.mark.usefixtures("ola")
def test_an_identity_opens_one_account(database: Database) -> None:
    def link(session: Session, name: str) -> None:
        identities.link_identity(session, find_user(session, name).id, OLA, at=NOW)

    with (
        pytest.raises(ConflictError, match=r"“ola@uni\.example” is linked with your account already"),
        database.transaction() as session,
    ):
        link(session, "ola")
    with (
        pytest.raises(ConflictError, match="is linked with another account of this site") as refused,
        database.transaction() as session,
    ):
        link(session, "jo")
    assert "“ola”" not in str(refused.value)
    assert found(database, OLA) == "ola"


def test_nothing_is_linked_when_the_account_has_changed_since_the_password_was_checked(
    database: Database, ola: int
) -> None:
    other = ProvenIdentity(ISSUER, "2")
    with database.transaction() as session:
        checked = accounts.set_password(session, "ola", "scrypt:…", at=NOW).generation
        identities.link_identity(session, ola, other, generation=checked, at=NOW)
        accounts.sign_out_everywhere(session, "ola", at=NOW)
    with (
        pytest.raises(ConflictError, match="You were signed out meanwhile"),
        database.transaction() as session,
    ):
        identities.link_identity(session, ola, ProvenIdentity(ISSUER, "3"), generation=checked, at=NOW)


def test_a_person_may_have_several_and_unlinks_one(database: Database, ola: int) -> None:
    other = ProvenIdentity(ISSUER, "2")
    with database.transaction() as session:
        identities.link_identity(session, ola, other, at=NOW)
    first, second = database.read(identities.list_identities, ola)
    assert second.label == "2"
    with database.transaction() as session:
        assert identities.unlink_identity(session, ola, first.number) == ISSUER
    assert (found(database, OLA), found(database, other)) == (None, "ola")


def test_nobody_unlinks_what_is_anothers(database: Database, ola: int) -> None:
    [row] = database.read(identities.list_identities, ola)
    for name, number in (("jo", row.number), ("ola", 999)):
        with pytest.raises(NotFoundError, match="has no such link"), database.transaction() as session:
            identities.unlink_identity(session, find_user(session, name).id, number)
    assert found(database, OLA) == "ola"


@pytest.mark.usefixtures("ola")
def test_an_administrator_unlinks_all_of_an_account(database: Database) -> None:
    with database.transaction() as session:
        assert identities.unlink_all(session, "ola") == 1
    assert found(database, OLA) is None
    for name, error in (("ola", ConflictError), ("nobody", NotFoundError)):
        with pytest.raises(error), database.transaction() as session:
            identities.unlink_all(session, name)


@pytest.mark.usefixtures("ola")
def test_an_account_that_cannot_sign_in_is_refused(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(User).where(User.name == "ola").values(password_hash=None))
    with pytest.raises(NotAllowedError, match="The account “ola” cannot sign in"):
        found(database, OLA)


@pytest.mark.usefixtures("ola")
def test_an_account_of_an_unfinished_import_is_refused(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(User).where(User.name == "ola").values(being_imported=True))
    with pytest.raises(NotAllowedError, match="The account “ola” cannot sign in"):
        found(database, OLA)


@pytest.mark.usefixtures("ola")
def test_erasing_a_person_erases_their_identities(database: Database) -> None:
    with database.transaction() as session:
        erasure.forget_user(session, "ola")
    with database.reading() as session:
        assert session.scalars(select(Identity)).all() == []
    assert found(database, OLA) is None


@pytest.mark.usefixtures("ola")
def test_a_new_password_and_signing_out_leave_identities(database: Database) -> None:
    with database.transaction() as session:
        accounts.set_password(session, "ola", "scrypt:…", at=NOW)
        accounts.sign_out_everywhere(session, "ola", at=NOW)
    assert found(database, OLA) == "ola"


@pytest.mark.usefixtures("ola")
def test_the_list_of_accounts_has_identities(database: Database) -> None:
    with database.transaction() as session:
        identities.link_identity(session, find_user(session, "ola").id, ProvenIdentity(ISSUER, "2"), at=NOW)
    rows = database.read(accounts.list_users)
    assert {row.name: list(row.identities) for row in rows} == {"jo": [], "ola": ["ola@uni.example", "2"]}


def accept(session: Session, secret: str, name: str) -> None:
    invitations.accept_with_new_account(session, secret, name, "scrypt:…", identity=OLA, at=NOW)


def test_an_invitation_links_the_new_account(database: Database) -> None:
    with database.transaction() as session:
        secret = invitations.invite(session, None, InvitationRequest(), made_by_id=None, at=NOW).secret
    with database.transaction() as session:
        accept(session, secret, "ola")
    assert found(database, OLA) == "ola"


@pytest.mark.usefixtures("ola")
def test_an_invitation_with_an_identity_of_another_account_stores_nothing(database: Database) -> None:
    with database.transaction() as session:
        secret = invitations.invite(session, None, InvitationRequest(), made_by_id=None, at=NOW).secret
    with pytest.raises(ConflictError, match="another account"), database.transaction() as session:
        accept(session, secret, "ola2")
    with database.reading() as session:
        assert session.scalar(select(User).where(User.name == "ola2")) is None
    assert database.read(invitations.open_invitation, secret, now=NOW).role is None
