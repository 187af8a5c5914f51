"""Two who change one account, or one job, at the same moment: the later one ends what the earlier one began."""

from datetime import timedelta

import pytest
from build import NOW, PASSWORD, SLUG, news, user
from meeting import one_after_the_other
from pyotp import TOTP, random_base32
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotAllowedError, NotFoundError
from annotator.passwords import hash_password
from annotator.storage import Database, Passkey, User
from annotator.storage.tables.jobs import JobState
from annotator.workflows.people import accounts, identities, invitations, passkeys, second_factor, tokens
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.second_factor import Proof
from annotator.workflows.site import jobs


def test_an_administrators_new_password_ends_the_session_of_who_changed_it_just_before(
    postgres_database: Database,
) -> None:
    database = postgres_database
    with database.transaction() as session:
        jo = user(session, "jo")
    one_after_the_other(
        database,
        lambda session: accounts.change_password(session, jo, PASSWORD, "hash-of-a-thief", at=NOW),
        lambda session: accounts.set_password(session, "jo", "hash-of-the-administrator", at=NOW),
    )
    with database.reading() as session:
        assert session.get_one(User, jo).password_hash == "hash-of-the-administrator"
        assert accounts.load_person(session, jo, 1) is None
        assert accounts.load_person(session, jo, 2) is not None


def test_who_changes_a_password_while_an_administrator_does_is_asked_for_the_new_one(
    postgres_database: Database,
) -> None:
    database = postgres_database
    with database.transaction() as session:
        jo = user(session, "jo")
    with pytest.raises(NotAllowedError, match="present password"):
        one_after_the_other(
            database,
            lambda session: accounts.set_password(session, "jo", hash_password("of the administrator"), at=NOW),
            lambda session: accounts.change_password(session, jo, PASSWORD, "hash-of-a-thief", at=NOW),
        )


def test_a_link_that_is_used_while_an_administrator_gives_a_password_leaves_no_session(
    postgres_database: Database,
) -> None:
    database = postgres_database
    with database.transaction() as session:
        jo = user(session, "jo")
        secret = invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW)
    one_after_the_other(
        database,
        lambda session: invitations.accept_password(session, secret, "hash-by-the-link", at=NOW),
        lambda session: accounts.set_password(session, "jo", "hash-of-the-administrator", at=NOW),
    )
    with database.reading() as session:
        assert accounts.load_person(session, jo, 1) is None


def test_of_two_links_to_a_password_made_at_once_one_is_open(postgres_database: Database) -> None:
    database = postgres_database
    with database.transaction() as session:
        user(session, "jo")
    secrets: list[str] = []

    def invite(session: Session) -> None:
        secrets.append(invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW))

    one_after_the_other(database, invite, invite)
    with database.reading() as session:
        assert invitations.open_invitation(session, secrets[1], now=NOW).account == "jo"
        with pytest.raises(NotFoundError, match="not valid"):
            invitations.open_invitation(session, secrets[0], now=NOW)


def test_two_tokens_made_at_once_are_not_one_too_many(postgres_database: Database) -> None:
    database = postgres_database
    wanted = tokens.TokenRequest("t", [tokens.Scope.READ])
    with database.transaction() as session:
        user(session, "jo")
        for _ in range(tokens.MOST_TOKENS - 1):
            tokens.make_token(session, "jo", wanted, at=NOW)
    with pytest.raises(ConflictError, match="at most"):
        one_after_the_other(
            database,
            lambda session: tokens.make_token(session, "jo", wanted, at=NOW),
            lambda session: tokens.make_token(session, "jo", wanted, at=NOW),
        )


def test_a_job_that_is_stored_at_this_moment_is_not_called_off(postgres_database: Database) -> None:
    database = postgres_database
    with database.transaction() as session:
        news(session)
        jo = user(session, "jo")
        job = jobs.ask_job(session, SLUG, kind="documents.import", parameters={}, by_id=jo, at=NOW)
    with database.transaction() as session:
        taken = jobs.take_job(session, now=NOW)
        assert taken is not None
    with pytest.raises(ConflictError, match="finished already"):
        one_after_the_other(
            database,
            lambda session: jobs.confirm_job(session, taken, now=NOW),
            lambda session: jobs.cancel_job(session, SLUG, job, at=NOW),
        )
    with database.reading() as session:
        assert jobs.show_job(session, SLUG, job).state is JobState.DONE


def test_a_passkey_that_is_renamed_while_it_is_removed_is_gone(postgres_database: Database) -> None:
    database = postgres_database
    with database.transaction() as session:
        jo = user(session, "jo")
        texts = dict.fromkeys(("credential", "public_key", "user_handle", "host", "name"), "x")
        session.add(Passkey(user_id=jo, sign_count=0, verified=True, added_at=NOW, **texts))
    with database.reading() as session:
        [row] = passkeys.list_passkeys(session, jo)
    with pytest.raises(NotFoundError, match="no such passkey"):
        one_after_the_other(
            database,
            lambda session: passkeys.remove_passkeys(session, "jo"),
            lambda session: passkeys.rename_passkey(session, jo, row.number, "desk"),
        )


def test_a_code_that_is_sent_twice_at_once_signs_in_once(postgres_database: Database) -> None:
    database, secret, later = postgres_database, random_base32(), NOW + timedelta(minutes=5)
    with database.transaction() as session:
        jo = user(session, "jo")
        second_factor.turn_on(session, jo, 0, secret, TOTP(secret).at(NOW), at=NOW)
    accepted: list[bool] = []

    def sign_in(session: Session) -> None:
        code = TOTP(secret).at(later)
        accepted.append(second_factor.sign_in(session, jo, 1, Proof(code), at=later) is not None)

    one_after_the_other(database, sign_in, sign_in)
    assert accepted == [True, False]


def test_two_who_link_one_identity_at_once_get_it_once(postgres_database: Database) -> None:
    database, identity = postgres_database, ProvenIdentity("https://id.example.org", "7", "jo@uni.example")
    with database.transaction() as session:
        jo, kim = user(session, "jo"), user(session, "kim")
    with pytest.raises(ConflictError):
        one_after_the_other(
            database,
            lambda session: identities.link_identity(session, jo, identity, at=NOW),
            lambda session: identities.link_identity(session, kim, identity, at=NOW),
        )
    person = database.read(identities.find_person, identity)
    assert person is not None
    assert person.name == "jo"
