"""The access matrix of the API: every operation, everybody, every scope; and tokens that open nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from api_matrix import FREE, MATRIX, PEOPLE, Row
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file, user
from calling import NEWS, Caller, Program, token_of
from flask import Flask
from kept import Kept
from sqlalchemy import select
from sqlalchemy.orm import Session
from visiting import Visitor

from annotator.api.site.door import OPERATIONS
from annotator.storage import ApiToken, Database, Role
from annotator.workflows.judging.judging import next_task
from annotator.workflows.people import members, tokens
from annotator.workflows.people.tokens import Scope, TokenRequest

NAMES = dict(zip(PEOPLE, ("pat", "jo", "ann", "obi", "ola", "ada"), strict=True))

each_operation = pytest.mark.parametrize("endpoint", sorted(MATRIX))
in_collection = pytest.mark.parametrize(
    "endpoint", sorted(name for name in MATRIX if MATRIX[name].path.startswith(NEWS))
)


def fill(database: Database) -> None:
    with database.transaction() as session:
        fill_session(session)


def fill_session(session: Session) -> None:
    news(session)
    news(session, "other")
    member(session, "sam", Role.ORGANISER, slug="other")
    for name, role in (("ola", Role.ORGANISER), ("ann", Role.ADJUDICATOR), ("obi", Role.OBSERVER)):
        member(session, name, role)
    member(session, "pat", Role.PARTICIPANT, team="red")
    user(session, "ada", administrator=True)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"], "2": ["a"]}, team="red")
    document_file(session, ["a"])
    pool(session)
    judge_id = member(session, "jo", Role.JUDGE)
    labels(session, "nist", "2 0 a 1\n")
    assert next_task(session, SLUG, "1", judge_id, now=datetime.now(UTC)) is not None


@pytest.fixture(autouse=True)
def filled(sqlite_database: Database, kept: Kept, app: Flask) -> None:
    """What the rows speak of."""
    del app
    kept.fill(sqlite_database, fill)


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """Who may what is asked of one kind of database; that each answers alike, the other tests see."""
    return sqlite_database


def status(program: Program, row: Row) -> int:
    return program.call(row.method, row.path, json=row.body).status_code


def test_every_operation_has_a_row_and_every_row_an_operation(app: Flask) -> None:
    assert {*MATRIX, *FREE} == set(OPERATIONS)
    ours = {rule.endpoint for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/")}
    assert ours == {*OPERATIONS, "api_page.show", "api-docs.openapi_json"}


@each_operation
def test_an_operation_opens_for_those_it_is_for(app: Flask, database: Database, endpoint: str) -> None:
    row = MATRIX[endpoint]
    statuses = {who: status(Program(app, token_of(database, NAMES[who])), row) for who in PEOPLE}
    assert statuses == {who: row.opens.get(who, 403) for who in PEOPLE}


@each_operation
def test_a_token_opens_what_its_scopes_say(app: Flask, database: Database, endpoint: str) -> None:
    row = MATRIX[endpoint]
    who, expected = next(iter(row.opens.items()))
    for scope in Scope:
        program = Program(app, token_of(database, NAMES[who], [scope]))
        answer = program.call(row.method, row.path, json=row.body)
        if scope in row.scopes:
            assert answer.status_code == expected, scope
        else:
            assert answer.status_code == 403, scope
            assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]


@in_collection
def test_another_collections_people_learn_nothing(app: Flask, database: Database, endpoint: str) -> None:
    row = MATRIX[endpoint]
    sam = Program(app, token_of(database, "sam"))
    answer = sam.call(row.method, row.path, json=row.body)
    missing = sam.call(row.method, row.path.replace("/news", "/nows", 1), json=row.body)
    assert answer.status_code == missing.status_code == 404
    assert answer.text == missing.text.replace("nows", "news")


@in_collection
def test_a_token_of_one_collection_opens_no_other(app: Flask, database: Database, endpoint: str) -> None:
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER, slug="other")
    other = Program(app, token_of(database, "ola", slug="other"))
    assert status(other, MATRIX[endpoint]) == 404
    assert [row["slug"] for row in other.get("/api/v1/collections").json] == ["other"]


@each_operation
def test_no_operation_opens_without_a_token_in_force(app: Flask, database: Database, endpoint: str) -> None:
    row = MATRIX[endpoint]
    at = datetime.now(UTC) - timedelta(days=3)
    with database.transaction() as session:
        expired = tokens.make_token(session, "ada", TokenRequest("old", list(Scope), days=1), at=at)
        revoked = tokens.make_token(session, "ada", TokenRequest("taken back", list(Scope)), at=at)
        tokens.revoke_token(session, tokens.list_tokens(session, "ada", now=at)[0].id, at=at)
        valid = tokens.make_token(session, "ada", TokenRequest("for another door", list(Scope)), at=at)
    none_of_these = ("", "Bearer", "Bearer ann_unknown", "Bearer \xff\xfe", f"Basic {valid}", valid)
    for sent in (*none_of_these, f"Bearer {expired}", f"Bearer {revoked}"):
        answer = app.test_client().open(row.path, method=row.method, headers={"Authorization": sent}, json=row.body)
        assert answer.status_code == 401, sent
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.mimetype == "application/problem+json"


@each_operation
def test_a_cookie_opens_nothing_and_none_is_set(app: Flask, database: Database, endpoint: str) -> None:
    row = MATRIX[endpoint]
    browser = Visitor(app, database, "ada").client
    answer = browser.open(row.path, method=row.method, json=row.body)
    assert answer.status_code == 401
    assert "Set-Cookie" not in Program(app, token_of(database, "ada")).get(row.path).headers


def test_a_token_opens_no_page(app: Flask, database: Database) -> None:
    answer = Program(app, token_of(database, "ola")).get("/collections/news/runs")
    assert answer.status_code == 303
    assert "/sign-in" in answer.headers["Location"]


def test_a_program_may_ask_what_its_token_opens(program: Caller) -> None:
    answer = program("jo", Scope.JUDGE).get(FREE["Collections.show_token"])
    assert answer.json == {"name": "jo", "administrator": False, "scopes": ["judge"]}
    assert program(None).get(FREE["Collections.show_token"]).status_code == 401


def test_the_use_of_a_token_is_noted_once_a_minute(app: Flask, database: Database) -> None:
    ola = Program(app, token_of(database, "ola"))
    ola.get(NEWS)
    first = last_used(database)
    ola.get(NEWS)
    assert first is not None
    assert last_used(database) == first


def last_used(database: Database) -> datetime | None:
    with database.reading() as session:
        return session.scalars(select(ApiToken.last_used_at)).one()


def test_who_is_removed_calls_in_vain_from_then_on(app: Flask, database: Database) -> None:
    jo = Program(app, token_of(database, "jo"))
    assert jo.get(f"{NEWS}/judging").status_code == 200
    with database.transaction() as session:
        members.remove_member(session, SLUG, "jo", Role.JUDGE, at=NOW)
    assert jo.get(f"{NEWS}/judging").status_code == 404
