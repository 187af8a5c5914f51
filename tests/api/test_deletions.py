"""A collection that was deleted by API is listed and restored by API, by those who may."""

import pytest
from build import SLUG, member, news
from calling import API, NEWS, Caller, Program, token_of
from flask import Flask

from annotator.storage import Database, Role
from annotator.workflows.people.tokens import Scope

DELETED = f"{API}/deleted-collections"
RESTORE = f"{DELETED}/{SLUG}/restore"


@pytest.fixture
def ola(program: Caller, news: None) -> Program:
    """The organiser, who has deleted the collection."""
    del news
    caller = program("ola")
    assert caller.post(f"{NEWS}/deletions", {"kind": "collection", "typed": SLUG}).status_code == 200
    assert caller.get(NEWS).status_code == 404
    return caller


def test_its_organiser_restores_a_deleted_collection(ola: Program) -> None:
    [listed] = ola.get(DELETED).json
    assert (listed["slug"], listed["title"]) == (SLUG, "News search")
    assert listed["deleted_at"] < listed["until"]
    restored = ola.call("POST", RESTORE)
    assert (restored.status_code, restored.json) == (200, {"kind": "collection"})
    assert ola.get(NEWS).status_code == 200
    assert ola.get(DELETED).json == []
    assert ola.get(f"{NEWS}/audit", actor="ola").json[0]["action"] == "collections.restore"
    assert ola.get(f"{NEWS}/audit", actor="jo").json == []


@pytest.mark.parametrize("name", ["jo", "pat"])
def test_other_members_neither_list_nor_restore_it(ola: Program, program: Caller, name: str) -> None:
    assert program(name).get(DELETED).json == []
    assert program(name).call("POST", RESTORE).status_code == 404
    assert ola.get(NEWS).status_code == 404


def test_an_administrator_restores_it(ola: Program, program: Caller) -> None:
    assert program("ada").call("POST", RESTORE).status_code == 200
    assert ola.get(NEWS).status_code == 200


def test_a_token_of_another_collection_does_not_restore_it(app: Flask, database: Database, program: Caller) -> None:
    with database.transaction() as session:
        news(session)
        news(session, "other")
        member(session, "ola", Role.ORGANISER)
        member(session, "ola", Role.ORGANISER, slug="other")
    other = Program(app, token_of(database, "ola", tuple(Scope), "other"))
    own = Program(app, token_of(database, "ola", tuple(Scope), SLUG))
    assert program("ola").post(f"{NEWS}/deletions", {"kind": "collection", "typed": SLUG}).status_code == 200
    assert (other.get(DELETED).json, other.call("POST", RESTORE).status_code) == ([], 404)
    assert own.call("POST", RESTORE).status_code == 200
