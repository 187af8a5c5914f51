"""The pages of qrels: versions kept and compared, what is in dispute, and the settings these follow."""

import json

import pytest
from build import SLUG, labels, member
from csv_cells import unquoted
from kept import Kept
from visiting import Visit, words

from annotator.storage import Database, Role
from annotator.workflows.collections.collection import show_collection


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1: jo and kim agree on a (2) and differ on b (0, 1)."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
        labels(session, "kim", "1 0 a 2\n1 0 b 1\n", name="kim.txt")


def test_a_version_is_kept_and_given_again(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    answer = ola.post(f"{judged}/qrels/keep?policy=highest")
    assert (answer.status_code, answer.location) == (303, f"{judged}/qrels?policy=highest")
    page = words(ola.get(f"{judged}/qrels"))
    assert "Kept as version 1." in page
    assert "ola highest 2" in page
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 0\n", name="later.txt")
    assert ola.get(f"{judged}/qrels/versions/1/file").text == "1 0 a 2\n1 0 b 1\n"
    assert json.loads(ola.get(f"{judged}/qrels/versions/1/manifest").text)["version"] == 1
    assert ola.get(f"{judged}/qrels/versions/2/file").status_code == 404


def test_the_grades_are_downloaded_for_other_tools(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
    assert f"{judged}/qrels/file?format=quepid" in visit("ola").get(f"{judged}/qrels").text
    for name in ("ola", "obi"):
        answer = visit(name).get(f"{judged}/qrels/file?format=beir")
        assert answer.headers["Content-Disposition"] == "attachment; filename=news.qrels.tsv"
        assert answer.text.splitlines()[1] == "1\ta\t2"
        assert visit(name).get(f"{judged}/qrels/file?format=prels").status_code == 422
    assert "qrels.export beir" in words(visit("ola").get(f"{judged}/audit"))


def test_two_versions_are_compared(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    ola.post(f"{judged}/qrels/keep?policy=highest")
    page = words(ola.get(f"{judged}/qrels/diff?before=1&after=live&m=P@2"))
    assert "From version 1 to the live qrels." in page
    assert "1 Unchanged 1 Changed 0 Added 0 Removed" in page or "Unchanged 1 Changed 1 Added 0 Removed 0" in page
    assert "alpha 1 1 1.0000 0.5000" in page
    assert "1 b 1 0" in page
    file = ola.get(f"{judged}/qrels/diff.csv?before=1&after=live")
    assert unquoted(file.text).splitlines() == ["topic,docno,change,before,after", "1,b,changed,1,0"]
    assert "Every grade is the same." in words(ola.get(f"{judged}/qrels/diff?before=1&after=1"))


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("before=7", 404, "There is no version 7 of these qrels."),
        ("before=x", 422, "“x” is neither the number of a version nor “live”."),
        ("before=live&m=nDGC", 422, "nDGC"),
        ("before=live&m=AP,P@5", 422, "AP,P@5"),
    ],
)
def test_what_cannot_be_compared_is_said_beside_the_form(
    visit: Visit, judged: str, query: str, status: int, sentence: str
) -> None:
    answer = visit("ola").get(f"{judged}/qrels/diff?{query}")
    assert answer.status_code == status
    assert sentence in words(answer)
    assert "Compare others" in words(answer)


def test_the_settings_say_how_grades_are_settled_and_the_pages_follow(
    visit: Visit, judged: str, database: Database
) -> None:
    ola = visit("ola")
    form = {
        "title": "News search",
        "kind": "shared-task",
        "scale": "0=Not relevant\r\n1=Relevant\r\n2=Highly relevant",
        "relevant_from": "1",
        "judgements_wanted": "2",
        "consensus_policy": "median",
        "adjudicated": "y",
        "leaves_out_disputed": "y",
        "counts_machines": "y",
        "shows_grades": "y",
    }
    assert ola.post(f"{judged}/settings", **form).status_code == 303
    with database.reading() as session:
        stored = show_collection(session, SLUG)
    assert stored.consensus_policy == "adjudicated-else-median"
    assert (stored.leaves_out_disputed, stored.counts_machines, stored.shows_grades) == (True, True, True)
    left_out = "Disputed documents left out until an adjudicator decides: 1."
    assert left_out in words(ola.get(f"{judged}/qrels"))
    assert left_out in words(ola.get(f"{judged}/leaderboard"))
    shown = ola.get(f"{judged}/settings").text
    assert shown.count("checked") == 6  # the type, the median and four boxes


def test_one_judge_may_be_named_by_the_settings(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    form = {
        "title": "News search",
        "kind": "shared-task",
        "scale": "0=Not relevant\r\n1=Relevant\r\n2=Highly relevant",
        "relevant_from": "1",
        "judgements_wanted": "2",
        "consensus_policy": "judge",
        "one_judge": "kim",
    }
    assert ola.post(f"{judged}/settings", **form).status_code == 303
    with database.reading() as session:
        assert show_collection(session, SLUG).consensus_policy == "judge:kim"
    assert ola.get(f"{judged}/qrels/file").text == "1 0 a 2\n1 0 b 1\n"
    assert "judge:kim" in words(ola.get(f"{judged}/qrels"))
    assert 'value="kim"' in ola.get(f"{judged}/settings").text
    answer = ola.post(f"{judged}/settings", **{**form, "one_judge": "lee"})
    assert (answer.status_code, "There is no user “lee”." in words(answer)) == (422, True)


def test_the_page_counts_without_making_the_file(visit: Visit, judged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("annotator.workflows.qrels.qrels.format_qrels")
    page = words(visit("ola").get(f"{judged}/qrels"))
    assert "Lines 2 Topics 1 Judges 2 Judgements 4" in page
