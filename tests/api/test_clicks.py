"""Click logs by program: studied at once or by the worker, listed, shown, linked, removed; beside judgements."""

from io import BytesIO
from typing import Any

import pytest
from build import document_file, labels
from calling import NEWS, Caller, Program
from clicking import interleaving_text, log_text
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("news")
LOGS = f"{NEWS}/click-logs"


def add(program: Program, text: str, **query: str) -> Any:  # noqa: ANN401 - an answer
    form = {"log": [(BytesIO(text.encode()), "log.csv")]}
    return program.call("POST", LOGS, query_string=query, data=form, content_type="multipart/form-data")


def test_a_log_is_studied_listed_shown_linked_and_removed(program: Caller) -> None:
    ola = program("ola")
    added = add(ola, log_text(), name="March/April")
    assert added.status_code == 201
    assert (added.json["kind"], added.json["files"], added.json["lines"]) == ("comparison", ["log.csv"], 320)
    assert added.json["runs"] == {"alpha": "alpha", "beta": "beta"}
    assert add(ola, log_text(), name="March/April").status_code == 409
    assert ola.get(LOGS).json == [added.json]
    shown = ola.get(f"{LOGS}/March/April").json
    assert {name: shown[name] for name in added.json} == added.json
    assert shown["conclusion"]
    assert shown["comparison"] is not None
    assert shown["interleaving"] is None
    linked = ola.call("PATCH", f"{LOGS}/March/April", json={"runs": {"alpha": None, "beta": "alpha"}})
    assert linked.json["runs"] == {"alpha": None, "beta": "alpha"}
    assert ola.call("PATCH", f"{LOGS}/March/April", json={"runs": {"alpha": "none"}}).status_code == 404
    assert ola.call("DELETE", f"{LOGS}/March/April").json == linked.json
    assert ola.get(f"{LOGS}/March/April").status_code == 404
    assert ola.get(LOGS).json == []


def test_an_interleaving_is_shown_as_one(program: Caller) -> None:
    ola = program("ola")
    assert add(ola, interleaving_text(), name="Lists", kind="interleaving").status_code == 201
    shown = ola.get(f"{LOGS}/Lists").json
    assert (shown["kind"], shown["comparison"], shown["conclusion"]) == ("interleaving", None, None)
    assert shown["interleaving"] is not None


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"name": "M", "variant": "alpha"},
        {"name": "M", "split": "1"},
        {"name": "M", "kind": "survey"},
        {"name": "M", "column": "user"},
        {"name": "M", "return_days": "-1"},
    ],
    ids=str,
)
def test_what_cannot_be_studied_is_refused(program: Caller, query: dict[str, str]) -> None:
    assert add(program("ola"), log_text(), **query).status_code == 422
    assert program("ola").get(LOGS).json == []


def test_a_log_comes_as_a_part_of_a_form(program: Caller) -> None:
    ola = program("ola")
    octets: dict[str, Any] = {"data": log_text().encode(), "content_type": "application/octet-stream"}
    assert ola.call("POST", LOGS, query_string={"name": "M"}, **octets).status_code == 415
    form: dict[str, Any] = {"data": {"other": (BytesIO(b"x"), "log.csv")}, "content_type": "multipart/form-data"}
    missing = ola.call("POST", LOGS, query_string={"name": "M"}, **form)
    assert missing.status_code == 422
    assert "“log”" in missing.json["detail"]
    assert ola.call("POST", LOGS, query_string={"name": "M"}).status_code == 422


def test_a_large_log_is_left_to_the_worker(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 0)
    ola = program("ola")
    accepted = add(ola, log_text(), name="March")
    assert accepted.status_code == 202
    assert ola.get(LOGS).json == []
    work(database)
    job = ola.get(f"{NEWS}/jobs/{accepted.json['number']}").json
    assert (job["state"], job["problem"]) == ("done", None)
    assert ola.get(LOGS).json == [job["result"]]


def test_click_logs_are_for_organisers(program: Caller) -> None:
    add(program("ola"), log_text(), name="March")
    for name in ("jo", "pat"):
        other = program(name)
        assert add(other, log_text(), name="April").status_code == 403
        for path in (LOGS, f"{LOGS}/March", f"{NEWS}/together"):
            assert other.get(path).status_code == 403
        assert other.call("DELETE", f"{LOGS}/March").status_code == 403


def test_clicks_stand_beside_judgements_and_go_into_the_pool(program: Caller, database: Database) -> None:
    ola = program("ola")
    with database.transaction() as session:
        document_file(session, ["x"])
        labels(session, "nist", "1 0 d 2\n1 0 a 0\n2 0 e 1\n2 0 a 0\n")
    add(ola, log_text(), name="March")
    found = ola.get(f"{NEWS}/together", m="P@1").json
    assert (found["measure"], found["log"], found["qrels"]["grades"]) == ("P@1", "March", 4)
    assert {row["run"] for row in found["variants"]} == {"alpha", "beta"}
    csv = ola.get(f"{NEWS}/together", m="P@1", format="csv", table="documents")
    assert csv.mimetype == "text/csv"
    assert "March" not in csv.text.splitlines()[0]
    [exported] = [one for one in ola.get(f"{NEWS}/audit").json if one["action"] == "together.export"]
    assert exported["details"] == {"table": "documents"}
    pooled = ola.post(f"{NEWS}/together/pool", {"m": ["P@1"]})
    assert (pooled.status_code, pooled.json["added"]) == (200, 1)
    assert ola.post(f"{NEWS}/together/pool", {"m": ["P@1"]}).status_code == 422
