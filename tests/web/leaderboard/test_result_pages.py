"""Qrels, leaderboard and exports: the numbers of the workflows, said on a page and given as files."""

import csv
import io
import json
import re

import pytest
from build import LIMIT, build, labels, member, news, pool, run, stored, topic_file
from csv_cells import unquoted
from kept import Kept
from visiting import Visit, words

from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Database, Role
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.runs import run_upload


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Topic 1 has a b c d in its pool; Nist grades all of it, the crowd three.

    nist  a 2, b 0, c 1, d 0; crowd  a 2, b 0, c 0. Settled by majority, the lower of two equally frequent: 2 0 0 0.
    """
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n")
        labels(session, "crowd", "1 0 a 2\n1 0 b 0\n1 0 c 0\n", name="crowd.txt")


def test_qrels_are_given_by_the_collections_policy_another_or_one_judges_word(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert ola.get(f"{judged}/qrels/file").text == "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n"
    assert ola.get(f"{judged}/qrels/file?policy=highest").text == "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n"
    assert ola.get(f"{judged}/qrels/file?judge=crowd").text == "1 0 a 2\n1 0 b 0\n1 0 c 0\n"
    manifest = json.loads(ola.get(f"{judged}/qrels/manifest?policy=highest").text)
    assert manifest["consensus_policy"] == "highest"
    page = ola.get(f"{judged}/qrels?policy=highest")
    assert "Lines 4 Topics 1 Judges 2 Judgements 7" in words(page)
    assert f"{judged}/qrels/file?policy=highest" in page.text


def test_the_leaderboard_scores_every_run_and_names_its_qrels(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/leaderboard?m=P@2&m=RR&other=AP,Judged@2")
    text = words(page)
    # Relevant: a. alpha has a b c, beta d b a.
    assert "Run P@2 RR AP Judged@2 Judged@10 1" in text
    assert "1 alpha 0.5000 1.0000 1.0000 100.0 % 100.0 %" in text
    assert "2 beta 0.0000 0.3333 0.3333 100.0 % 100.0 %" in text
    assert "Only one topic is scored" in text
    assert "policy: majority" in text
    assert "Grades: 4 · topics scored: 1 · topics without a grade, left out: 1 · relevant from grade 1" in text
    assert "Scored against the current grades of crowd" in words(visit("ola").get(f"{judged}/leaderboard?judge=crowd"))


@pytest.mark.parametrize(
    ("other", "columns"),
    [
        ("P.1,2", "P@1 P@2"),
        (" RR , P.1, 2 Judged@2,", "RR P@1 P@2"),
        ("P(rel=2, judged_only=True)@1,AP", "P(rel=2,judged_only=True)@1 AP"),
        (" , ", "nDCG@10 AP P@10 RR"),
    ],
)
def test_measures_are_written_with_blanks_or_commas_between(
    visit: Visit, judged: str, other: str, columns: str
) -> None:
    page = visit("ola").get(f"{judged}/leaderboard", query_string={"other": other})
    heading = page.text.split("<thead>")[1].split("</thead>")[0]
    assert " ".join(re.findall(r'data-series data-key="([^"]*)"', heading)) == columns


def test_a_box_is_ticked_for_a_measure_that_was_written(visit: Visit, judged: str) -> None:
    page = visit("ola").get(f"{judged}/leaderboard", query_string={"other": "AP,P.1,2"})
    assert re.search(r'value="AP" checked', page.text)
    assert re.search(r'name="other" value="P\.1,2"', page.text)


def test_places_are_given_only_where_one_value_is_better(visit: Visit, judged: str) -> None:
    # Relevant: a. Judged: a b c d; alpha has a b c, beta d b a.
    more, less, neither = (words(visit("ola").get(f"{judged}/leaderboard?m={name}")) for name in ("RR", "FP", "NumRet"))
    assert "Rank # Run RR Judged@10 1 alpha 1.0000" in more
    assert "Rank # Run FP 1 alpha 2" in less
    assert "Run NumRet alpha 3" in neither
    assert "#" not in neither


def test_the_leaderboard_is_given_as_csv_that_names_its_qrels(visit: Visit, judged: str) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard.csv?m=RR&policy=highest")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    # Now c is relevant too: beta has d b a, so its first relevant document stands third.
    assert [(row["run"], row["RR"]) for row in rows] == [("alpha", "1.0"), ("beta", str(1 / 3))]
    assert {(row["qrels"], row["policy"], row["grades"]) for row in rows} == {("live", "highest", "4")}


def test_runs_are_sorted_by_link_and_say_by_what(visit: Visit, judged: str) -> None:
    # By P@2 alpha is first, by its name too; of Judged@1 both have all.
    ola = visit("ola")
    page = ola.get(f"{judged}/leaderboard?m=P@2&m=RR&sort=RR")
    assert page.text.count("aria-sort") == 1
    assert re.search(r'aria-sort="descending"><a data-sort href="[^"]*sort=RR"', page.text)
    by_name = ola.get(f"{judged}/leaderboard?sort=run").text
    assert re.search(r'data-key="run"[^>]* aria-sort="ascending"', by_name)
    # A column that only the script sorts by leaves the order of the first measure.
    by_script = ola.get(f"{judged}/leaderboard?m=P@2&sort=difference").text
    assert re.search(r'data-key="P@2"[^>]* aria-sort="descending"', by_script)


def test_each_run_leads_to_a_page_of_its_own(visit: Visit, judged: str) -> None:
    assert f'href="{judged}/leaderboard/run?tag=alpha&amp;m=AP"' in visit("ola").get(f"{judged}/leaderboard?m=AP").text


def test_too_little_judged_is_warned_of_beside_the_score_and_above(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        run(session, "late", {"1": ["x", "a"], "2": ["y"]}, team="red")
        run(session, "later", {"1": ["a", "x"]}, team="red")
    page = visit("ola").get(f"{judged}/leaderboard?m=P@2")
    text = words(page)
    # x is unjudged: one of two; both have the same, and the first by name is the team's best.
    assert "late ○ not pooled ◆ best of its team red 0.5000 judge 1 ▼ 50.0 %" in text
    assert "later ○ not pooled red 0.5000 judge 1 ▼ 50.0 %" in text
    assert f'href="{judged}/pool/holes?depth=2"' in page.text
    assert "2 of 4 runs: less than 95 % of the documents that a score uses are judged." in text
    assert "marked ○: 2 of 4." in text
    best = words(visit("ola").get(f"{judged}/leaderboard?m=P@2&show=best"))
    assert ("late ○" in best, "later ○" in best, "alpha" in best) == (True, False, True)


def test_a_baseline_letters_and_bootstrap_are_named_on_the_page(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "2 0 a 1\n2 0 e 0\n", name="second.txt")
    page = words(visit("ola").get(f"{judged}/leaderboard?m=AP&baseline=alpha&letters=y&interval=bootstrap"))
    assert "the run differs from alpha by a paired t test" in page
    assert "runs with one in common do not differ in AP by Tukey" in page
    assert "95 % interval of each mean from 10,000 bootstrap samples" in page


def test_a_kept_version_is_shown_as_it_was_kept(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    assert ola.post(f"{judged}/qrels/keep").status_code == 303
    then = words(ola.get(f"{judged}/leaderboard?m=AP"))
    with database.transaction() as session:
        labels(session, "nist", "1 0 d 2\n", name="later.txt")
    kept, now = words(ola.get(f"{judged}/leaderboard?m=AP&qrels=1")), words(ola.get(f"{judged}/leaderboard?m=AP"))
    assert "Scored against version 1 of the qrels, as it was kept; policy: majority." in kept
    fingerprint = re.compile("fingerprint of the grades: ([0-9a-f]{12})")
    [first], [second], [third] = (fingerprint.findall(text) for text in (then, kept, now))
    assert first == second != third


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("qrels=7", 404, "There is no version 7 of these qrels."),
        ("qrels=best", 422, "“best” is neither the number of a version nor “live”"),
        ("qrels=999999999999999999999", 404, "There is no version 999999999999999999999 of these qrels."),
        ("qrels=" + "9" * 5000, 404, "There is no version " + "9" * 40 + "… of these qrels."),
        ("round=" + "9" * 5000, 422, "is not a round number"),
        ("&".join(f"m=P@{depth}" for depth in range(1, 26)), 422, "At most 24 measures are shown at once, not 25"),
        ("interval=guess", 422, "Intervals are t or bootstrap, not “guess”"),
        ("baseline=nobody", 404, "The baseline “nobody” is not among the runs compared."),
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
    assert "More options" in words(answer)


def test_a_leaderboard_before_the_first_judgement_is_no_error(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/leaderboard")
    assert answer.status_code == 200
    assert "Nothing is judged yet" in words(answer)


def test_every_judgement_goes_out_as_csv_and_as_json_lines(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    rows = list(csv.DictReader(io.StringIO(ola.get(f"{judged}/judgements/file").text)))
    lines = [json.loads(line) for line in ola.get(f"{judged}/judgements/file?format=jsonl").text.splitlines()]
    assert [(row["judge"], row["docno"], row["grade"]) for row in rows[:2]] == [("nist", "a", "2"), ("nist", "b", "0")]
    assert [line["judge"] for line in lines] == ["nist"] * 4 + ["crowd"] * 3
    hidden = ola.get(f"{judged}/judgements/file?format=jsonl&pseudonyms=y")
    assert hidden.headers["Content-Disposition"] == "attachment; filename=news-judgements.jsonl"
    assert not re.search("nist|crowd", hidden.text)
    configuration = ola.get(f"{judged}/judgements/file?format=label-studio-config")
    assert (configuration.mimetype, configuration.text.startswith("<View>")) == ("application/xml", True)
    assert ola.get(f"{judged}/judgements/file?format=xml").status_code == 422
    page = ola.get(f"{judged}/judgements").text
    assert page.count('name="format"') == 6


def test_a_run_whose_tag_is_a_formula_is_text_in_the_csv(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "=1+1", {"1": ["a"]})
        pool(session)
        labels(session, "nist", "1 0 a 1\n")
        member(session, "ola", Role.ORGANISER)
    assert "'=1+1," in unquoted(visit("ola").get("/collections/news/leaderboard.csv").text)


def test_values_of_trec_eval_9_are_asked_for_on_the_page_and_kept_by_its_links(
    visit: Visit, judged: str, database: Database
) -> None:
    # Equal as 32-bit numbers, so that trec_eval 9 takes the later docno first.
    scores = b"1 Q0 a 1 1.00000002 close\n1 Q0 b 2 1.00000001 close\n"
    with database.transaction() as session:
        sent = [InputFile("close.run", scores)]
        checked = run_upload.check_runs(
            session, "news", sent, sender=Sender(None, organises=True), unpacked_limit=LIMIT
        )
        stored(session, checked)
    ola = visit("ola")
    page = ola.get(f"{judged}/leaderboard?m=RR&compat=9")
    assert "close ○ not pooled 1.0000" in words(ola.get(f"{judged}/leaderboard?m=RR"))
    assert "close ○ not pooled 0.5000" in words(page)
    assert "Values are those of trec_eval 9" in words(page)
    assert "trec_eval 9:" not in words(ola.get(f"{judged}/leaderboard?m=RR"))
    assert '<option value="9" selected>' in page.text
    links = re.findall(r'href="([^"]*/leaderboard(?:\.csv)?\?[^"]*)"', page.text)
    assert len(links) > 2
    assert all("compat=9" in link for link in links)
    rows = list(csv.DictReader(io.StringIO(ola.get(f"{judged}/leaderboard.csv?m=RR&compat=9").text)))
    assert {(row["run"], row["RR"], row["trec_eval"]) for row in rows} >= {("close", "0.5", "9")}
    answer = ola.get(f"{judged}/leaderboard?compat=8")
    assert answer.status_code == 422
    assert "The trec_eval to follow is 9 or 10, not “8”." in words(answer)


def test_err_shows_the_best_grade_of_the_scale_and_is_sorted_by_either_name(visit: Visit, judged: str) -> None:
    # One grade of 2 of three: at rank 1 ERR is 3/4, at rank 3 a quarter.
    for sort in ("ERR@20", "ERR(max=2)@20"):
        page = words(visit("ola").get(f"{judged}/leaderboard?m=AP&m=ERR@20&sort={sort}"))
        assert "alpha 1.0000 0.7500" in page
    of_ir_measures = words(visit("ola").get(f"{judged}/leaderboard?m=ERR(max=4)@20"))
    assert "alpha 0.1875" in of_ir_measures
    assert "ERR(max=2)@20" in words(visit("ola").get(f"{judged}/leaderboard/run?tag=alpha&m=ERR@20"))


def test_a_sampled_pool_is_named_on_every_page_of_scores(visit: Visit, database: Database, news: str) -> None:
    with database.transaction() as session:
        build(session, PoolRequest("stratified", {"strata": "1-2:0.5"}))
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n")
    ola = visit("ola")
    for page in (
        "leaderboard?m=AP", "leaderboard/run?tag=alpha&m=AP", "leaderboard/topics?m=AP",
        "leaderboard/pair?first=alpha&second=beta&m=AP", "significance?m=AP", "correlation?m=AP",
        "quality/leave-out?m=AP",
    ):  # fmt: skip
        answer = ola.get(f"{news}/{page}")
        assert answer.status_code == 200, page
        assert "The pool is a sample: version 2 drew" in words(answer), page
    assert "The pool is a sample" not in words(ola.get(f"{news}/leaderboard?m=infAP&m=Judged@10"))
