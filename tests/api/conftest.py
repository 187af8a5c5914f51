"""Fixtures of the API's tests: the application over a fresh database, and programs that call it."""

import pytest
from build import member, pooled_news, user
from calling import Caller, Program, token_of
from flask import Flask
from kept import Kept
from visiting import application

from annotator.storage import Database, Role
from annotator.web.context import DATABASE
from annotator.workflows.tokens import Scope


@pytest.fixture(scope="session")
def shared_app() -> Flask:
    """One application for all tests."""
    return application(Database("sqlite://"))


@pytest.fixture
def app(shared_app: Flask, database: Database) -> Flask:
    """The application over a fresh database, with every guard that there is in use."""
    shared_app.extensions[DATABASE] = database
    shared_app.config.update(TESTING=True, WTF_CSRF_ENABLED=True)
    return shared_app


@pytest.fixture
def news(database: Database, kept: Kept) -> None:
    """A pooled collection: Jo and Kim judge, Ola organises, Pat sends runs for team red, Ada administers."""
    kept.fill(database, add_news)


def add_news(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "jo", Role.JUDGE)
        member(session, "kim", Role.JUDGE)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        user(session, "ada", administrator=True)


@pytest.fixture
def program(app: Flask, database: Database) -> Caller:
    """`program("ola")` calls with a token of Ola's that opens everything, `program("ola", Scope.READ)` with another."""
    return lambda name, *scopes: Program(app, name and token_of(database, name, scopes or tuple(Scope)))
