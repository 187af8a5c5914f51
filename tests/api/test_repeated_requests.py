"""A request with an Idempotency-Key is carried out once, and answered again as the first time."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from calling import API, NEWS, Answer, Caller, Program, token_of
from flask import Flask, Response
from sqlalchemy import func, select

from annotator.api.site import door
from annotator.api.site.idempotency import answered_before
from annotator.storage import Database, Invitation, KeptResponse, Run
from annotator.workflows.site.idempotency import KeyedRequest, forget_responses

pytestmark = pytest.mark.usefixtures("news")

GAMMA = b"1 Q0 a 1 2 gamma\n2 Q0 b 1 1 gamma\n"
RUNS, CHECKS = f"{NEWS}/runs", f"{NEWS}/runs/check"


def sent(program: Program, key: str, content: bytes = GAMMA, path: str = RUNS, description: str = "") -> Answer:
    headers = {"Idempotency-Key": key, "Content-Type": "application/octet-stream"}
    return program.call(
        "POST", path, headers=headers, data=content, query_string={"description": description} if description else None
    )


def runs_stored(database: Database) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(Run).where(Run.tag == "gamma")).one()


def test_a_repeated_request_is_answered_as_the_first_time(program: Caller, database: Database) -> None:
    pat = program("pat")
    first, again = sent(pat, "k1"), sent(pat, "k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.data == first.data
    assert again.mimetype == first.mimetype
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert runs_stored(database) == 1


def test_without_a_key_the_request_is_carried_out_again(program: Caller) -> None:
    pat = program("pat")
    assert pat.send(RUNS, GAMMA).status_code == 201
    assert pat.send(RUNS, GAMMA).status_code == 422


@pytest.mark.parametrize(("content", "description"), [(GAMMA + b"2 Q0 c 2 0 gamma\n", ""), (GAMMA, "ours")])
def test_a_key_is_of_one_request(program: Caller, content: bytes, description: str) -> None:
    pat = program("pat")
    sent(pat, "k1")
    answer = sent(pat, "k1", content, description=description)
    assert answer.status_code == 422
    assert answer.json["detail"].startswith("This Idempotency-Key came with another request")


def test_the_same_key_of_another_account_is_another_key(program: Caller) -> None:
    assert sent(program("pat"), "k1").status_code == 201
    assert sent(program("ola"), "k1", GAMMA.replace(b"gamma", b"delta")).status_code == 201


def test_a_refused_request_is_carried_out_when_it_is_repeated(program: Caller, database: Database) -> None:
    pat = program("pat")
    assert sent(pat, "k1", b"1 Q0\n").status_code == 422
    with database.reading() as session:
        assert session.scalars(select(func.count()).select_from(KeptResponse)).one() == 0
    assert sent(pat, "k1", GAMMA).status_code == 201


def test_a_large_file_becomes_one_job(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.api.site.jobs_asked.MOST_AT_ONCE", 10)
    pat = program("pat")
    first, again = sent(pat, "k1"), sent(pat, "k1")
    assert first.status_code == again.status_code == 202
    assert first.headers["Location"] == again.headers["Location"]
    assert first.json["number"] == again.json["number"]


def test_no_copy_of_a_link_is_kept(program: Caller, database: Database) -> None:
    ola = program("ola")
    headers, path, body = {"Idempotency-Key": "k1"}, f"{NEWS}/invitations", {"role": "judge"}
    link = ola.call("POST", path, headers=headers, json=body).json["link"]
    again = ola.call("POST", path, headers=headers, json=body)
    assert again.status_code == 409
    assert again.json["detail"].startswith("The request with this Idempotency-Key was carried out")
    with database.reading() as session:
        assert session.scalars(select(func.count()).select_from(Invitation)).one() == 1
        kept = session.scalars(select(KeptResponse)).one()
    assert kept.body is None
    assert link


def test_of_requests_at_once_one_is_carried_out(app: Flask, database: Database) -> None:
    token = token_of(database, "pat")
    answers = []

    def send() -> None:
        answers.append(sent(Program(app, token), "k1"))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs_stored(database) == 1
    # One that comes while the first is being carried out is told so.
    assert {answer.status_code for answer in answers} - {409} == {201}


def test_a_request_is_answered_as_the_same_one_that_overtook_it(
    app: Flask, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(database, "pat")
    overtaking = []

    def looked_up(keyed: KeyedRequest) -> Response | None:
        found = answered_before(keyed)
        monkeypatch.setattr(door, "answered_before", answered_before)
        other = threading.Thread(target=lambda: overtaking.append(sent(Program(app, token), "k1")))
        other.start()
        other.join()
        return found

    monkeypatch.setattr(door, "answered_before", looked_up)
    answer = sent(Program(app, token), "k1")
    [first] = overtaking
    assert (first.status_code, answer.status_code) == (201, 201)
    assert answer.data == first.data
    assert runs_stored(database) == 1


@pytest.mark.parametrize("key", ["", "é", "x" * 256, "a\tb"])
def test_a_key_that_cannot_be_used_is_refused(program: Caller, database: Database, key: str) -> None:
    answer = sent(program("pat"), key)
    assert answer.status_code == 400
    assert answer.json["detail"] == "The header Idempotency-Key has 1 to 255 printable ASCII characters."
    assert runs_stored(database) == 0


def test_responses_are_kept_for_a_day(program: Caller, database: Database) -> None:
    pat = program("pat")
    sent(pat, "k1")
    for hours, left in ((23, 1), (25, 0)):
        with database.transaction() as session:
            forget_responses(session, now=datetime.now(UTC) + timedelta(hours=hours))
            assert session.scalars(select(func.count()).select_from(KeptResponse)).one() == left


def test_a_check_is_not_kept_as_nothing_is_stored(program: Caller, database: Database) -> None:
    pat = program("pat")
    assert sent(pat, "k1", path=CHECKS).status_code == 200
    with database.reading() as session:
        assert session.scalars(select(func.count()).select_from(KeptResponse)).one() == 0
    assert sent(pat, "k2", path=f"{API}/collections/nows/runs").status_code == 404


@pytest.mark.parametrize(("labels", "status"), [("1 0 a 1\n", 200), ("1 0 a 0\n", 422)])
def test_a_form_is_the_same_with_another_boundary(program: Caller, labels: str, status: int) -> None:
    """HTTP clients choose a boundary for each request, so that a repeated form differs in its bytes."""
    ola, answers = program("ola"), []
    for content, boundary in (("1 0 a 1\n", "one"), (labels, "other")):
        part = f'--{boundary}\r\nContent-Disposition: form-data; name="labels"; filename="l"\r\n\r\n{content}\r\n'
        headers = {"Idempotency-Key": "k1", "Content-Type": f"multipart/form-data; boundary={boundary}"}
        path, query = f"{NEWS}/judgements/imports", {"judge": "nist"}
        answers.append(ola.call("POST", path, headers=headers, data=f"{part}--{boundary}--\r\n", query_string=query))
    first, again = answers
    assert first.json["added"] == 1, first.text
    assert again.status_code == status, again.text
    assert again.headers.get("Idempotency-Replayed") == ("true" if status == 200 else None)


def test_the_job_of_an_answer_with_secrets_is_kept(program: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.api.site.jobs_asked.MOST_AT_ONCE", 10)
    ola, path = program("ola"), f"{NEWS}/invitations/many"
    first, again = (sent(ola, "k1", b"name,role,team\nann,judge,\n", path) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.headers["Location"] == first.headers["Location"]
