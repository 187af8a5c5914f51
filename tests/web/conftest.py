"""Fixtures of the page tests: the application over a fresh database, and people who visit it."""

import pytest
from build import SLUG, member, pooled_news, user
from flask import Flask
from kept import Kept
from visiting import Visit, Visitor, application

from annotator.storage import Database, Role
from annotator.web.context import DATABASE


@pytest.fixture(scope="session")
def shared_app() -> Flask:
    """One application for all tests, whose pages are compiled once."""
    return application(Database("sqlite://"))


@pytest.fixture
def app(shared_app: Flask, database: Database) -> Flask:
    """The application over a fresh database; forms need no token, except where a test switches that on."""
    shared_app.extensions[DATABASE] = database
    shared_app.config.update(TESTING=True, WTF_CSRF_ENABLED=False)
    return shared_app


@pytest.fixture
def news(database: Database, kept: Kept) -> str:
    """A pooled collection: Jo and Kim judge, Ola organises, Pat sends runs for team red, Ada administers; its slug."""
    kept.fill(database, add_news)
    return f"/collections/{SLUG}"


def add_news(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        member(session, "jo", Role.JUDGE)
        member(session, "kim", Role.JUDGE)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        user(session, "ada", administrator=True)


@pytest.fixture
def visit(app: Flask, database: Database) -> Visit:
    """`visit("jo")` is Jo's browser, signed in; `visit(None)` a guest's."""
    return lambda name: Visitor(app, database, name)
