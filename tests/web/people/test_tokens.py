"""One's tokens: shown once, listed with when they were last used, revoked."""

import re

import pytest
from build import SLUG
from visiting import Visit, words

from annotator.storage import Database
from annotator.web.people import tokens as tokens_page
from annotator.web.site.context import now
from annotator.workflows.people import tokens
from annotator.workflows.people.tokens import Scope

pytestmark = pytest.mark.usefixtures("news")

WANTED = {"name": "my script", "scopes": ["read", "runs"], "collection": SLUG, "days": 30}


def made(visit: Visit, name: str = "pat", **fields: object) -> str:
    page = visit(name).post("/account/tokens", **WANTED | fields)
    assert page.status_code == 200, words(page)
    match = re.search(r"ann_[\w-]{43}", page.text)
    assert match is not None
    return match[0]


def test_a_token_is_made_and_shown_once(visit: Visit, database: Database) -> None:
    secret = made(visit)
    with database.reading() as session:
        owner = tokens.token_owner(session, secret, now=now())
    assert owner is not None
    assert (owner.person.name, owner.scopes) == ("pat", frozenset({Scope.READ, Scope.RUNS}))
    again = visit("pat").get("/account/tokens")
    assert secret not in again.text
    assert "my script read, runs news" in words(again)
    assert "not yet" in words(again)


def test_a_token_may_open_everything_of_its_owner_for_ever(visit: Visit, database: Database) -> None:
    secret = made(visit, collection="", days="")
    with database.reading() as session:
        [row] = tokens.list_tokens(session, "pat", now=now())
        assert tokens.token_owner(session, secret, now=now()) is not None
    assert (row.slug, row.expires_at) == (None, None)


def test_a_token_is_revoked_by_its_owner_only(visit: Visit, database: Database) -> None:
    secret = made(visit)
    with database.reading() as session:
        number = tokens.list_tokens(session, now=now())[0].id
    assert visit("jo").post("/account/tokens/revoke", number=number).status_code == 422
    answer = visit("pat").client.post("/account/tokens/revoke", data={"number": number}, follow_redirects=True)
    assert "Token “my script” revoked." in words(answer)
    with database.reading() as session:
        assert tokens.token_owner(session, secret, now=now()) is None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"scopes": []}, "Choose at least one."),
        ({"scopes": ["everything"]}, "not a valid choice"),
        ({"collection": "other"}, "Not a valid choice"),
        ({"days": 367}, "Number must be between 1 and 366."),
        ({"name": "x" * 65}, "name has 1 to 64 printable characters"),
    ],
)
def test_a_token_that_cannot_be_says_why(visit: Visit, fields: dict[str, object], sentence: str) -> None:
    page = visit("pat").post("/account/tokens", **WANTED | fields)
    assert page.status_code == 422
    assert sentence in words(page)
    assert "ann_" not in page.text


def test_nobody_sees_the_tokens_of_others(visit: Visit) -> None:
    made(visit)
    assert "my script" not in words(visit("jo").get("/account/tokens"))


def test_of_too_many_collections_the_short_name_is_typed(
    visit: Visit, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "<option" in visit("pat").get("/account/tokens").text
    monkeypatch.setattr(tokens_page, "MOST_IN_A_LIST", 0)
    page = visit("pat").get("/account/tokens")
    assert "<option" not in page.text
    assert "Its short name. Empty: all your collections." in words(page)
    made(visit, collection=f" {SLUG} ")
    made(visit, collection="")
    with database.reading() as session:
        assert {row.slug for row in tokens.list_tokens(session, "pat", now=now())} == {SLUG, None}
    refused = visit("pat").post("/account/tokens", **WANTED | {"collection": "unheard"})
    assert refused.status_code == 422
    assert "There is no collection “unheard”." in words(refused)
