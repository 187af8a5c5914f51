"""Accounts: who may sign in, and which sessions end."""

import secrets
from collections.abc import Callable

import pytest
from build import NOW, PASSWORD, user
from sqlalchemy import select
from sqlalchemy.orm import Session
from thorough import CHEAP
from werkzeug.security import generate_password_hash

from annotator import passwords
from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.passwords import METHOD, NOBODYS_HASH, hash_password, password_matches
from annotator.storage import ApiToken, Database
from annotator.storage.people.accounts import find_user
from annotator.workflows.people import accounts, invitations, tokens
from annotator.workflows.people.tokens import Scope, TokenRequest

NEW_HASH = generate_password_hash("another password", CHEAP)


def test_a_person_signs_in_with_the_right_password_only(session: Session) -> None:
    user(session, "jo")
    person = accounts.sign_in(session, "jo", PASSWORD)
    assert person is not None
    assert person.name == "jo"
    assert accounts.sign_in(session, "jo", "wrong") is None
    assert accounts.sign_in(session, "nobody", PASSWORD) is None


def test_an_account_without_password_cannot_sign_in(session: Session) -> None:
    accounts.add_user(session, "imported", password_hash=None, added_at=NOW)
    assert accounts.sign_in(session, "imported", "nobody's password") is None
    assert accounts.sign_in(session, "imported", "") is None


def test_a_name_is_taken_whatever_its_case(session: Session) -> None:
    user(session, "Jo")
    with pytest.raises(ConflictError, match="The name “Jo” is taken"):
        user(session, "jo")


@pytest.mark.parametrize("name", ["", "two words", "tab\tbed", "x" * 65, "line\nbreak", "\u202eright-to-left"])
def test_an_unusable_name_is_refused(session: Session, name: str) -> None:
    with pytest.raises(InvalidValueError, match="printable characters and no blanks"):
        user(session, name)


def test_a_new_password_ends_the_sessions_of_before(session: Session) -> None:
    id_ = user(session, "jo")
    before = accounts.load_person(session, id_, 0)
    assert before is not None
    after = accounts.change_password(session, id_, PASSWORD, NEW_HASH, at=NOW)
    session.flush()
    assert accounts.load_person(session, id_, before.generation) is None
    assert accounts.load_person(session, id_, after.generation) is not None
    assert accounts.sign_in(session, "jo", "another password") is not None


@pytest.mark.parametrize("end_tokens", [False, True])
def test_a_new_password_ends_the_tokens_only_when_they_are_to_end(session: Session, *, end_tokens: bool) -> None:
    id_ = user(session, "jo")
    secret = tokens.make_token(session, "jo", TokenRequest("a program", [Scope.READ]), at=NOW)
    accounts.change_password(session, id_, PASSWORD, NEW_HASH, end_tokens=end_tokens, at=NOW)
    assert (tokens.token_owner(session, secret, now=NOW) is None) == end_tokens


def test_ones_password_changes_only_with_the_present_one(session: Session) -> None:
    id_ = user(session, "jo")
    with pytest.raises(NotAllowedError, match="not your present password"):
        accounts.change_password(session, id_, "guess", NEW_HASH, at=NOW)


def test_an_administrator_sets_a_password_without_the_present_one(session: Session) -> None:
    user(session, "jo")
    accounts.set_password(session, "jo", NEW_HASH, at=NOW)
    assert accounts.sign_in(session, "jo", PASSWORD) is None
    with pytest.raises(NotFoundError, match="no user “nobody”"):
        accounts.set_password(session, "nobody", NEW_HASH, at=NOW)


def by_an_administrator(session: Session) -> None:
    accounts.set_password(session, "jo", NEW_HASH, at=NOW)


def by_oneself(session: Session) -> None:
    accounts.change_password(session, find_user(session, "jo").id, PASSWORD, NEW_HASH, at=NOW)


def by_signing_out(session: Session) -> None:
    accounts.sign_out_everywhere(session, "jo", at=NOW)


@pytest.mark.parametrize(
    ("act", "tokens_end"), [(by_an_administrator, True), (by_oneself, False), (by_signing_out, True)]
)
def test_who_secures_an_account_ends_the_links_to_it(
    session: Session, act: Callable[[Session], None], *, tokens_end: bool
) -> None:
    user(session, "jo")
    tokens.make_token(session, "jo", TokenRequest("script", [Scope.READ]), at=NOW)
    secret = invitations.invite_to_password(session, None, "jo", made_by_id=None, at=NOW)
    session.flush()
    act(session)
    session.flush()
    with pytest.raises(NotFoundError, match="This link is not valid"):
        invitations.accept_password(session, secret, NEW_HASH, at=NOW)
    assert (session.scalars(select(ApiToken.revoked_at)).one() is not None) == tokens_end


@pytest.mark.parametrize("name", ["forgotten-1", "Forgotten-jo"])
def test_nobody_chooses_a_name_of_somebody_who_was_forgotten(session: Session, name: str) -> None:
    with pytest.raises(InvalidValueError, match="are reserved for erased accounts"):
        user(session, name)


@pytest.mark.parametrize("password", ["", "1234567", "x" * 257])
def test_a_password_too_short_or_absurdly_long_is_refused(password: str) -> None:
    with pytest.raises(InvalidValueError, match="between 8 and 256 characters"):
        hash_password(password)


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "12345678",
        "qwertyuiop",
        "demonstration",
        "annotator1",
        "P@ssw0rd",
        "aaaaaaaaaaaa",
        "20260101",
        "leaderboard",
    ],
)
def test_a_password_that_is_tried_first_is_refused(password: str) -> None:
    with pytest.raises(InvalidValueError, match="too common"):
        hash_password(password)


def test_a_password_may_have_any_signs_but_not_be_the_name() -> None:
    for password in ("four words of nothing", "정보검색평가과제", "4bQ9zz81", secrets.token_urlsafe(190)):
        assert password_matches(hash_password(password, ["jo"]), password)
    with pytest.raises(InvalidValueError, match="too common"):
        hash_password("ekaterina-x1", ["ekaterina-x"])


def test_nobodys_password_takes_as_long_as_anybodys(monkeypatch: pytest.MonkeyPatch) -> None:
    # At full cost, as they were when this module was read.
    monkeypatch.setattr(passwords, "METHOD", METHOD)
    monkeypatch.setattr(passwords, "NOBODYS_HASH", NOBODYS_HASH)
    assert METHOD == "scrypt:32768:8:3"
    assert NOBODYS_HASH.startswith(f"{METHOD}$")
    assert hash_password("four words of nothing").startswith(f"{METHOD}$")
    assert not password_matches(None, "nobody's password")


def test_a_hash_is_salted_scrypt_and_never_the_password() -> None:
    hashes = [hash_password(PASSWORD) for _ in range(2)]
    assert all(one.startswith("scrypt:") and PASSWORD not in one for one in hashes)
    assert hashes[0] != hashes[1]


def test_accounts_are_listed_by_name(database: Database) -> None:
    with database.transaction() as session:
        user(session, "zoe", administrator=True)
        accounts.add_user(session, "ann", password_hash=None, added_at=NOW)
    with database.reading() as session:
        rows = accounts.list_users(session)
    assert [(row.name, row.administrator, row.can_sign_in, row.added_at) for row in rows] == [
        ("ann", False, False, NOW),
        ("zoe", True, True, NOW),
    ]


def test_names_that_nobody_could_tell_apart_are_one(session: Session) -> None:
    user(session, "Élan")
    for name in ("élan", "E\u0301LAN"):
        with pytest.raises(ConflictError, match="taken"):
            user(session, name)
