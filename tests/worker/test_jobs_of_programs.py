"""Large files that programs send are left to the worker, too: 202 with a job, and at the job what came of it."""

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from build import NOW, SLUG, labels
from calling import NEWS, Program, token_of
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from worker.at_work import GOOD, runs_called, state, work

from annotator.api.site import jobs_asked
from annotator.storage import Database, Job, JobState, Role, Run, User
from annotator.storage.tables.collections import AuditEvent
from annotator.workflows.people import members, tokens
from annotator.workflows.people.tokens import Scope
from annotator.workflows.site import jobs

Programs = Callable[..., Program]


@pytest.fixture
def program(app: Flask, news: Database, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Programs on a site where no file is small."""
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 0)
    return lambda name, *scopes: Program(app, token_of(news, name, scopes or tuple(Scope)))


def asked(program: Program, path: str, content: str | bytes, **query: object) -> str:
    """Send a file that is left to the worker; the address of the job."""
    answer = program.send(f"{NEWS}/{path}", content, **query)
    assert (answer.status_code, answer.json["state"], answer.json["result"]) == (202, "waiting", None)
    assert answer.headers["Location"] == f"{NEWS}/jobs/{answer.json['number']}"
    return answer.headers["Location"]


def test_a_large_file_of_documents_is_imported_by_the_worker(program: Programs, news: Database) -> None:
    ola = program("ola")
    job = asked(ola, "documents", "new1\tgiraffe\nnew2\tgiraffe\n")
    work(news)
    found = ola.get(job).json
    assert (found["state"], found["status"], found["problem"]) == ("done", 200, None)
    assert found["result"] == {"added": 2, "filled": 0, "changed": 0, "unchanged": 0}
    assert (found["steps_done"], found["steps"]) == (1, 2)
    with news.reading() as session:
        line = session.scalars(select(AuditEvent).where(AuditEvent.action == "documents.import")).one()
        assert (line.door, line.name) == ("api", "ola")


def test_a_large_run_is_checked_and_stored_as_of_when_it_was_sent(program: Programs, news: Database) -> None:
    pat = program("pat", Scope.RUNS)
    check, job = asked(pat, "runs/check", GOOD), asked(pat, "runs", GOOD, name="gamma.run")
    work(news)
    assert pat.get(check).json["result"]["tag"] == "gamma"
    found = pat.get(job).json
    assert (found["status"], found["result"]["file_name"], found["result"]["team"]) == (201, "gamma.run", "red")
    assert runs_called(news, "gamma") == 1
    with news.reading() as session:
        sent = session.scalars(select(Job.asked_at).order_by(Job.id.desc())).first()
        assert session.scalars(select(Run.uploaded_at).where(Run.tag == "gamma")).one() == sent


def test_what_is_wrong_with_a_file_is_told_as_if_it_had_been_read_at_once(
    program: Programs, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = program("ola")
    job = asked(ola, "documents", "{\n", name="bad.jsonl")
    work(news)
    found = ola.get(job).json
    monkeypatch.undo()
    at_once = ola.send(f"{NEWS}/documents", "{\n", name="bad.jsonl")
    assert (found["state"], found["status"], found["result"]) == ("failed", 422, None)
    assert found["problem"] == at_once.json
    assert found["problem"]["problems"][0]["file"] == "bad.jsonl"


def test_a_token_that_was_revoked_meanwhile_stores_nothing(program: Programs, news: Database) -> None:
    pat = program("pat")
    asked(pat, "runs", GOOD)
    with news.transaction() as session:
        [row] = tokens.list_tokens(session, "pat", now=datetime.now(UTC))
        tokens.revoke_token(session, row.id, at=datetime.now(UTC))
    work(news)
    assert (runs_called(news, "gamma"), state(news)) == (0, [JobState.FAILED])
    [job] = [Program(pat.client.application, token_of(news, "pat")).get(f"{NEWS}/jobs/1").json]
    assert job["problem"]["status"] == 401


def test_a_job_is_told_to_whoever_asked_for_it_while_they_may_do_as_much(program: Programs, news: Database) -> None:
    ola = program("ola")
    job = asked(ola, "documents", "new1\tgiraffe\n")
    assert [program(name).get(job).status_code for name in ("pat", "jo", "ada")] == [404, 404, 404]
    assert program("ola", Scope.JUDGE).get(job).status_code == 403
    work(news)
    with news.transaction() as session:
        members.add_member(session, SLUG, "ola", Role.JUDGE, added_at=datetime.now(UTC))
        members.add_member(session, SLUG, "jo", Role.ORGANISER, added_at=datetime.now(UTC))
        members.remove_member(session, SLUG, "ola", Role.ORGANISER, at=NOW)
    assert ola.get(job).status_code == 404


def test_a_fault_in_a_job_is_told_as_one(program: Programs, news: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    ola = program("ola")
    job = asked(ola, "documents", "new1\tgiraffe\n")
    monkeypatch.setattr("annotator.workflows.documents.documents.import_documents", fault)
    work(news)
    found = ola.get(job).json
    assert (found["state"], found["status"], found["problem"]["status"]) == ("failed", 500, 500)


def test_those_who_ask_take_turns(news: Database) -> None:
    moment = datetime.now(UTC)

    def ask(session: Session, name: str) -> int:
        account = "ola" if name == "night" else name
        by = session.scalars(select(User.id).where(User.name == account)).one()
        number = jobs.ask_job(session, SLUG, kind="k", parameters={"target": "/"}, by_id=by, at=moment)
        if name == "night":  # nobody requested it
            session.get_one(Job, number).asked_by_id = None
            session.flush()
        return number

    with news.transaction() as session:
        asked_by = {ask(session, name): name for name in ("ola", "night", "night", "ola", "night", "ola", "pat", "pat")}
        last = max(asked_by)
        assert jobs.show_job(session, SLUG, last).before == 5  # one of their own, two of each other's
    order = []
    for number in range(len(asked_by)):
        with news.transaction() as session:
            taken = jobs.take_job(session, now=moment + timedelta(seconds=number))
            assert taken is not None
            order.append(asked_by[taken.id])
            jobs.confirm_job(session, taken, now=moment + timedelta(seconds=number))
    assert order == ["ola", "night", "pat", "ola", "night", "pat", "ola", "night"]


@pytest.mark.parametrize(("ago", "told"), [(timedelta(0), ("running", None)), (timedelta(hours=1), ("done", True))])
def test_a_job_that_is_stored_and_not_yet_answered_is_not_finished_before_its_worker_was_lost(
    program: Programs, news: Database, ago: timedelta, told: tuple[str, bool | None]
) -> None:
    ola = program("ola")
    job = asked(ola, "documents", "new1\tgiraffe\n")
    with news.transaction() as session:
        taken = jobs.take_job(session, now=datetime.now(UTC))
        assert taken is not None
        jobs.confirm_job(session, taken, now=datetime.now(UTC) - ago)
    found = ola.get(job).json
    assert (found["state"], found["finished_at"] is not None or None) == told
    assert (found["status"], found["result"], found["problem"]) == (None, None, None)


def test_a_collection_is_archived_and_the_archive_imported_under_another_name(
    program: Programs, news: Database
) -> None:
    ola, ada = program("ola"), program("ada")
    asked_for = ola.post(f"{NEWS}/archive", {})
    assert (asked_for.status_code, asked_for.json["kind"]) == (202, "Collections.export_archive")
    job = asked_for.headers["Location"]
    assert ola.get(f"{job}/file").status_code == 404
    work(news)
    assert (ola.get(job).json["state"], ola.get(job).json["result"]) == ("done", None)
    archive = ola.get(f"{job}/file").data
    assert ola.get(f"{job}/file").headers["Content-Disposition"] == "attachment; filename=news.zip"
    assert program("pat").get(f"{job}/file").status_code == 404
    imported = ada.send("/api/v1/archives", archive, slug="again", name="news.zip")
    assert imported.status_code == 202
    work(news)
    assert program("ola").get(imported.headers["Location"]).status_code == 404
    found = ada.get(imported.headers["Location"]).json
    assert (found["status"], found["result"]["slug"], found["result"]["made"]) == (201, "again", [])
    assert found["result"]["lines"]["runs.jsonl"] == 2
    assert [run["tag"] for run in ada.get("/api/v1/collections/again/runs").json] == ["alpha", "beta"]
    entries = {entry["action"] for entry in ada.get("/api/v1/collections/again/audit").json}
    assert "collections.import" in entries


def test_an_archive_that_is_none_and_a_short_name_in_use_are_refused(program: Programs, news: Database) -> None:
    ola, ada = program("ola"), program("ada")
    job = ola.post(f"{NEWS}/archive", {"pseudonyms": True}).headers["Location"]
    work(news)
    archive = ola.get(f"{job}/file").data
    refused = [ada.send("/api/v1/archives", content) for content in (b"no archive", archive)]
    work(news)
    found = [ada.get(one.headers["Location"]).json for one in refused]
    assert [(one["state"], one["status"]) for one in found] == [("failed", 422), ("failed", 409)]
    assert "news" in found[1]["problem"]["detail"]
    assert [row["slug"] for row in ada.get("/api/v1/collections").json] == ["news"]


def test_an_administrator_cancels_an_import(program: Programs, news: Database) -> None:
    ada = program("ada")
    job = ada.send("/api/v1/archives", b"no archive").headers["Location"]
    assert program("ola").call("DELETE", job).status_code == 403
    assert ada.call("DELETE", job).json["state"] == "cancelled"
    assert ada.call("DELETE", job).status_code == 409
    work(news)
    assert ada.get(job).json["state"] == "cancelled"


def test_a_collection_is_written_for_beir(program: Programs, news: Database) -> None:
    with news.transaction() as session:
        labels(session, "nist", "1 0 a 1\n")
    ola = program("ola")
    job = ola.post(f"{NEWS}/archive", {"format": "beir"}).headers["Location"]
    work(news)
    with zipfile.ZipFile(io.BytesIO(ola.get(f"{job}/file").data)) as archive:
        assert {"news/corpus.jsonl", "news/queries.jsonl", "news/qrels/test.tsv"} <= set(archive.namelist())
