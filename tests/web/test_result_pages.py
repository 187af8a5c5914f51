"""Qrels, leaderboard and exports: the numbers of the workflows, said on a page and given as files."""

import csv
import io
import json
import re

import pytest
from build import labels, member, news, pool, run, topic_file
from visiting import Visit, words

from annotator.storage import Database, Role


@pytest.fixture
def judged(news: str, database: Database) -> str:
    """Topic 1 has a b c d in its pool; Nist grades all of it, the crowd three.

    nist  a 2, b 0, c 1, d 0; crowd  a 2, b 0, c 0. Settled by majority, the lower of two equally frequent: 2 0 0 0.
    """
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n")
        labels(session, "crowd", "1 0 a 2\n1 0 b 0\n1 0 c 0\n", name="crowd.txt")
    return news


def test_qrels_are_given_by_the_collections_policy_another_or_one_judges_word(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert ola.get(f"{judged}/qrels/file").text == "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n"
    assert ola.get(f"{judged}/qrels/file?policy=highest").text == "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n"
    assert ola.get(f"{judged}/qrels/file?judge=crowd").text == "1 0 a 2\n1 0 b 0\n1 0 c 0\n"
    manifest = json.loads(ola.get(f"{judged}/qrels/manifest?policy=highest").text)
    assert manifest["consensus_policy"] == "highest"
    page = ola.get(f"{judged}/qrels?policy=highest")
    assert manifest["sha256"] in page.text
    assert f"{judged}/qrels/file?policy=highest" in page.text


def test_the_leaderboard_scores_every_run_and_names_its_qrels(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/leaderboard?m=P@2&m=RR&other=AP,Judged@2")
    text = words(page)
    # Relevant: a. alpha has a b c, beta d b a.
    assert "Run Team P@2 RR AP Judged@2" in text
    assert "1 alpha 0.5000 1.0000 1.0000 1.0000" in text
    assert "2 beta 0.0000 0.3333 0.3333 1.0000" in text
    assert "policy: majority" in text
    assert "Grades: 4 · topics scored: 1 · topics without a grade, left out: 1 · relevant from grade 1" in text
    assert "Scored against the grades of crowd" in words(visit("ola").get(f"{judged}/leaderboard?judge=crowd"))


@pytest.mark.parametrize(
    ("other", "columns"),
    [
        ("P.1,2", "P@1 P@2"),
        (" RR , P.1, 2 Judged@2,", "RR P@1 P@2 Judged@2"),
        ("P(rel=2, judged_only=True)@1,AP", "P(rel=2,judged_only=True)@1 AP"),
        (" , ", "nDCG@10 AP P@10 RR Judged@10"),
    ],
)
def test_measures_are_written_with_blanks_or_commas_between(
    visit: Visit, judged: str, other: str, columns: str
) -> None:
    page = visit("ola").get(f"{judged}/leaderboard", query_string={"other": other})
    assert f"Run Team {columns} " in words(page)


def test_a_box_is_ticked_for_a_measure_that_was_written(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/leaderboard", query_string={"other": "AP,P.1,2"})
    assert re.search(r'value="AP" checked', page.text)
    assert re.search(r'name="other" value="P\.1,2"', page.text)


def test_places_are_given_only_where_one_value_is_better(visit: Visit, judged: str) -> None:
    # Relevant: a. Judged: a b c d; alpha has a b c, beta d b a.
    more, less, neither = (words(visit("ola").get(f"{judged}/leaderboard?m={name}")) for name in ("RR", "FP", "NumRet"))
    assert "Every run, best first by RR Place # Run" in more
    assert "Every run, best first by FP, of which less is better Place # Run Team FP 1 alpha 2" in less
    assert "Every run by its name, for neither more nor less NumRet is better Run Team NumRet alpha 3" in neither


def test_the_leaderboard_is_given_as_csv_that_names_its_qrels(visit: Visit, judged: str) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard.csv?m=RR&policy=highest")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    # Now c is relevant too: beta has d b a, so its first relevant document stands third.
    assert [(row["run"], row["RR"]) for row in rows] == [("alpha", "1.0"), ("beta", str(1 / 3))]
    assert {(row["qrels"], row["policy"], row["grades"]) for row in rows} == {("live", "highest", "4")}


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("m=nDGC@10", 422, "the nearest names are: nDCG"),
        ("m=IPrec", 422, "IPrec needs a level"),
        ("policy=mean", 422, "There is no consensus policy “mean”"),
        ("judge=nobody", 404, "There is no user “nobody”."),
    ],
)
def test_a_leaderboard_that_cannot_be_says_why_beside_its_form(
    visit: Visit, judged: str, query: str, status: int, sentence: str
) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard?{query}")
    assert answer.status_code == status
    assert sentence in words(answer)
    assert "Choose what to see" in words(answer)


def test_a_leaderboard_before_the_first_judgement_is_no_error(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/leaderboard")
    assert answer.status_code == 200
    assert "Nothing is judged yet" in words(answer)


def test_every_judgement_goes_out_as_csv_and_as_json_lines(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    rows = list(csv.DictReader(io.StringIO(ola.get(f"{judged}/judgements.csv").text)))
    lines = [json.loads(line) for line in ola.get(f"{judged}/judgements.jsonl").text.splitlines()]
    assert [(row["judge"], row["docno"], row["grade"]) for row in rows[:2]] == [("nist", "a", "2"), ("nist", "b", "0")]
    assert [line["judge"] for line in lines] == ["nist"] * 4 + ["crowd"] * 3


def test_a_run_whose_tag_is_a_formula_is_text_in_the_csv(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "=1+1", {"1": ["a"]})
        pool(session)
        labels(session, "nist", "1 0 a 1\n")
        member(session, "ola", Role.ORGANISER)
    assert "'=1+1," in visit("ola").get("/collections/news/leaderboard.csv").text
