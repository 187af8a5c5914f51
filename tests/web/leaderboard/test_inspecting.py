"""The pages that look closer at a run, the topics, a topic and two runs."""

import csv
import re

import pytest
from build import SLUG, labels, run, topic_file
from kept import Kept
from visiting import Visit, words

from annotator.storage import Database

CSV_PAGES = {
    "run": ("tag=alpha", ("topics", "curve", "gain", "points", "scores", "unjudged")),
    "topics": ("m=P@1", ("",)),
    "matrix": ("m=P@1", ("",)),
    "topic": ("number=1", ("runs", "documents", "grades", "counts", "teams")),
    "pair": ("first=alpha&second=beta", ("tests", "topics", "documents")),
}
EVERY_CSV = [(page, query, table) for page, (query, tables) in CSV_PAGES.items() for table in tables]


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Alpha returned a b c and a, beta d b a and e; of topic 1 a and d are relevant, of topic 2 e."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n")


def rows_of(visit: Visit, path: str) -> list[dict[str, str]]:
    answer = visit("ola").get(path)
    assert answer.status_code == 200
    return list(csv.DictReader(answer.text.splitlines()))


def test_a_run_is_shown_from_all_sides(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/leaderboard/run?tag=alpha&m=P@1"))
    assert "P@1 0.5000 Rank 2 of 2 Judged@10 33.3 %" in page
    assert "Only 33.3 % of the first ten documents of alpha are judged." in page
    assert "policy: majority. Grades: 4 · topics scored: 2" in page
    assert "Of 2 topics alpha is above the median on 0, below on 1 and equal on 1." in page
    assert "1 1.0000 1.0000 0.0000 1.0000 1 1 2 0.0000 0.5000 -0.5000 1.0000 2 1" in page
    # Of topic 1 alpha has grades 2 0 and the ideal 2 1 0, of topic 2 alpha nothing and the ideal 1.
    assert "Rank This run Ideal 1 1.0000 1.5000 2 1.0000 2.0000 3 1.0000 2.0000" in page
    against = words(visit("ola").get(f"{judged}/leaderboard/run?tag=alpha&m=P@1&baseline=beta"))
    assert "Of 2 topics alpha is above beta on 0, below on 1 and equal on 1." in against
    assert "2 0.0000 1.0000 -1.0000 1.0000 2 1" in against
    assert "It returned nothing relevant 2" in page
    assert "0.7 0.5000 0.7500 1.0000 0.8 0.0000 0.4167 0.0000" in page
    assert "c 1 3 a 2 1" in page


def test_topics_are_shown_with_how_hard_they_are(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/leaderboard/topics?m=P@1"))
    assert "1 1.0000 1.0000 1.0000 0.0000 1.0000 1.0000 2" in page
    assert "2 0.5000 0.2500 0.7500 0.7071 0.0000 1.0000 1" in page
    assert "the lower the median, the harder the topic" in page


def test_a_measure_of_which_less_or_neither_is_better_says_so(visit: Visit, judged: str) -> None:
    less = words(visit("ola").get(f"{judged}/leaderboard/topics?m=Unjudged@5"))
    assert "the higher the median, the harder the topic" in less
    assert "Lower Unjudged@5 is better." in less
    neither = words(visit("ola").get(f"{judged}/leaderboard/run?tag=alpha&m=NumRet"))
    assert "NumRet 4 Judged@10" in neither  # without a place
    assert "so runs are not ranked" in neither


def test_topics_and_runs_are_shown_as_a_matrix_sorted_both_ways(visit: Visit, judged: str) -> None:
    # By P@1 alpha has 1 and 0, beta 1 and 1: topic 2 is harder, beta better.
    page = words(visit("ola").get(f"{judged}/leaderboard/matrix?m=P@1"))
    assert "2 topics by 2 runs: hardest topic 2, best run beta." in page
    assert "Topic beta alpha 2 1.0000 0.0000 1 1.0000 1.0000" in page
    rows = rows_of(visit, f"{judged}/leaderboard/matrix.csv?m=P@1")
    assert [(row["topic"], row["run"], float(row["value"])) for row in rows] == [
        *(("2", "beta", 1), ("2", "alpha", 0), ("1", "beta", 1), ("1", "alpha", 1))
    ]


def test_more_topics_than_runs_lie_across(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        topic_file(session, "3\tthird\n")
        labels(session, "nist", "3 0 e 1\n", add_to_pool=True)
    page = words(visit("ola").get(f"{judged}/leaderboard/matrix?m=P@1"))
    assert "Run 3 2 1 beta 0.0000 1.0000 1.0000 alpha 0.0000 0.0000 1.0000" in page


def test_a_topic_is_shown_with_its_runs_and_who_found_what(visit: Visit, judged: str) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard/topic?number=1&m=AP")
    page = words(answer)
    # AP of alpha is 1/2 and of beta (1 + 2/3)/2.
    assert "beta 1 0.8333 100.0 %" in page
    assert "alpha 2 0.5000 66.7 %" in page
    assert "a 2 2 1 alpha, beta" in page
    assert "d 1 1 1 beta" in page
    assert f"/collections/{SLUG}/search/document?docno=a" in answer.text
    assert "in its top 1." in words(visit("ola").get(f"{judged}/leaderboard/topic?number=1&depth=1"))


def test_two_runs_are_shown_with_tests_topics_and_documents(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/leaderboard/pair?first=alpha&second=beta&m=P@1"))
    # Differences of 0 and 1: t is 1 with one degree of freedom, whose 95 % point is 12.706.
    assert "beta leads by 0.500 (95 % CI -5.853 to 6.853, p = 0.5): not significant." in page
    assert "Of 2 topics beta wins 1, loses 0 and ties 1." in page
    assert "Paired t 1.0000 0.5000" in page
    assert "all 2 ways were tried" in page
    assert "Documents of topic 2" in page
    assert "a unjudged 1 \u2013 alpha e 1 \u2013 1 beta" in page
    other = words(visit("ola").get(f"{judged}/leaderboard/pair?first=alpha&second=beta&m=P@1&topic=1"))
    assert "Documents of topic 1" in other


def test_the_lists_of_a_topic_stand_side_by_side(visit: Visit, judged: str) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard/pair?first=alpha&second=beta&topic=1")
    page = words(answer)
    # Alpha has a b c, beta d b a: b keeps its rank, a is two higher in alpha, c is not in beta.
    assert "2 documents are in the top 3 of both runs." in page
    assert "1 a grade 2 ▲ higher by 2 than in the other run, where its rank is 3" in page
    assert "2 b grade 0 same rank" in page
    assert "3 c unjudged not in the other run" in page
    assert "3 a grade 2 ▼ lower by 2 than in the other run, where its rank is 1" in page
    assert '<a class="moved" href="#second-3">' in answer.text


@pytest.mark.parametrize("query", ["", "?first=alpha", "?second=beta&m=AP"])
def test_without_two_runs_the_page_offers_the_choice(visit: Visit, judged: str, query: str) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard/pair{query}")
    assert answer.status_code == 200
    assert "Choose two runs: the page says which one leads" in words(answer)
    assert answer.text.count("<option>alpha") + answer.text.count("<option selected>alpha") == 2
    assert 'role="alert"' not in answer.text


def test_a_lower_value_leads_where_less_is_better(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/leaderboard/pair?first=alpha&second=beta&m=Unjudged@5"))
    # Of their first five, alpha has 1 of 3 and 1 of 1 unjudged, beta none of 3 and one of 2.
    assert "Unjudged@5: beta leads by" in page


def test_a_clear_difference_is_said_to_be_hardly_chance(visit: Visit, news: str, database: Database) -> None:
    # Differences of RR of 1, 1, 1 and 1/2 have the mean 7/8 and the deviation 1/4, so that t is 7 and p 0.006.
    with database.transaction() as session:
        topic_file(session, "3\tthird\n4\tfourth\n")
        run(session, "good", {"1": ["e"], "2": ["e"], "3": ["e"], "4": ["b", "e"]})
        run(session, "bad", {number: ["b"] for number in "1234"})
        labels(session, "nist", "".join(f"{number} 0 e 1\n{number} 0 b 0\n" for number in "1234"), add_to_pool=True)
    page = words(visit("ola").get(f"{news}/leaderboard/pair?first=bad&second=good&m=RR"))
    assert "good leads by 0.875 (95 % CI 0.477 to 1.273, p = 0.006): significant." in page
    assert "Paired t 7.0000 0.0060" in page
    assert "good \u2212 bad, mean over topics 0.8750" in page
    assert "Topic bad good good \u2212 bad" in page


def test_a_difference_without_spread_is_said_to_have_none(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "good", {"1": ["e"], "2": ["e"]})
        run(session, "bad", {"1": ["b"], "2": ["b"]})
        labels(session, "nist", "1 0 e 1\n2 0 e 1\n", add_to_pool=True)
    page = words(visit("ola").get(f"{news}/leaderboard/pair?first=good&second=bad"))
    assert "the runs differ by the same amount on every topic" in page


def test_equal_runs_are_told_that_no_test_is_defined(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a", "b", "c"], "2": ["a"]})
    page = words(visit("ola").get(f"{judged}/leaderboard/pair?first=alpha&second=gamma"))
    assert "Not defined: no difference. The runs have the same score on every topic." in page
    assert "Both have the same documents there, in the same order." in page


def test_the_grades_of_one_judge_stay_from_page_to_page(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "kim", "1 0 a 1\n1 0 d 0\n", name="kim.txt")
    answer = visit("ola").get(f"{judged}/leaderboard/run?tag=alpha&judge=kim&m=P@1")
    assert "Scored against the current grades of kim. Grades: 2 · topics scored: 1" in words(answer)
    assert f"/collections/{SLUG}/leaderboard/topic?number=1&amp;m=P@1&amp;judge=kim" in answer.text
    assert '<input type="hidden" name="judge" value="kim">' in answer.text
    assert visit("ola").get(f"{judged}/leaderboard/topics?qrels=1").status_code == 404


def test_from_the_leaderboard_a_run_is_looked_at_by_the_same_measure_and_grades(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        labels(session, "kim", "1 0 a 1\n1 0 d 0\n", name="kim.txt")
    ola = visit("ola")
    run_of = f"/collections/{SLUG}/leaderboard/run?tag=alpha"
    by_judge = ola.get(f"{judged}/leaderboard?m=AP&m=P@1&sort=P@1&judge=kim").text
    assert f'href="{run_of}&amp;judge=kim&amp;m=P@1"' in by_judge
    assert f'href="{run_of}&amp;m=AP"' in ola.get(f"{judged}/leaderboard?m=AP&m=P@1").text
    assert ola.post(f"{judged}/qrels/keep").status_code == 303
    assert f'href="{run_of}&amp;m=AP&amp;qrels=1"' in ola.get(f"{judged}/leaderboard?m=AP&qrels=1").text


def test_on_the_leaderboard_equal_runs_share_a_place(visit: Visit, judged: str) -> None:
    # Both have a, the only document of grade 2, among the first three of topic 1.
    page = words(visit("ola").get(f"{judged}/leaderboard?m=P(rel=2)@3"))
    assert re.search(r"\b1 alpha 0\.1667 .*\b1 beta 0\.1667 ", page)


def test_a_judged_topic_leads_to_how_runs_do_on_it(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert f"/collections/{SLUG}/leaderboard/topic?number=1" in ola.get(f"{judged}/topics/1").text
    ola.post(f"{judged}/topic/drop", numbers="1", reason="Too broad.")
    assert f"/collections/{SLUG}/leaderboard/topic?number=1" not in ola.get(f"{judged}/topics/1").text


@pytest.mark.parametrize(("page", "query", "table"), EVERY_CSV)
def test_every_table_can_be_had_as_csv_and_names_its_grades(
    visit: Visit, judged: str, page: str, query: str, table: str
) -> None:
    rows = rows_of(visit, f"{judged}/leaderboard/{page}.csv?{query}&table={table}")
    assert rows
    assert {(row["qrels"], row["policy"], row["grades"]) for row in rows} == {("live", "majority", "4")}
    assert {len(row["fingerprint"]) for row in rows} == {12}


def test_the_numbers_of_a_csv_are_exact(visit: Visit, judged: str) -> None:
    [row] = rows_of(visit, f"{judged}/leaderboard/pair.csv?first=alpha&second=beta&table=tests&m=AP")
    assert float(row["first_mean"]) == 0.25
    assert float(row["second_mean"]) == pytest.approx((5 / 6 + 1) / 2, abs=1e-15)
    curve = rows_of(visit, f"{judged}/leaderboard/run.csv?tag=beta&table=points")
    assert [float(point["precision"]) for point in curve] == [1, 2 / 3]


@pytest.mark.parametrize(
    ("path", "status", "words_"),
    [
        ("run?tag=nope", 404, "There is no run “nope”"),
        ("run?tag=alpha&m=nDGC", 422, "nDGC"),
        ("run?tag=alpha&top=many", 422, "“many” is not a whole number."),
        ("run?tag=alpha&slug=other&table=x&_external=1", 200, "alpha"),
        ("topic?number=9", 404, "Topic “9” is not scored"),
        ("topic", 404, "Topic “” is not scored"),
        ("pair?first=alpha&second=alpha", 422, "alpha cannot be compared with itself"),
        ("pair?first=alpha&second=beta&seed=-3", 422, "from 0 to 1000000000000000000, not -3"),
    ],
)
def test_what_cannot_be_shown_is_said_beside_the_form(
    visit: Visit, judged: str, path: str, status: int, words_: str
) -> None:
    answer = visit("ola").get(f"{judged}/leaderboard/{path}")
    assert answer.status_code == status
    assert words_ in words(answer)
    assert "Options" in words(answer)


def test_an_unknown_table_is_not_found(visit: Visit, judged: str) -> None:
    assert visit("ola").get(f"{judged}/leaderboard/run.csv?tag=alpha&table=x").status_code == 404


@pytest.mark.parametrize("path", ["run?tag=alpha", "topics", "topic?number=1", "pair?first=alpha&second=beta"])
def test_before_any_judgement_the_pages_say_so(visit: Visit, news: str, path: str) -> None:
    answer = visit("ola").get(f"{news}/leaderboard/{path}")
    assert answer.status_code == 200
    assert "Nothing is judged yet" in words(answer)


def test_a_topic_with_nothing_relevant_says_so(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 0\n")
    page = words(visit("ola").get(f"{news}/leaderboard/topic?number=1"))
    assert "No document of this topic is judged relevant" in page
    assert "No document is judged relevant, so no run can find any 1" in words(
        visit("ola").get(f"{news}/leaderboard/run?tag=alpha")
    )
