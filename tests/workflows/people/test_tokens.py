"""Tokens: what they open, for whom, until when; and nobody reads them from the database."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, member, news, user
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import ApiToken
from annotator.storage.collections.collection import find_collection
from annotator.workflows.people import accounts, tokens
from annotator.workflows.people.tokens import Scope, TokenRequest

READ = TokenRequest("script", [Scope.READ])


def made(session: Session, wanted: TokenRequest = READ, name: str = "jo") -> str:
    if session.scalar(select(ApiToken)) is None:
        news(session)
        member(session, name)
    secret = tokens.make_token(session, name, wanted, at=NOW)
    session.flush()
    return secret


def test_a_token_acts_for_its_owner_within_its_scopes(session: Session) -> None:
    secret = made(session, TokenRequest("script", [Scope.RUNS, Scope.READ]))
    owner = tokens.token_owner(session, secret, now=NOW)
    assert owner is not None
    assert (owner.person.name, owner.scopes, owner.collection_id) == ("jo", frozenset({Scope.READ, Scope.RUNS}), None)


def test_a_token_is_found_by_its_beginning_and_stored_as_a_checksum(session: Session) -> None:
    secret = made(session)
    assert secret.startswith("ann_")
    assert len(secret) == 4 + 43
    assert secret not in map(str, vars(session.scalars(select(ApiToken)).one()).values())


@pytest.mark.parametrize("secret", ["", "ann_", "ann_" + "x" * 43, "\udcff"])
def test_what_is_no_token_is_nobodys(session: Session, secret: str) -> None:
    made(session)
    assert tokens.token_owner(session, secret, now=NOW) is None


def test_a_token_of_a_collection_names_it(session: Session) -> None:
    secret = made(session, TokenRequest("script", [Scope.READ], SLUG))
    owner = tokens.token_owner(session, secret, now=NOW)
    assert owner is not None
    assert owner.collection_id == find_collection(session, SLUG).id


def test_a_token_expires(session: Session) -> None:
    secret = made(session, TokenRequest("script", [Scope.READ], days=3))
    assert tokens.token_owner(session, secret, now=NOW + timedelta(days=3, seconds=-1)) is not None
    assert tokens.token_owner(session, secret, now=NOW + timedelta(days=3)) is None
    assert not tokens.list_tokens(session, "jo", now=NOW + timedelta(days=3))[0].in_force


def test_a_token_is_revoked_by_its_owner_alone_or_by_whoever_has_the_database(session: Session) -> None:
    secret = made(session)
    [row] = tokens.list_tokens(session, "jo", now=NOW)
    kim = user(session, "kim")
    with pytest.raises(NotFoundError, match="no token"):
        tokens.revoke_token(session, row.id, owner_id=kim, at=NOW)
    assert tokens.token_owner(session, secret, now=NOW) is not None
    assert tokens.revoke_token(session, row.id, at=NOW) == "script"
    assert tokens.token_owner(session, secret, now=NOW) is None
    # Twice is once: the first moment stays.
    tokens.revoke_token(session, row.id, at=NOW + timedelta(days=1))
    assert tokens.list_tokens(session, "jo", now=NOW)[0].revoked_at == NOW


def test_signing_out_everywhere_ends_the_tokens_and_the_sessions(session: Session) -> None:
    secret = made(session)
    before = accounts.sign_in(session, "jo", "correct horse")
    assert before is not None
    accounts.sign_out_everywhere(session, "jo", at=NOW)
    session.flush()
    assert tokens.token_owner(session, secret, now=NOW) is None
    assert accounts.load_person(session, before.id, before.generation) is None
    assert accounts.sign_in(session, "jo", "correct horse") is not None


def test_when_a_token_was_used_last_is_noted_once_a_minute(session: Session) -> None:
    secret = made(session)
    owner = tokens.token_owner(session, secret, now=NOW)
    assert owner is not None
    assert not owner.is_noted
    tokens.note_use(session, owner.token_id, at=NOW)
    session.flush()
    noted = [
        owner.is_noted
        for seconds in (1, 59, 60)
        if (owner := tokens.token_owner(session, secret, now=NOW + timedelta(seconds=seconds)))
    ]
    assert noted == [True, True, False]
    assert tokens.list_tokens(session, "jo", now=NOW)[0].last_used_at == NOW


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (TokenRequest("", [Scope.READ]), "name has 1 to 64"),
        (TokenRequest("x" * 65, [Scope.READ]), "name has 1 to 64"),
        (TokenRequest("a\nb", [Scope.READ]), "name has 1 to 64"),
        (TokenRequest("script", []), "opens nothing"),
        (TokenRequest("script", [Scope.READ], days=0), "between 1 and 366"),
        (TokenRequest("script", [Scope.READ], days=367), "between 1 and 366"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(session: Session, wanted: TokenRequest, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        made(session, wanted)


def test_a_token_is_for_a_collection_of_its_owner(session: Session) -> None:
    made(session)
    news(session, "other")
    for slug in ("other", "nowhere"):
        with pytest.raises(NotFoundError, match=f"no collection “{slug}”"):
            made(session, TokenRequest("script", [Scope.READ], slug))
    user(session, "ada", administrator=True)
    assert tokens.make_token(session, "ada", TokenRequest("script", [Scope.READ], "other"), at=NOW)


def test_an_account_has_so_many_tokens_and_those_that_ended_do_not_count(session: Session) -> None:
    for _ in range(tokens.MOST_TOKENS):
        made(session)
    with pytest.raises(ConflictError, match="at most 50"):
        made(session)
    tokens.revoke_token(session, tokens.list_tokens(session, now=NOW)[0].id, at=NOW)
    session.flush()
    assert made(session)


@pytest.mark.parametrize(("written", "read"), [("read", {"read"}), ("runs, read", {"read", "runs"}), ("", set())])
def test_scopes_are_words(written: str, read: set[str]) -> None:
    assert tokens.read_scopes(written) == read


def test_a_word_that_is_no_scope_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="“write” is no scope"):
        tokens.read_scopes("read write")
