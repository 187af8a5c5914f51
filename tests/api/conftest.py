"""Fixtures of the API's tests: the application over a fresh database, and programs that call it."""

import pytest
from build import member, pooled_news, user
from calling import Caller, Program, token_of
from flask import Flask
from kept import Kept
from visiting import shared_application, with_database

from annotator.storage import Database, Role
from annotator.workflows.people.tokens import Scope


@pytest.fixture
def app(database: Database) -> Flask:
    """The application over a fresh database, with every guard that there is in use."""
    return with_database(shared_application(), database, csrf=True)


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
