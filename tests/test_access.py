"""The access matrix: every endpoint, everybody, the status they get."""

import pytest
from access_matrix import MATRIX, PEOPLE, Row, statuses_of
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file, user
from clicking import log_text, stored_log
from flask import Flask
from kept import Kept
from sqlalchemy import select
from sqlalchemy.orm import Session
from visiting import Visitor, shared_application, with_database

from annotator.storage import Database, Role, User
from annotator.storage.judging.drawing import Queue
from annotator.web.site.context import DATABASE
from annotator.workflows.judging.judging import next_task
from annotator.workflows.people import members
from annotator.workflows.site import jobs

NAMES = dict(zip(PEOPLE, (None, "sam", "pat", "jo", "ola", "ada", "ann", "ben", "new"), strict=True))
A_JOB = {"method": "POST", "target": f"/collections/{SLUG}/runs", "roles": []}


@pytest.fixture
def filled(sqlite_database: Database, kept: Kept) -> Database:
    """A database with a collection, a run, a pool, a judgement and a document in the judge's hands."""
    kept.fill(sqlite_database, fill_database)
    return sqlite_database


@pytest.fixture(scope="module")
def signed_in() -> dict[str, str]:
    """The cookies of those who have signed in: each does it once, for each test has the same people."""
    return {}


@pytest.fixture
def app() -> Flask:
    """The application over no database yet."""
    return with_database(shared_application(), Database("sqlite://"))


def fill_database(database: Database) -> None:
    with database.transaction() as session:
        fill(session)


def fill(session: Session) -> None:
    news(session)
    news(session, "other")
    for role in Role:
        member(session, "sam", role, slug="other", team="blue" if role == Role.PARTICIPANT else None)
    member(session, "ben", Role.OBSERVER)
    user(session, "new")
    member(session, "ola", Role.ORGANISER)
    participant_id = member(session, "pat", Role.PARTICIPANT, team="red")
    jobs.ask_job(session, SLUG, kind="runs.upload", parameters=A_JOB, by_id=participant_id, at=NOW)
    user(session, "ada", administrator=True)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b"], "2": ["a"]}, team="red")
    document_file(session, ["text"])
    pool(session)
    judge_id = member(session, "jo", Role.JUDGE)
    assert next_task(session, SLUG, "1", judge_id, now=NOW) is not None
    labels(session, "nist", "2 0 a 1\n")
    labels(session, "trec", "2 0 a 0\n")
    stored_log(session, log_text(users=2))
    adjudicator_id = member(session, "ann", Role.ADJUDICATOR)
    assert next_task(session, SLUG, "2", adjudicator_id, now=NOW, queue=Queue.ADJUDICATION) is not None


def test_every_endpoint_has_a_row_and_every_row_an_endpoint(app: Flask) -> None:
    # The door for programs has a matrix of its own.
    rules = [rule for rule in app.url_map.iter_rules() if not rule.rule.startswith("/api/")]
    assert set(MATRIX) == {rule.endpoint for rule in rules}


@pytest.mark.parametrize("endpoint", sorted(MATRIX))
def test_every_endpoint_opens_for_those_it_is_for(
    app: Flask, filled: Database, signed_in: dict[str, str], endpoint: str
) -> None:
    app.extensions[DATABASE] = filled
    statuses = {who: status_for(app, filled, NAMES[who], MATRIX[endpoint], signed_in) for who in PEOPLE}
    assert statuses == statuses_of(endpoint)


def test_there_is_a_person_of_every_role(filled: Database) -> None:
    with filled.reading() as session:
        held = {
            name: members.roles_everywhere(session, id_) for id_, name in session.execute(select(User.id, User.name))
        }
    assert {role for roles in held.values() for role in roles.get(SLUG, ())} == set(Role)
    assert held["sam"] == {"other": set(Role)}
    assert held["new"] == {}


def status_for(app: Flask, database: Database, name: str | None, row: Row, signed_in: dict[str, str]) -> int:
    visitor = Visitor(app, database, name, signed_in)
    return visitor.client.open(row.path, method=row.method, buffered=True).status_code


@pytest.mark.parametrize("endpoint", sorted(MATRIX))
def test_a_row_calls_its_own_endpoint(app: Flask, endpoint: str) -> None:
    row = MATRIX[endpoint]
    adapter = app.url_map.bind("localhost")
    assert adapter.match(row.path.partition("?")[0], method=row.method)[0] == endpoint


def test_what_a_stranger_gets_is_what_a_missing_collection_gives(app: Flask, filled: Database) -> None:
    app.extensions[DATABASE] = filled
    stranger = Visitor(app, filled, "sam")
    existing = stranger.get("/collections/news/runs").text
    missing = stranger.get("/collections/nows/runs").text
    assert existing == missing.replace("nows", "news")
