"""What judges do to the ranking by program: the effect of disagreement, machines beside people, and long reports."""

import csv
import io

import pytest
from build import SLUG, labels
from calling import NEWS, Caller
from click.testing import CliRunner
from flask import Flask
from visiting import Visitor, words
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.cli import main
from annotator.storage import Database

EFFECT, MACHINES = f"{NEWS}/agreement/effect", f"{NEWS}/agreement/machines"
CSV_OF = {EFFECT: ("agreement", "effect", "show"), MACHINES: ("agreement", "machines", "show")}


@pytest.fixture(autouse=True)
def judged(news: None, database: Database, program: Caller) -> None:
    """Two people judge and differ once; a machine labels three of their documents and one outside the scale."""
    del news
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n1 0 b 0\n1 0 d 0\n2 0 a 1\n2 0 e 0\n")
        labels(session, "bob", "1 0 a 0\n1 0 b 0\n2 0 a 1\n")
    form = {"labels": (io.BytesIO(b"1 0 a 1\n1 0 b 1\n2 0 a 1\n2 0 e 9\n"), "bot.qrels")}
    sent = program("ola").call("POST", f"{NEWS}/judgements/imports?judge=bot&machine=true", data=form)
    assert sent.status_code == 200, sent.text


@pytest.mark.parametrize("by", ["run", "neighbours", "pair", "policy"])
def test_the_effect_of_disagreement_is_the_one_of_the_command(program: Caller, database: Database, by: str) -> None:
    found = program("ola").get(EFFECT, m="AP", by=by, draws=50, seed=3).json
    assert (found["about"]["measure"], found["about"]["judges"]) == ("AP", ["ann", "bob"])
    assert found["about"]["mixtures"]["draws"] == 50
    assert_same_rows(found["rows"], database, "effect", "-m", "AP", "--by", by, "--draws", "50", "--seed", "3")


@pytest.mark.parametrize("by", ["machine", "judge", "grade", "outside"])
def test_machines_beside_people_are_those_of_the_command(program: Caller, database: Database, by: str) -> None:
    found = program("ola").get(MACHINES, m="AP", by=by).json
    assert found["about"] == {"measure": "AP", "policy": "majority", "grades": [0, 1, 2], "runs": 2}
    assert_same_rows(found["rows"], database, "machines", "-m", "AP", "--by", by)


def assert_same_rows(rows: list[dict[str, object]], database: Database, *words: str) -> None:
    """The rows are those of the command `agreement … show` as CSV."""
    url = database.engine.url.render_as_string(hide_password=False)
    name, *options = words
    written = CliRunner().invoke(
        main, ["--database", url, "agreement", name, "show", "news", *options, "--format", "csv"]
    )
    of_command = list(csv.DictReader(io.StringIO(written.stdout)))
    assert rows
    assert [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in rows] == of_command


def test_a_machine_outside_the_scale_and_alone_is_told(program: Caller) -> None:
    ola = program("ola")
    [row] = ola.get(MACHINES, by="outside").json["rows"]
    assert (row["machine"], row["topic"], row["docno"], row["label"]) == ("bot", "2", "e", "9")
    # Of what two people graded, the machine labelled a and b of topic 1, and a of topic 2.
    [shared] = ola.get(MACHINES, shared=True).json["rows"]
    assert (shared["labels"], shared["n"]) == (3, 3)
    assert ola.get(MACHINES, m="nonsense").status_code == 422
    assert ola.get(EFFECT, topic="9").status_code == 404
    assert ola.get(EFFECT, draws=1).status_code == 422


def test_a_long_report_is_left_to_the_worker_and_kept(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = program("ola")
    at_once = ola.get(EFFECT, m="AP").json
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    begun = ola.get(EFFECT, m="AP")
    assert begun.status_code == 202
    # Asked again meanwhile, it is the same job; another question is another job.
    assert ola.get(EFFECT, m="AP").json["number"] == begun.json["number"]
    assert ola.get(EFFECT, m="P@1").json["number"] != begun.json["number"]
    work(database)
    job = ola.get(begun.headers["Location"])
    assert (job.json["state"], job.json["kind"], job.json["result"]) == ("done", "Agreement.show_effect", at_once)
    kept = ola.get(EFFECT, m="AP")
    assert (kept.status_code, kept.json) == (200, at_once)
    with database.transaction() as session:
        labels(session, "bob", "2 0 e 1\n")
    assert ola.get(EFFECT, m="AP").status_code == 202


def test_the_page_of_a_job_leads_to_its_answer_and_not_into_the_api(
    app: Flask, program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    begun = program("ola").get(EFFECT, m="AP")
    ola, page = Visitor(app, database, "ola"), f"/collections/{SLUG}/jobs/{begun.json['number']}"
    assert "Effect of the judges on the ranking" in words(ola.get(page))
    work(database)
    onward = ola.get(page)
    assert (onward.status_code, onward.location) == (303, f"{page}/answer")
    answer = ola.get(onward.location)
    assert (answer.status_code, answer.json) == (200, program("ola").get(EFFECT, m="AP").json)
    assert "Effect of the judges on the ranking" in words(ola.get(f"/collections/{SLUG}/jobs"))


def test_a_long_report_that_is_refused_is_tried_again(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    ola = program("ola")
    begun = ola.get(EFFECT, topic="9")
    work(database)
    job = ola.get(begun.headers["Location"]).json
    assert (job["state"], job["status"], job["problem"]["status"]) == ("failed", 404, 404)
    assert ola.get(EFFECT, topic="9").json["number"] != begun.json["number"]
