"""Entity tags: what has not changed is not sent again, and a change is made only to what its sender has seen."""

import json
import threading
from dataclasses import replace

import pytest
from build import NOW, SLUG
from calling import NEWS, Caller, Program, token_of
from flask import Flask
from sqlalchemy import select

from annotator.storage import Database, User
from annotator.web.site.context import SETTINGS
from annotator.workflows.site import jobs

pytestmark = pytest.mark.usefixtures("news")

ALPHA = f"{NEWS}/runs/alpha"
WRONG = '"of-another-time"'


def test_what_has_not_changed_is_not_sent_again(program: Caller) -> None:
    ola = program("ola")
    first = ola.get(ALPHA)
    again = ola.call("GET", ALPHA, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    ola.call("PATCH", ALPHA, json={"description": "BM25"})
    changed = ola.call("GET", ALPHA, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_a_change_is_made_to_what_its_sender_has_seen(program: Caller) -> None:
    ola = program("ola")
    tag = ola.get(ALPHA).headers["ETag"]
    done = ola.call("PATCH", ALPHA, headers={"If-Match": tag}, json={"description": "BM25"})
    assert done.status_code == 200
    late = ola.call("PATCH", ALPHA, headers={"If-Match": tag}, json={"description": "TF-IDF"})
    assert late.status_code == 412
    assert late.json["type"] == "/api/v1/#problem-precondition-failed"
    assert late.json["detail"].startswith("This has changed since you read it")
    assert ola.get(ALPHA).json["description"] == "BM25"


@pytest.mark.parametrize(("value", "status"), [("*", 200), (WRONG, 412), ("W/" + WRONG, 412)])
def test_if_match_takes_what_http_allows(program: Caller, value: str, status: int) -> None:
    answer = program("ola").call("PATCH", ALPHA, headers={"If-Match": value}, json={"priority": 2})
    assert answer.status_code == status


def test_what_is_not_there_has_no_tag(program: Caller) -> None:
    answer = program("ola").call("PATCH", f"{NEWS}/runs/nothing", headers={"If-Match": "*"}, json={"priority": 2})
    assert answer.status_code in {404, 412}


def test_a_change_at_an_address_that_cannot_be_read_is_refused(program: Caller) -> None:
    answer = program("ola").call("POST", f"{ALPHA}/restore", headers={"If-Match": "*"})
    assert answer.status_code == 412
    assert answer.json["detail"].startswith("If-Match is for PUT, PATCH and DELETE")


def test_settings_change_only_as_they_were_seen(program: Caller) -> None:
    ola, path = program("ola"), f"{NEWS}/settings"
    tag = ola.get(path).headers["ETag"]
    assert ola.call("PATCH", path, headers={"If-Match": tag}, json={"title": "News"}).status_code == 200
    assert ola.call("PATCH", path, headers={"If-Match": tag}, json={"title": "Old"}).status_code == 412


def test_of_changes_at_once_to_the_same_state_one_is_made(app: Flask, database: Database) -> None:
    token = token_of(database, "ola")
    tag = Program(app, token).get(ALPHA).headers["ETag"]
    statuses = []

    def change(number: int) -> None:
        answer = Program(app, token).call("PATCH", ALPHA, headers={"If-Match": tag}, json={"description": str(number)})
        statuses.append(answer.status_code)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 412, 412, 412]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("invitations", {"role": "judge", "note": "Lee"}),
        ("clarifications", {"topic": "1", "text": "Plans do not count."}),
        ("webhooks", {"address": "https://hooks.example.org/annotator", "events": ["run.received"]}),
    ],
)
def test_one_entry_of_a_list_is_shown_and_removed_as_its_sender_has_seen_it(
    app: Flask, program: Caller, monkeypatch: pytest.MonkeyPatch, name: str, body: dict[str, object]
) -> None:
    settings = replace(app.extensions[SETTINGS], outgoing_hosts=("hooks.example.org",))
    monkeypatch.setitem(app.extensions, SETTINGS, settings)
    ola = program("ola")
    made = ola.post(f"{NEWS}/{name}", body)
    one = f"{NEWS}/{name}/{made.json['number']}"
    shown = ola.get(one)
    assert shown.json == {key: value for key, value in made.json.items() if key not in {"link", "secret"}}
    # What else is in the list changes nothing of this one.
    other = ola.post(f"{NEWS}/{name}", body).json["number"]
    assert ola.get(one).headers["ETag"] == shown.headers["ETag"]
    assert ola.call("DELETE", one, headers={"If-Match": WRONG}).status_code == 412
    assert ola.call("DELETE", one, headers={"If-Match": shown.headers["ETag"]}).status_code == 200
    assert ola.get(f"{NEWS}/{name}/{other}").status_code == 200
    assert ola.get(f"{NEWS}/{name}/999").status_code == 404


def test_a_list_links_to_the_pages_around_it(program: Caller) -> None:
    answer = program("ola").get(f"{NEWS}/runs", page=2, page_size=1, every="true")
    assert answer.headers["Link"] == ", ".join(
        f'<{NEWS}/runs?page={page}&page_size=1&every=true>; rel="{name}"'
        for name, page in (("first", 1), ("prev", 1), ("last", 2))
    )
    assert "next" not in answer.headers["Link"]
    first = program("ola").get(f"{NEWS}/runs", page_size=1)
    assert f'<{NEWS}/runs?page_size=1&page=2>; rel="next"' in first.headers["Link"]


def test_a_response_leaves_its_date_to_the_server(program: Caller) -> None:
    """Servers add the header; with one of the application's, the response would have two."""
    assert "Date" not in program("ola").get(ALPHA).headers


def test_the_audit_log_and_the_jobs_have_pages_as_all_lists(program: Caller, database: Database) -> None:
    ola = program("ola")
    for number in ("7", "8", "9"):
        ola.send(f"{NEWS}/topics", f"{number}\ttopic\n")
    log = ola.get(f"{NEWS}/audit", action="topics.import")
    assert json.loads(log.headers["X-Pagination"])["total"] == len(log.json) == 3
    numbers = [entry["number"] for entry in log.json]
    assert numbers == sorted(numbers, reverse=True)
    pages = [ola.get(f"{NEWS}/audit", action="topics.import", page=page, page_size=2) for page in (1, 2, 3)]
    assert [[entry["number"] for entry in page.json] for page in pages] == [numbers[:2], numbers[2:], []]
    assert f'<{NEWS}/audit?action=topics.import&page=2&page_size=2>; rel="next"' in pages[0].headers["Link"]
    with database.transaction() as session:
        person = session.scalars(select(User.id).where(User.name == "ola")).one()
        asked = [
            jobs.ask_job(session, SLUG, kind="runs.upload", parameters={"roles": []}, by_id=person, at=NOW)
            for _ in range(3)
        ]
    pages = [ola.get(f"{NEWS}/jobs", page=page, page_size=2) for page in (1, 2)]
    assert [[job["number"] for job in page.json] for page in pages] == [asked[:0:-1], asked[:1]]
    assert json.loads(pages[0].headers["X-Pagination"])["total"] == 3
    for name in ("audit", "jobs"):
        assert "before" in ola.get(f"{NEWS}/{name}", before=7).json["errors"]["query"]
