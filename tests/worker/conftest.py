"""Fixtures of the worker's tests: a collection whose files and reports are all left to the worker."""

from functools import cache

import pytest
from build import member, pooled_news, user
from flask import Flask
from kept import Kept
from visiting import Visitor, application, shared_application, with_database
from worker.at_work import Visit

from annotator.storage import Database, Role
from annotator.web.site import background
from annotator.worker import answering


@pytest.fixture
def news(database: Database, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A pooled collection where every file and every report is left to the worker."""
    monkeypatch.setattr(background, "HEAVIEST_AT_ONCE", 0)
    monkeypatch.setattr(background, "MOST_LISTS_AT_ONCE", 0)
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        member(session, "jo", Role.JUDGE)
        user(session, "ada", administrator=True)


@pytest.fixture
def app(news: Database) -> Flask:
    return with_database(shared_application(), news)


@pytest.fixture(autouse=True)
def _one_application_for_all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's pages are compiled once, too, and are not those that people visit while it works."""
    monkeypatch.setattr(answering, "create_app", lambda _, database: with_database(workers_application(), database))


@cache
def workers_application() -> Flask:
    return application(Database("sqlite://"))


@pytest.fixture
def visit(app: Flask, news: Database) -> Visit:
    return lambda name: Visitor(app, news, name)
