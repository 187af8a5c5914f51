"""The pages of what systems cost: stated with a run or later, asked for by organisers, shown beside the scores."""

import csv
from datetime import UTC, datetime
from io import StringIO

import pytest
from build import NOW, SLUG, labels, member, run, run_text
from kept import Kept
from visiting import Visit, file, words

from annotator.storage import Database, Role, ScoresShown
from annotator.workflows.runs import run_costs, submissions
from annotator.workflows.runs.run_costs import ColumnRequest

STATED = {"fact_latency_p95": "0.05 s", "fact_latency_at": "1000000: 35\r\n200000: 10", "fact_hardware": "8 cores"}
RUN_COSTS = "runs/costs?tag=gamma"


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Red has gamma, which is the better one for topic 1; obi observes."""
    kept.fill(database, add_grades)
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a"], "2": ["e"]}, team="red")
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")
        member(session, "obi", Role.OBSERVER)


def stated(database: Database, tag: str = "gamma") -> dict[str, object]:
    with database.reading() as session:
        told = run_costs.costs_of_run(session, SLUG, tag).statements
    return {one.address: one.words if one.number is None else one.number for one in told}


def state(database: Database, **written: dict[str, str]) -> None:
    with database.transaction() as session:
        for tag, told in written.items():
            run_costs.change_costs(session, SLUG, tag, told, at=NOW)


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_a_participant_states_what_a_run_costs_and_sees_it_on_its_page(
    visit: Visit, judged: str, database: Database
) -> None:
    pat = visit("pat")
    assert "No speed" in words(pat.get(f"{judged}/runs/run?tag=gamma"))
    answer = pat.post(f"{judged}/{RUN_COSTS}", **STATED)
    assert (answer.status_code, answer.location) == (303, f"{judged}/runs/run?tag=gamma")
    page = words(pat.get(f"{judged}/runs/run?tag=gamma"))
    assert "Costs of the system saved." in page
    assert "Query latency, 95th percentile 50 ms" in page
    assert "Query latency by size of collection, 1,000,000 documents 35 ms" in page
    assert stated(database) == {
        "latency_p95": 50,
        "latency_at@200000": 10,
        "latency_at@1000000": 35,
        "hardware": "8 cores",
    }
    form = pat.get(f"{judged}/{RUN_COSTS}").text
    assert 'value="50"' in form
    assert "200000: 10\n1000000: 35</textarea>" in form
    # What is not in the form any more is taken back.
    pat.post(f"{judged}/{RUN_COSTS}", fact_hardware="a laptop")
    assert stated(database) == {"hardware": "a laptop"}


def test_what_is_wrong_stands_beside_its_field_and_nothing_is_stored(
    visit: Visit, judged: str, database: Database
) -> None:
    answer = visit("pat").post(
        f"{judged}/{RUN_COSTS}", **{**STATED, "fact_latency_p95": "fast", "fact_index_size": "1"}
    )
    assert answer.status_code == 422
    assert 'id="fact_latency_p95-error">“fast” is no number of ms' in answer.text
    assert 'value="8 cores"' in answer.text
    assert stated(database) == {}
    answer = visit("pat").post(f"{judged}/{RUN_COSTS}", fact_latency_p50="60", fact_latency_p95="50")
    assert answer.status_code == 422
    assert "The median latency, 60 ms, is above the 95th percentile, 50 ms" in words(answer)


def test_another_teams_run_is_none_of_a_participant(visit: Visit, judged: str, database: Database) -> None:
    pat = visit("pat")
    for answer in (pat.get(f"{judged}/runs/costs?tag=alpha"), pat.post(f"{judged}/runs/costs?tag=alpha", **STATED)):
        assert answer.status_code == 404
    assert stated(database, "alpha") == {}
    assert visit("ola").post(f"{judged}/runs/costs?tag=alpha", **STATED).status_code == 303
    assert stated(database, "alpha")["hardware"] == "8 cores"


def test_after_the_deadline_only_organisers_state_costs(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        change = submissions.SubmissionChange(submissions.Deadline(datetime(2026, 1, 1, tzinfo=UTC)))
        submissions.change_submissions(session, SLUG, change)
    pat = visit("pat")
    assert "Save the costs" not in pat.get(f"{judged}/{RUN_COSTS}").text
    answer = pat.post(f"{judged}/{RUN_COSTS}", **STATED)
    assert answer.status_code == 409
    assert "The submission deadline has passed" in words(answer)
    assert stated(database) == {}
    assert visit("ola").post(f"{judged}/{RUN_COSTS}", **STATED).status_code == 303


def test_costs_are_stated_with_the_files_that_are_sent(visit: Visit, judged: str, database: Database) -> None:
    pat = visit("pat")

    def sent() -> dict[str, object]:
        return {"files": file("delta.run", run_text("delta", {"1": ["a"]})), "run_type": "", "priority": ""}

    refused = pat.post(f"{judged}/runs", **sent(), fact_latency_p95="fast")
    assert refused.status_code == 422
    assert "“fast” is no number of ms" in words(refused)
    assert "delta" not in words(pat.get(f"{judged}/runs"))
    checked = pat.post(f"{judged}/runs/check", **sent(), fact_latency_p95="fast")
    assert checked.status_code == 422
    assert pat.post(f"{judged}/runs", **sent(), **STATED).status_code == 303
    assert stated(database, "delta")["latency_p95"] == 50
    # A correction with nothing stated leaves it, and with something stated changes that.
    corrected = {"files": file("delta.run", run_text("delta", {"1": ["b"]})), "replaces": "y"}
    assert pat.post(f"{judged}/runs", **{**sent(), **corrected}, fact_latency_p95="40").status_code == 303
    assert stated(database, "delta") == {
        "latency_p95": 40,
        "latency_at@200000": 10,
        "latency_at@1000000": 35,
        "hardware": "8 cores",
    }


@pytest.mark.parametrize("name", ["ola", "obi"])
def test_the_page_has_every_run_beside_its_score_and_marks_the_front(
    visit: Visit, judged: str, database: Database, name: str
) -> None:
    state(database, alpha={"latency_p95": "50", "hardware": "a cluster"}, beta={"latency_p95": "60"})
    state(database, gamma={"latency_p95": "20"})
    page = visit(name).get(f"{judged}/costs?m=P@1")
    assert page.status_code == 200
    # P@1: alpha has the relevant a first for both topics, gamma for one, beta for none.
    text = words(page)
    assert "On the Pareto front Other runs gamma 20 0.5000 alpha 50 1.0000 beta 60 0.0000" in text
    assert "alpha 1.0000 yes 50 a cluster gamma red 0.5000 yes 20 beta 0.0000 60" in text
    assert "fingerprint of the grades" in text
    assert 'data-chart="scatter" data-across="Query latency, 95th percentile (ms)" data-up="P@1"' in page.text


def test_within_50_ms_the_slower_and_the_silent_are_left_out_and_counted(
    visit: Visit, judged: str, database: Database
) -> None:
    state(database, alpha={"latency_p95": "50"}, beta={"latency_p95": "60"})
    ola = visit("ola")
    page = ola.get(f"{judged}/costs?within=50+ms")
    text = words(page)
    assert "Query latency, 95th percentile (ms): only runs with at most 50." in text
    assert "Left out: 1 beyond it, and 1 that do not state it." in text
    assert ">alpha</a>" in page.text
    assert ">beta</a>" not in page.text
    rows = lines(ola.get(f"{judged}/costs.csv?within=50&m=P@1").text)
    assert [(row["run"], row["P@1"], row["front"], row["latency_p95 (ms)"]) for row in rows] == [
        ("alpha", "1.0", "True", "50.0")
    ]
    assert rows[0]["qrels"] == "live"
    assert rows[0]["fingerprint"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("within=soon", 422, "“soon” is no number of ms"),
        ("cost=speed", 404, "“speed” is no fact that is stated here"),
        ("cost=hardware", 422, "“hardware” is not a numeric column"),
        ("m=Niceness", 422, "There is no measure “Niceness”"),
    ],
)
def test_what_cannot_be_asked_is_said_on_the_page(
    visit: Visit, judged: str, query: str, status: int, said: str
) -> None:
    answer = visit("ola").get(f"{judged}/costs?{query}")
    assert answer.status_code == status
    assert said in words(answer)
    assert "Show" in words(answer)


def test_before_anything_is_judged_the_costs_stand_alone(visit: Visit, news: str, database: Database) -> None:
    assert "No costs stated yet." in words(visit("ola").get(f"{news}/costs"))
    state(database, alpha={"latency_p95": "50"})
    page = visit("ola").get(f"{news}/costs")
    assert page.status_code == 200
    assert "data-chart" not in page.text
    assert "Costs of every run Run Team Query latency, 95th percentile (ms) alpha 50 beta" in words(page)
    assert [row["run"] for row in lines(visit("ola").get(f"{news}/costs.csv").text)] == ["alpha", "beta"]


@pytest.mark.parametrize("shown", [ScoresShown.OWN, ScoresShown.BESIDE, ScoresShown.WHOLE])
def test_participants_see_the_costs_of_others_when_the_leaderboard_is_released_with_names(
    visit: Visit, judged: str, database: Database, shown: ScoresShown
) -> None:
    state(database, alpha={"hardware": "a secret cluster"})
    pat = visit("pat")
    assert pat.get(f"{judged}/costs").status_code == 403
    assert "/costs" not in pat.get(f"{judged}/runs").text.split('class="menu"')[1].split("</nav>")[0]
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), shown=shown, early=True)
    answers = [pat.get(f"{judged}/costs"), pat.get(f"{judged}/costs.csv")]
    is_whole = shown is ScoresShown.WHOLE
    assert [answer.status_code for answer in answers] == [200 if is_whole else 403] * 2
    assert ["a secret cluster" in answer.text for answer in answers] == [is_whole] * 2


def test_runs_uploaded_after_the_release_are_not_shown_to_participants(
    visit: Visit, judged: str, database: Database
) -> None:
    state(database, alpha={"hardware": "a cluster"})
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW, moment=NOW, shown=ScoresShown.WHOLE, early=True)
    page = visit("pat").get(f"{judged}/costs")
    assert page.status_code == 200
    assert "a cluster" not in page.text


def test_organisers_ask_for_a_column_of_their_own(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    wanted = {"key": "price", "name": "Price of a day", "kind": "number", "unit": "EUR", "better": "less"}
    assert ola.post(f"{judged}/costs/columns", **wanted).status_code == 303
    page = words(ola.get(f"{judged}/costs/columns"))
    assert "Column added" in page
    assert "Price of a day price a number EUR less" in page
    again = ola.post(f"{judged}/costs/columns", **wanted)
    assert (again.status_code, "There is a column “price” already" in words(again)) == (409, True)
    pat = visit("pat")
    assert "Price of a day, in EUR" in words(pat.get(f"{judged}/{RUN_COSTS}"))
    pat.post(f"{judged}/{RUN_COSTS}", fact_price="12.50 EUR")
    assert stated(database) == {"price": 12.5}
    assert "Price of a day (EUR)" in words(ola.get(f"{judged}/costs"))
    refused = ola.post(f"{judged}/costs/columns/remove", key="price")
    assert (refused.status_code, "Runs state “price”: gamma (1 in all)." in words(refused)) == (409, True)
    pat.post(f"{judged}/{RUN_COSTS}")
    assert ola.post(f"{judged}/costs/columns/remove", key="price").status_code == 303
    assert "Price of a day" not in words(ola.get(f"{judged}/costs/columns"))


def test_a_column_may_have_the_name_of_anything_that_forms_have(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        for key in ("data", "errors", "validate", "csrf_token"):
            run_costs.add_column(session, SLUG, ColumnRequest(key, key), at=NOW)
    answer = visit("pat").post(f"{judged}/{RUN_COSTS}", fact_data="1", fact_validate="2", fact_csrf_token="3")
    assert answer.status_code == 303
    assert stated(database) == {"csrf_token": 3, "data": 1, "validate": 2}


def test_what_is_stated_cannot_become_html(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        run_costs.add_column(session, SLUG, ColumnRequest("notes", "<b>%(notes)s</b>", "words"), at=NOW)
    state(database, gamma={"notes": "<script>alert(1)</script>", "complex_query_time@<i>": "5"})
    ola = visit("ola")
    for path in ("costs", "costs/columns", RUN_COSTS, "runs/run?tag=gamma"):
        page = ola.get(f"{judged}/{path}")
        assert page.status_code == 200
        assert not {mark for mark in ("<b>%", "<script>alert", "<i>") if mark in page.text}, path
