"""The page of estimates and its files: what it shows with and without a machine, and what it says without a sample."""

import csv
import io

import pytest
from build import SLUG, member
from kept import Kept
from sampled_news import DOCNOS, draw, judge, machine_labels_of, sampled_news
from visiting import Visit, words

from annotator.storage import Database, Role

PAGE = f"/collections/{SLUG}/estimates"


def fill(database: Database) -> None:
    with database.transaction() as session:
        sampled_news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "obi", Role.OBSERVER)
        member(session, "jo")
        draw(session, 50)
        judge(session, [(topic, docno) for topic in ("1", "2") for docno in DOCNOS])


@pytest.fixture
def estimated(database: Database, kept: Kept) -> Database:
    kept.fill(database, fill)
    return database


@pytest.mark.usefixtures("estimated")
@pytest.mark.parametrize("name", ["ola", "obi"])
def test_each_run_has_its_estimate_and_what_people_and_the_machine_alone_give(visit: Visit, name: str) -> None:
    answer = visit(name).get(f"{PAGE}?m=P@10&baseline=beta")
    page = words(answer)
    assert answer.status_code == 200
    assert "P@10, estimated from people's judgements and the labels of llm." in page
    assert "Judged: 64 of 64 documents; topics: 2." in page
    assert "People alone Machine alone, biased Less that of beta p by Holm Outside the sample" in page
    assert '<td class="number biased"' in answer.text
    assert 'class="baseline"' in answer.text


@pytest.mark.usefixtures("estimated")
def test_without_a_machine_there_are_no_columns_of_it(visit: Visit) -> None:
    page = words(visit("ola").get(f"{PAGE}?m=P@10&machine=-"))
    assert "P@10, estimated from people's judgements alone." in page
    assert "Machine alone, biased" not in page


@pytest.mark.usefixtures("estimated")
def test_runs_and_pairs_are_files(visit: Visit) -> None:
    ola = visit("ola")
    runs = list(csv.DictReader(io.StringIO(ola.get(f"{PAGE}.csv?m=P@10").text)))
    assert {row["run"] for row in runs} == {"alpha", "beta"}
    assert {row["machine"] != "" for row in runs} == {True}
    [pair] = csv.DictReader(io.StringIO(ola.get(f"{PAGE}.csv?m=P@10&by=pairs").text))
    assert {pair["first"], pair["second"]} == {"alpha", "beta"}
    assert ola.get(f"{PAGE}.csv?by=nothing").status_code == 404


def test_the_page_follows_changed_labels(visit: Visit, estimated: Database) -> None:
    ola = visit("ola")
    assert ola.get(f"{PAGE}?m=P@10").status_code == 200
    with estimated.transaction() as session:
        machine_labels_of(session, DOCNOS[:6], more=1)
    page = words(ola.get(f"{PAGE}?m=P@10"))
    assert "The labels of the machine “llm” were changed after version 2 of the pool was drawn by them" in page
    assert "Judged: 64 of 64 documents" in words(ola.get(f"{PAGE}?m=P@10&machine=-"))


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("m=ERR", 422, "cannot be estimated from a sample"),
        ("machine=who", 404, "There is no user “who”."),
        ("machine=jo", 422, "“jo” is a person, not a machine judge."),
        ("baseline=who", 404, "The baseline “who” is not among the runs compared."),
    ],
)
@pytest.mark.usefixtures("estimated")
def test_what_cannot_be_asked_is_refused_in_a_sentence(visit: Visit, query: str, status: int, sentence: str) -> None:
    answer = visit("ola").get(f"{PAGE}?{query}")
    assert (answer.status_code, sentence in words(answer)) == (status, True)


def test_without_a_sample_the_page_leads_to_the_plan(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/estimates")
    assert answer.status_code == 200
    assert "There is no sample to estimate from" in words(answer)
    assert "strategy=sample" in answer.text
