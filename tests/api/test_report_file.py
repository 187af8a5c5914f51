"""The report by program: the same file as by page and by command, made by the worker when the collection is large."""

import pytest
from build import labels, member
from calling import NEWS, Caller
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.storage import Database, Role

pytestmark = pytest.mark.usefixtures("news")
REPORT = f"{NEWS}/report"


@pytest.fixture(autouse=True)
def judged(news: None, database: Database) -> None:
    """Two runs, judged by two."""
    del news
    with database.transaction() as session:
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
