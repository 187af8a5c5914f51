"""The report, the measures and interleaved lists by program: the same files as by page and by command."""

import pytest
from build import SLUG, labels, member, run
from calling import API, NEWS, Caller
from sqlalchemy import select
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.clicks.workflows.interleaving import ListsWanted, make_lists
from annotator.evaluation.metrics.names import explain, explain_all
from annotator.storage import AuditEvent, Database, Role
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs.runs import original_file

pytestmark = pytest.mark.usefixtures("news")
REPORT, LISTS = f"{NEWS}/report", f"{NEWS}/interleaving"
OPTIONS = {"run": ["gamma", "delta"], "depth": 3, "lists": 4, "seed": 7}


@pytest.fixture(autouse=True)
def judged(news: None, database: Database) -> None:
    """Four runs, judged by two."""
    del news
    with database.transaction() as session:
        run(session, "gamma", {"1": ["d", "b", "a"], "2": ["e"]})
        run(session, "delta", {"1": ["a", "b", "c"], "2": ["a"]})
        labels(session, "ann", "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 a 1\n2 0 e 0\n")
        labels(session, "ben", "1 0 a 1\n1 0 b 1\n")
        member(session, "obi", Role.OBSERVER)


def test_a_report_has_the_sections_measures_and_language_asked_for(program: Caller) -> None:
    ola = program("ola")
    whole = ola.get(REPORT)
    assert (whole.status_code, whole.mimetype) == (200, "text/html")
    assert 'id="significance"' in whole.text
    assert "nDCG@10" in whole.text
    part = ola.get(REPORT, section=["task", "leaderboard"], m=["AP", "P@2"], language="ko").text
    assert 'lang="ko"' in part
    assert 'id="significance"' not in part
    assert "P@2" in part
    assert "nDCG@10" not in part
    for wrong in ({"section": "nothing"}, {"language": "fr"}, {"m": "nonsense"}):
        assert ola.get(REPORT, **wrong).status_code == 422
    assert ola.get(REPORT, qrels="7").status_code == 404


def test_observers_get_the_report_without_names_of_judges(program: Caller) -> None:
    report = program("obi").get(REPORT)
    assert report.status_code == 200
    assert "ben" not in report.text.split()
    assert program("pat").get(REPORT).status_code == 403


def test_a_long_report_is_the_answer_to_the_same_request_once_it_is_made(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    ola = program("ola")
    assert ola.get(REPORT, section="task").status_code == 202
    work(database)
    made = ola.get(REPORT, section="task")
    assert (made.status_code, made.mimetype) == (200, "text/html")
    assert 'id="task"' in made.text


def test_measures_are_listed_and_explained(program: Caller) -> None:
    jo = program("jo", Scope.JUDGE)
    found = jo.get(f"{API}/measures").json
    assert [one["form"] for one in found] == [one.form for one in explain_all().values()]
    assert jo.get(f"{API}/measures/ndcg_cut").json["form"] == explain("nDCG").form
    assert jo.get(f"{API}/measures/rbp").json["stands_for"] == "RBP(p=0.9)"
    unknown = jo.get(f"{API}/measures/nonsense")
    assert (unknown.status_code, "nonsense" in unknown.json["detail"]) == (404, True)
    assert program(None).get(f"{API}/measures").status_code == 401


def test_interleaved_lists_are_those_of_the_command(program: Caller, database: Database) -> None:
    ola = program("ola")
    answer = ola.get(LISTS, **OPTIONS)
    with database.reading() as session:
        files = [original_file(session, SLUG, tag) for tag in ("gamma", "delta")]
        (entry,) = session.scalars(select(AuditEvent).where(AuditEvent.action == "interleaving.export"))
    assert answer.data == make_lists(files, ListsWanted("team-draft", 3, 4, 7)).content
    assert entry.details == {"method": "team-draft", "depth": 3, "lists": 4, "seed": 7}
    one = ola.get(LISTS, run="gamma")
    assert (one.status_code, "from 2 to 20 runs, not 1" in one.text) == (422, True)
    assert ola.get(LISTS).status_code == 422
    assert ola.get(LISTS, run=["gamma", "nothing"]).status_code == 404


def test_many_lists_are_made_by_the_worker(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = program("ola")
    at_once = ola.get(LISTS, **OPTIONS).data
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    assert ola.get(LISTS, **OPTIONS).status_code == 202
    work(database)
    assert ola.get(LISTS, **OPTIONS).data == at_once
