"""Which runs differ, two measures compared, and whether the collection is good: what the workflows find, on pages."""

import pytest
from build import NOW, SLUG, labels
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import update
from visiting import Visit, words

from annotator.storage import Database, Run
from annotator.workflows.qrels import qrels, qrels_versions


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """P@1 by topic: alpha 1 1, beta 1 0; c of topic 1 is not judged."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n")


@pytest.fixture
def versioned(judged: str, database: Database) -> str:
    """The same with a version of the qrels."""
    with database.transaction() as session:
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    return judged


def test_all_pairs_are_tested(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/significance?m=P@1"))
    assert "P@1 by the live qrels: 5 grades of 2 topics, policy majority." in page
    assert "Pairs 1 Differ at 5 % 0" in page
    assert "alpha 1.0000 \N{EN DASH} \N{EN DASH} a beta 0.5000" in page
    assert "alpha = beta =" in page
    assert "0 of 1 pairs of runs differ significantly (P@1, Tukey's HSD at 5 %)" in page
    assert "The best run, alpha, is significantly better than 0 of the other 1." in page
    assert "Permutations: 20,000, seed 1." in page
    assert "Of the variance of P@1," in page


def test_a_baseline_is_chosen_among_the_runs(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/significance?m=P@1&baseline=beta"))
    # Differences 0 and 1: mean 0.5, deviation 0.7071, standard error 0.5; t of one degree is 12.706, times 0.5 6.3531.
    assert "Every run against beta" in page
    assert "alpha 0.5000 -5.8531 6.8531 0.7071 0.5000 0.5000" in page
    assert visit("ola").get(f"{judged}/significance?baseline=nobody").status_code == 404


def test_a_kept_version_is_tested_too(visit: Visit, versioned: str) -> None:
    page = words(visit("ola").get(f"{versioned}/significance?m=P@1&qrels=1"))
    assert "P@1 by version 1: 5 grades of 2 topics, policy majority." in page


@pytest.mark.parametrize("part", ["runs", "pairs", "baseline", "variance", "topics"])
def test_each_part_is_a_file(visit: Visit, judged: str, part: str) -> None:
    answer = visit("ola").get(f"{judged}/significance.csv?m=P@1&by={part}&baseline=beta")
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) > 1
    assert visit("ola").get(f"{judged}/significance.csv?by=nothing").status_code == 404


def test_where_nothing_differs_the_page_says_so(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 b 1\n2 0 a 0\n")
    page = words(visit("ola").get(f"{news}/significance?m=P@1&baseline=alpha"))
    assert "Not defined: no difference." in page
    assert "Not defined: all scores are equal" in page


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("significance?m=nDGC", 422, "nDGC"),
        ("significance?seed=some", 422, "“some” is not a whole number."),
        ("significance?qrels=7", 404, "There is no version 7"),
        ("correlation?m=nDGC", 422, "nDGC"),
        ("correlation?qrels2=old", 422, "neither the number"),
        ("quality?m=nDGC&fewer=1", 422, "nDGC"),
        ("quality/leave-out?depth=0", 422, "must be 1 or more"),
        ("quality/leave-out?depth=99999999999", 422, "The number must be from"),
        ("quality/leave-out?depth=1000001", 422, "at most 1000000"),
        ("significance?qrels=12345678901", 404, "There is no version 12345678901"),
        ("quality/leave-out?whom=judge", 404, "no such part"),
    ],
)
def test_what_cannot_be_asked_is_said_on_the_page(
    visit: Visit, judged: str, query: str, status: int, said: str
) -> None:
    answer = visit("ola").get(f"{judged}/{query}")
    assert answer.status_code == status
    assert said in words(answer)


@pytest.mark.parametrize("path", ["significance", "correlation", "quality", "quality/leave-out"])
def test_before_any_judgement_each_page_says_so(visit: Visit, news: str, path: str) -> None:
    answer = visit("ola").get(f"{news}/{path}")
    assert answer.status_code == 200
    assert "Nothing is judged yet" in words(answer)


def test_two_measures_are_compared(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/correlation?m=P@1&m2=AP"))
    assert "Kendall's tau 1.000" in page
    assert "alpha 1.0000 0.7500 1 1 same rank beta 0.5000 0.4167 2 2 same rank" in page
    assert "P@1 by the current qrels and AP by the current qrels rank the runs alike (tau 1.000)." in page
    assert "Of 100 pairs of runs, 0.0 are in the opposite order." in page
    assert unquoted(visit("ola").get(f"{judged}/correlation.csv?m=P@1&m2=AP").text).startswith("run,first,second")


def test_two_versions_are_compared_by_one_measure(visit: Visit, versioned: str) -> None:
    page = words(visit("ola").get(f"{versioned}/correlation?m=P@1&qrels=1"))
    assert "P@1 by version 1: 5 grades of 2 topics. P@1 by the current qrels: 5 grades of 2 topics." in page


def test_the_share_that_is_relevant_is_shown_by_topic(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/quality"))
    assert "Relevant, of what is judged 60.0 %" in page
    assert "less than three documents deep" in page
    fewer = words(visit("ola").get(f"{judged}/quality?fewer=1&m=P@1"))
    assert "Nested random samples of the judgements of each topic, drawn 5 times with seed 1." in fewer


@pytest.mark.parametrize("part", ["topics", "depths", "deeper", "fewer"])
def test_each_part_of_the_quality_is_a_file(visit: Visit, judged: str, part: str) -> None:
    assert visit("ola").get(f"{judged}/quality.csv?by={part}").status_code == 200
    assert visit("ola").get(f"{judged}/quality.csv?by=nothing").status_code == 404


def test_holes_are_shown_and_added_to_the_pool(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    page = words(ola.get(f"{judged}/pool/holes"))
    # c, the third of alpha, is in the pool and waits.
    assert "10 1 1 0 0.0 1" in page
    assert "alpha 1 25.0 % 1 25.0 % 1 25.0 %" in page
    assert ola.post(f"{judged}/pool/holes", depth="10", confirmed="y").status_code == 303
    assert "All of these documents are in the pool already: version 1 stays active." in words(
        ola.get(f"{judged}/pool/holes")
    )
    refused = ola.post(f"{judged}/pool/holes", depth="0")
    assert (refused.status_code, "0" in words(refused)) == (422, True)
    assert ola.post(f"{judged}/pool/holes", depth="many").status_code == 422
    assert unquoted(ola.get(f"{judged}/pool/holes.csv").text).splitlines()[1] == "alpha,10,4,1,0.25,1,live,majority,5,2"


def test_each_run_is_left_out_in_turn(visit: Visit, judged: str) -> None:
    page = words(visit("ola").get(f"{judged}/quality/leave-out?m=P@1&whom=run"))
    assert "Relevant documents: 3. Found by one alone: 66.7 %." in page
    assert "Each left out in turn: P@1" in page
    for part in ("runs", "sources", "without"):
        assert visit("ola").get(f"{judged}/quality/leave-out.csv?by={part}").status_code == 200
    assert visit("ola").get(f"{judged}/quality/leave-out.csv?by=nothing").status_code == 404


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("significance?m=P@1&baseline=alpha", "There is one run only, so there is none to compare it with."),
        ("correlation?m=P@1", "There is only one run, so there is nothing to compare it with."),
        ("quality?fewer=1&m=P@1", "There is only one run, so there is nothing to compare it with."),
        ("pool/holes", "alpha 1 25.0 %"),
        ("quality/leave-out?m=P@1&whom=run", "Each left out in turn: P@1"),
    ],
)
def test_with_one_run_in_force_each_page_stays_up(
    visit: Visit, judged: str, database: Database, path: str, said: str
) -> None:
    with database.transaction() as session:
        session.execute(update(Run).where(Run.tag == "beta").values(withdrawn_at=NOW))
    answer = visit("ola").get(f"{judged}/{path}")
    assert answer.status_code == 200
    assert said in words(answer)
    assert "beta" not in words(answer) or "leave-out" in path
