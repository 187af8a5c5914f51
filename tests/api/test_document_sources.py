"""The source of documents by program."""

import pytest
from calling import NEWS, Caller
from source_server import MISBEHAVIOURS, SourceServer
from sourced import fetch, pool_unread

from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("news")
SOURCE = f"{NEWS}/document-source"


def test_a_source_is_set_shown_tried_and_removed(
    program: Caller, database: Database, source_server: SourceServer
) -> None:
    pool_unread(database)
    ola = program("ola")
    assert ola.get(SOURCE).status_code == 404
    body = {"location": source_server.template, "paths": ["body=segment"], "search": source_server.search}
    assert ola.call("PUT", SOURCE, json=body).json["kind"] == "address"
    source_server.behaviours["u"] = MISBEHAVIOURS["html"][0]
    assert ola.call("POST", f"{SOURCE}/check", json={"docnos": ["u", "x"]}).json == {
        "problem": "",
        "documents": [
            {"docno": "u", "title": "", "characters": 0, "problem": "The source sent HTML or XML, not JSON."},
            {"docno": "x", "title": "Title of x", "characters": 10, "problem": ""},
        ],
        "hits": 0,
        "search_problem": "",
    }
    fetch(database)
    shown = ola.get(SOURCE).json
    assert {name: shown[name] for name in (*body, "set_by", "waiting", "problem")} == {
        **body,
        "set_by": "ola",
        "waiting": 0,
        "problem": "",
    }
    failures = ola.get(f"{SOURCE}/failures").json
    assert [(one["docno"], one["attempts"]) for one in failures] == [("u", 1)]
    assert ola.call("POST", f"{SOURCE}/fetch", json={"again": True}).json == {"documents": 2}
    assert ola.call("DELETE", SOURCE).json["location"] == source_server.template
    assert ola.get(SOURCE).status_code == 404


def test_what_is_no_source_is_refused(program: Caller) -> None:
    ola = program("ola")
    assert ola.call("PUT", SOURCE, json={"location": "https://elsewhere.org/{docno}"}).status_code == 403
    refused = ola.call("PUT", SOURCE, json={"location": "https://hooks.example.org/"})
    assert (refused.status_code, "needs {docno}" in refused.text) == (422, True)
