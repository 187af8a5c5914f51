"""The pages of rounds, the leaderboard of one round, and of documents that changed since they were judged."""

import csv
import re
from datetime import timedelta
from io import StringIO

import pytest
from build import NOW, SLUG, labels, member, run
from kept import Kept
from visiting import Visit, file, words

from annotator.storage import Database, Role, ScoresShown
from annotator.workflows.runs import submissions

DAY = timedelta(days=1)
EVERY_ROUND = "The runs of every round are scored here, whole"


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1: a is highly relevant, b is not."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n")


def test_rounds_are_closed_and_opened_by_page(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert "This collection has no rounds" in words(ola.get(f"{judged}/rounds"))
    assert "Documents judged before the round" not in words(ola.get(f"{judged}/leaderboard"))
    answer = ola.post(f"{judged}/rounds/close", confirmed="y")
    assert (answer.status_code, answer.location) == (303, f"{judged}/rounds")
    assert "Round 1 is closed; its grades are kept as version 1 of the qrels." in words(ola.get(f"{judged}/rounds"))
    assert ola.post(f"{judged}/rounds/close").status_code == 409
    refused = ola.post(f"{judged}/rounds/open", name="x" * 101)
    assert refused.status_code == 422
    assert ola.post(f"{judged}/rounds/open", name="second").status_code == 303
    page = words(ola.get(f"{judged}/rounds"))
    assert "Round 2 is open" in page
    assert "Close round 2" in page
    lines = list(csv.DictReader(StringIO(ola.get(f"{judged}/rounds.csv").text)))
    assert [(line["round"], line["name"], line["qrels_version"], line["runs"]) for line in lines] == [
        ("1", "", "1", "2"),
        ("2", "second", "", "0"),
    ]


def test_a_round_cannot_be_closed_before_anything_is_judged(visit: Visit, news: str) -> None:
    answer = visit("ola").post(f"{news}/rounds/close")
    assert answer.status_code == 409
    assert "nothing to keep" in words(answer)
    assert "This collection has no rounds" in words(answer)


def test_the_leaderboard_of_a_round_names_what_it_was_scored_against(
    visit: Visit, judged: str, database: Database
) -> None:
    ola = visit("ola")
    ola.post(f"{judged}/rounds/close", confirmed="y")
    ola.post(f"{judged}/rounds/open")
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a", "b", "d", "c"]})
        labels(session, "kim", "1 0 c 1\n1 0 d 0\n")
    residual = ola.get(f"{judged}/leaderboard?round=2&m=AP")
    assert "on the residual collection: 2 documents of topics" in words(residual)
    assert "0.5000" in words(residual)
    assert "round=2" in residual.text.split("leaderboard.csv?")[1].split('"')[0]
    whole = words(ola.get(f"{judged}/leaderboard?round=2&residual=n&m=AP"))
    assert "against all that is judged" in whole
    assert "0.7500" in whole
    (line,) = csv.DictReader(StringIO(ola.get(f"{judged}/leaderboard.csv?round=2&residual=n&m=AP").text))
    assert (line["run"], line["qrels"]) == ("gamma", "live, round 2, whole")
    assert ola.get(f"{judged}/leaderboard?round=9").status_code == 404
    assert ola.get(f"{judged}/leaderboard?round=two").status_code == 422
    assert "round 2" in words(ola.get(f"{judged}/runs"))
    pool = ola.get(f"{judged}/pool")
    assert "of the newest round, number 2" in words(pool)
    assert 'value="gamma"' in pool.text
    assert 'value="alpha"' not in pool.text


def test_changed_documents_are_put_back_or_let_stand(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert "No judged document has changed" in words(ola.get(f"{judged}/documents/changed"))
    ola.post(f"{judged}/documents", files=file("d.tsv", "a\tA\tnew text of a\nb\tB\tnew text of b\n"))
    page = words(ola.get(f"{judged}/documents/changed"))
    assert "jo: grade 2" in page
    assert "jo: grade 0" in page
    lines = list(csv.DictReader(StringIO(ola.get(f"{judged}/documents/changed.csv").text)))
    assert [(line["document"], line["judge"], line["grade"]) for line in lines] == [("a", "jo", "2"), ("b", "jo", "0")]
    assert ola.post(f"{judged}/documents/changed", act="requeue", docnos=["a"]).status_code == 303
    assert "Documents returned to the queue: 1." in words(ola.get(f"{judged}/documents/changed"))
    assert ola.get(f"{judged}/qrels/file").text == "1 0 b 0\n"
    assert ola.post(f"{judged}/documents/changed", act="let-stand", docnos=["b"]).status_code == 303
    assert "No judged document has changed" in words(ola.get(f"{judged}/documents/changed"))
    gone = ola.post(f"{judged}/documents/changed", act="requeue", docnos=["b"])
    assert gone.status_code == 422
    assert "Document b is not among those" in words(gone)


@pytest.mark.parametrize(
    "page",
    [
        "significance",
        "leaderboard",
        "report.html",
        "correlation?round=2",
        "quality",
        "leaderboard/run?tag=alpha",
        "leaderboard/pair?first=alpha&second=beta",
        "leaderboard/topic?number=1",
        "leaderboard/topics",
    ],
)
def test_pages_say_that_they_score_every_round_where_there_are_some(visit: Visit, judged: str, page: str) -> None:
    ola = visit("ola")
    sentence = EVERY_ROUND
    assert sentence not in words(ola.get(f"{judged}/{page}"))
    ola.post(f"{judged}/rounds/close", confirmed="y")
    assert sentence in words(ola.get(f"{judged}/{page}"))


@pytest.mark.parametrize(
    ("name", "page"), [("pat", "scores"), ("pat", "leaderboard"), ("obi", "leaderboard"), ("obi", "report.html")]
)
def test_what_participants_and_observers_see_of_scores_says_that_there_are_rounds(
    visit: Visit, judged: str, database: Database, name: str, page: str
) -> None:
    ola = visit("ola")
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        submissions.release_scores(session, SLUG, at=NOW + DAY, shown=ScoresShown.WHOLE, early=True)
    assert EVERY_ROUND not in words(visit(name).get(f"{judged}/{page}"))
    ola.post(f"{judged}/rounds/close", confirmed="y")
    assert EVERY_ROUND in words(visit(name).get(f"{judged}/{page}"))
    if page != "report.html":
        (first, *_) = csv.DictReader(StringIO(visit(name).get(f"{judged}/{page}.csv").text))
        assert first["qrels"] == "live, every round, whole"


def second_round(visit: Visit, judged: str, database: Database, *, shown: ScoresShown) -> None:
    """Team red takes part in round 2 only; what it finds beside a and b is judged; the scores are released."""
    ola = visit("ola")
    ola.post(f"{judged}/rounds/close", confirmed="y")
    ola.post(f"{judged}/rounds/open")
    with database.transaction() as session:
        run(session, "reds", {"1": ["a", "b", "d", "c"]}, team="red")
        labels(session, "kim", "1 0 c 1\n1 0 d 0\n", add_to_pool=True)
        submissions.release_scores(session, SLUG, at=NOW + DAY, shown=shown, early=True)


@pytest.mark.parametrize("shown", [ScoresShown.OWN, ScoresShown.BESIDE, ScoresShown.WHOLE])
def test_participants_see_the_residual_scores_of_the_rounds_of_their_team(
    visit: Visit, judged: str, database: Database, shown: ScoresShown
) -> None:
    second_round(visit, judged, database, shown=shown)
    pat = visit("pat")
    page = pat.get(f"{judged}/scores?round=2")
    assert "on the residual collection: 2 documents of topics" in words(page)
    assert "0.5000" in words(page)
    assert page.text.count("round=2") > 3
    assert "0.7500" in words(pat.get(f"{judged}/scores?round=2&residual=n"))
    (line,) = csv.DictReader(StringIO(pat.get(f"{judged}/scores.csv?round=2").text))
    assert (line["run"], line["AP"], line["qrels"]) == ("reds", "0.5", "live, round 2, residual")
    topics = csv.DictReader(StringIO(pat.get(f"{judged}/scores.csv?round=2&table=topics&m=AP").text))
    assert [(one["topic"], one["value"]) for one in topics] == [("1", "0.5")]
    for number in (1, 3):  # a round of other teams, and none
        refused = pat.get(f"{judged}/scores?round={number}")
        assert refused.status_code == 404
        assert f"Your team has no run with released scores in round {number}." in words(refused)
    assert '<option value="1"' not in page.text
    assert pat.get(f"{judged}/scores?round=two").status_code == 422


def test_the_released_leaderboard_of_a_round_is_for_the_teams_that_took_part(
    visit: Visit, judged: str, database: Database
) -> None:
    second_round(visit, judged, database, shown=ScoresShown.WHOLE)
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
    for name in ("pat", "obi"):
        board = visit(name).get(f"{judged}/leaderboard?round=2&m=AP")
        assert "on the residual collection: 2 documents of topics" in words(board)
        assert "alpha" not in words(board)
        (line,) = csv.DictReader(StringIO(visit(name).get(f"{judged}/leaderboard.csv?round=2&m=AP").text))
        assert (line["run"], line["AP"], line["qrels"]) == ("reds", "0.5", "live, round 2, residual")
    assert visit("pat").get(f"{judged}/leaderboard?round=1").status_code == 404
    assert visit("pat").get(f"{judged}/leaderboard.csv?round=1").status_code == 404
    assert "alpha" in words(visit("obi").get(f"{judged}/leaderboard?round=1"))


def test_a_round_shows_participants_nothing_that_is_not_released(visit: Visit, judged: str, database: Database) -> None:
    second_round(visit, judged, database, shown=ScoresShown.BESIDE)
    pat = visit("pat")
    assert pat.get(f"{judged}/leaderboard?round=2").status_code == 403
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW, moment=NOW - DAY, early=True)
    assert pat.get(f"{judged}/scores.csv?round=2").status_code == 404  # the run came after the release
    with database.transaction() as session:
        submissions.take_scores_back(session, SLUG)
    assert pat.get(f"{judged}/scores.csv?round=2").status_code == 403
    assert "have not released the scores" in words(pat.get(f"{judged}/scores?round=2"))


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("significance?m=AP", "significance.csv?m=AP&by=runs"),
        ("quality?m=AP", "quality.csv?by=topics"),
        ("leaderboard/run?tag=reds&m=AP", "leaderboard/run.csv?tag=reds&m=AP&table=topics"),
        (
            "leaderboard/pair?first=reds&second=more&m=AP",
            "leaderboard/pair.csv?first=reds&second=more&m=AP&table=tests",
        ),
        ("leaderboard/topic?number=1&m=AP", "leaderboard/topic.csv?number=1&m=AP&table=runs"),
        ("leaderboard/topics?m=AP", "leaderboard/topics.csv?m=AP"),
    ],
)
def test_pages_of_results_are_limited_to_a_round(
    visit: Visit, judged: str, database: Database, page: str, file: str
) -> None:
    second_round(visit, judged, database, shown=ScoresShown.OWN)
    with database.transaction() as session:
        run(session, "more", {"1": ["c", "d"]})
    ola = visit("ola")
    for query, name in {"round=2": "residual", "round=2&residual=n": "whole"}.items():
        shown = ola.get(f"{judged}/{page}&{query}")
        assert f"round 2, {name}" in words(shown).split("Only the runs of round 2 are scored")[0]  # the heading
        assert EVERY_ROUND not in words(shown)
        assert "alpha" not in words(shown)
        links = re.findall(r'href="((?!/static)[^"]*(?:leaderboard/|\.csv|significance)[^"]*\?[^"]*)"', shown.text)
        assert links
        asked = set(query.split("&"))
        assert [link for link in links if not asked <= set(link.split("?")[1].split("&amp;"))] == []
        line = next(csv.DictReader(StringIO(ola.get(f"{judged}/{file}&{query}").text)))
        assert line["qrels"] == f"live, round 2, {name}"
    assert ola.get(f"{judged}/{page}&round=9").status_code == 404
    assert ola.get(f"{judged}/{page}&round=two").status_code == 422
