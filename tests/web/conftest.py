"""Fixtures of the page tests: the application over a fresh database, and people who visit it."""

import pytest
from build import SLUG, member, pooled_news, user
from flask import Flask
from kept import Kept
from visiting import Visit, Visitor, shared_application, with_database

from annotator.storage import Database, Role


@pytest.fixture
def app(database: Database) -> Flask:
    """The application over a fresh database; forms need no token, except where a test switches that on."""
    return with_database(shared_application(), database)


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
