"""Participants compare two runs of their team: by released scores alone, and no run of others."""

import csv
from io import StringIO

import pytest
from build import NOW, SLUG, labels, run, run_text, topic_file
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import update
from tasks import task
from visiting import Visit, file, words

from annotator.storage import Collection, CollectionState, Database, Run
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.rounds import open_round
from annotator.workflows.runs.runs import withdraw_run
from annotator.workflows.topics.topic_editing import drop_topics

GRADES = "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 b 1\n3 0 c 0\n4 0 c 1\n"
ONE = {"1": ["a", "b"], "2": ["a", "b"], "3": ["b", "c"], "4": ["a", "c"]}
OTHER = {"1": ["b", "a"], "2": ["a"], "3": ["c", "a", "b"], "4": ["b"]}
PAIR = "scores/pair?first=reds&second=reds2"


@pytest.fixture
def scored(news: str, database: Database, kept: Kept) -> str:
    """Red has two runs and blue one, over four topics; a topic is a draft."""
    kept.fill(database, add_runs)
    return news


def add_runs(database: Database) -> None:
    with database.transaction() as session:
        topic_file(session, "3\tthird\n4\tfourth\n")
        run(session, "reds", ONE, team="red")
        run(session, "reds2", OTHER, team="red")
        run(session, "blues", ONE, team="blue")
        labels(session, "nist", GRADES, add_to_pool=True)


def release(visit: Visit, scored: str, **fields: str) -> None:
    assert visit("ola").post(f"{scored}/release", early="y", **fields).status_code == 303


def table(visit: Visit, address: str, name: str = "pat") -> list[dict[str, str]]:
    answer = visit(name).get(address)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(StringIO(unquoted(answer.text))))


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "Unjudged@5"])
def test_the_comparison_equals_that_of_organisers_by_the_version_of_the_release(
    visit: Visit, scored: str, measure: str
) -> None:
    release(visit, scored)
    asked = f"first=reds&second=reds2&m={measure}&seed=7"
    for name in ("tests", "topics"):
        own = table(visit, f"{scored}/scores/pair.csv?{asked}&table={name}")
        organised = table(visit, f"{scored}/leaderboard/pair.csv?{asked}&table={name}&qrels=1", "ola")
        assert own == organised
        assert {row["qrels"] for row in own} == {"1"}


def test_the_page_says_which_run_leads_and_on_which_topics(visit: Visit, scored: str) -> None:
    release(visit, scored)
    pat = visit("pat")
    chosen = words(pat.get(f"{scored}/scores/pair"))
    assert "Choose two runs of your team" in chosen
    assert "blues" not in chosen
    page = words(pat.get(f"{scored}/{PAIR}&m=RR"))
    # RR of reds 1, 1, 1, 1/2 and of reds2 1/2, 1, 1/3, 0.
    assert "RR: reds leads by 0.417" in page
    assert "Of 4 topics reds wins 3, loses 0 and ties 1." in page
    assert "Scored against version 1 of the qrels" in page
    assert "Paired t" in page
    swapped = words(pat.get(f"{scored}/scores/pair?first=reds2&second=reds&m=RR"))
    assert "RR: reds leads by 0.417" in swapped
    for others in ("blues", "alpha", "nist", "Documents of topic"):
        assert others not in page


@pytest.mark.parametrize("tag", ["blues", "alpha", "nothing"])
def test_a_run_of_others_is_not_told_from_one_that_there_is_not(visit: Visit, scored: str, tag: str) -> None:
    release(visit, scored, shown="whole")
    pat = visit("pat")
    for address in (f"scores/pair?first=reds&second={tag}", f"scores/pair.csv?first={tag}&second=reds&table=tests"):
        answer = pat.get(f"{scored}/{address}")
        assert answer.status_code == 404
        assert f"There is no run “{tag}” in this collection." in words(answer)


def test_nothing_is_compared_before_the_release_and_after_it_is_taken_back(visit: Visit, scored: str) -> None:
    pat, ola = visit("pat"), visit("ola")
    addresses = [f"{scored}/{PAIR}", f"{scored}/scores/pair.csv?first=reds&second=reds2&table=tests"]
    assert [pat.get(one).status_code for one in addresses] == [403, 403]
    assert "Compare two" not in words(pat.get(f"{scored}/scores"))
    release(visit, scored, moment="2999-05-01 00:00")
    assert [pat.get(one).status_code for one in addresses] == [403, 403]
    release(visit, scored, moment="now")
    assert [pat.get(one).status_code for one in addresses] == [200, 200]
    assert "Compare two" in words(pat.get(f"{scored}/scores"))
    ola.post(f"{scored}/release/take-back")
    assert [pat.get(one).status_code for one in addresses] == [403, 403]
    assert [ola.get(one).status_code for one in addresses] == [403, 403]


def test_later_grades_settings_and_runs_change_nothing(visit: Visit, scored: str, database: Database) -> None:
    release(visit, scored)
    address = f"{scored}/scores/pair.csv?first=reds&second=reds2&table=topics"
    before = visit("pat").get(address).text
    with database.transaction() as session:
        labels(session, "kim", "1 0 a 0\n1 0 b 1\n3 0 a 1\n", add_to_pool=True)
        change_collection(session, SLUG, CollectionChange(consensus_policy="highest"))
    assert visit("pat").post(f"{scored}/runs", files=file("late.run", run_text("late", ONE))).status_code == 303
    assert visit("pat").get(address).text == before
    refused = visit("pat").get(f"{scored}/scores/pair?first=reds&second=late")
    assert refused.status_code == 404
    assert "The run “late” was sent after the release of the scores and has none." in words(refused)


def test_dropped_topics_and_withdrawn_runs_are_left_out(visit: Visit, scored: str, database: Database) -> None:
    release(visit, scored)
    address = f"{scored}/scores/pair.csv?first=reds&second=reds2&table=topics"
    assert [row["topic"] for row in table(visit, address)] == ["2", "1", "3", "4"]
    with database.transaction() as session:
        drop_topics(session, SLUG, ["3"], reason="too easy")
    assert [row["topic"] for row in table(visit, address)] == ["2", "1", "4"]
    with database.transaction() as session:
        withdraw_run(session, SLUG, "reds2", at=NOW)
    assert visit("pat").get(address).status_code == 404
    assert "Two runs of your team with released scores are needed" in words(visit("pat").get(f"{scored}/scores/pair"))


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("first=reds&second=reds", 422, "The run reds cannot be compared with itself: choose two different runs."),
        (f"{PAIR[12:]}&m=none", 422, "none"),
        (f"{PAIR[12:]}&seed=-1", 422, "The number must be from 0 to 1000000000000000000, not -1."),
        (f"{PAIR[12:]}&seed=x", 422, "“x” is not a whole number."),
        (f"{PAIR[12:]}&seed=1_0", 422, "“1_0” is not a whole number."),
        (f"{PAIR[12:]}&m=P", 422, "Compare by one measure."),
        (f"{PAIR[12:]}&m=AP,RR", 422, "Compare by one measure."),
        (f"{PAIR[12:]}&round=3", 404, "Your team has no run with released scores in round 3."),
        (f"{PAIR[12:]}&round=x", 422, "“x” is not a round number."),
    ],
)
def test_a_choice_that_cannot_be_is_refused_with_what_was_chosen(
    visit: Visit, scored: str, query: str, status: int, sentence: str
) -> None:
    release(visit, scored)
    answer = visit("pat").get(f"{scored}/scores/pair?{query}")
    assert (answer.status_code, sentence in words(answer)) == (status, True)
    assert visit("pat").get(f"{scored}/scores/pair.csv?{query}&table=tests").status_code == status


@pytest.mark.parametrize("address", ["scores/pair.csv", "leaderboard/pair.csv"])
@pytest.mark.parametrize("query", ["", "first=reds", "second=reds"])
def test_a_file_of_a_comparison_wants_two_runs(visit: Visit, scored: str, address: str, query: str) -> None:
    release(visit, scored)
    answer = visit("pat" if "scores" in address else "ola").get(f"{scored}/{address}?{query}&table=topics")
    assert (answer.status_code, "Choose two runs." in words(answer)) == (422, True)


def test_a_page_says_why_a_run_of_the_team_has_no_score(visit: Visit, scored: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "red-b", ONE, team="red")
        run(session, "red-none", ONE, team="red")
        task(session, "a", ["1", "2"], runs=["reds", "reds2", "blues"])
        task(session, "b", ["3", "4"], runs=["red-b"])
    release(visit, scored)
    pat = visit("pat")
    for second, sentence in (
        ("red-b", "The run red-b is not one of the task “a”."),
        ("red-none", "The run “red-none” belongs to no task and has no score."),
        ("blues", "There is no run “blues” in this collection."),
        ("nothing", "There is no run “nothing” in this collection."),
    ):
        for address in ("pair?", "pair.csv?table=tests&"):
            answer = pat.get(f"{scored}/scores/{address}first=reds&second={second}")
            assert (answer.status_code, sentence in words(answer)) == (404, True)
    assert "The run red-b is not one of the task “a”." in words(pat.get(f"{scored}/scores?task=a&run=red-b"))


def test_a_page_says_that_a_run_of_the_team_is_withdrawn_and_who_can_restore_it(
    visit: Visit, scored: str, database: Database
) -> None:
    release(visit, scored)
    pat, ola = visit("pat"), visit("ola")
    for withdrawer, sentence in (
        (pat, "The run “reds2” is withdrawn. Your team can restore it on its page."),
        (ola, "The run “reds2” is withdrawn. Only the organisers can restore it."),
    ):
        assert withdrawer.post(f"{scored}/runs/withdraw?tag=reds2", confirmed="y").status_code == 303
        for address in ("pair?", "pair.csv?table=tests&"):
            answer = pat.get(f"{scored}/scores/{address}first=reds&second=reds2")
            assert (answer.status_code, sentence in words(answer)) == (404, True)
        assert ola.post(f"{scored}/runs/restore?tag=reds2").status_code == 303
    with database.transaction() as session:
        session.execute(update(Run).where(Run.tag == "blues").values(withdrawn_at=NOW))
    answer = pat.get(f"{scored}/scores/pair?first=reds&second=blues")
    assert "There is no run “blues” in this collection." in words(answer)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"submissions_until": NOW}, "The run “reds2” is withdrawn. Only the organisers can restore it."),
        ({"state": CollectionState.CLOSED}, "The run “reds2” is withdrawn."),
    ],
)
def test_after_the_deadline_and_in_a_closed_collection_no_team_is_said_to_restore_a_run(
    visit: Visit, scored: str, database: Database, values: dict[str, object], sentence: str
) -> None:
    release(visit, scored)
    pat = visit("pat")
    assert pat.post(f"{scored}/runs/withdraw?tag=reds2", confirmed="y").status_code == 303
    with database.transaction() as session:
        session.execute(update(Collection).values(**values))
    answer = pat.get(f"{scored}/scores/pair?first=reds&second=reds2")
    assert (answer.status_code, sentence in words(answer)) == (404, True)
    assert ("can restore" in words(answer)) == ("can restore" in sentence)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", "1, task a"),
        ("&round=1", "1, task a, round 1, residual"),
        ("&round=1&residual=n", "1, task a, round 1, whole"),
    ],
)
def test_the_file_names_qrels_rounds_and_task_as_that_of_organisers(
    visit: Visit, scored: str, database: Database, query: str, named: str
) -> None:
    with database.transaction() as session:
        open_round(session, SLUG, at=NOW)
        task(session, "a", ["1", "2", "3"], runs=["reds", "reds2"])
    release(visit, scored)
    asked = f"first=reds&second=reds2&task=a&table=tests{query}"
    (own,) = table(visit, f"{scored}/scores/pair.csv?{asked}")
    (organised,) = table(visit, f"{scored}/leaderboard/pair.csv?{asked}&qrels=1", "ola")
    assert own == organised
    assert own["qrels"] == named


def test_the_qrels_are_named_without_what_is_said_beside(visit: Visit, scored: str, database: Database) -> None:
    with database.transaction() as session:
        open_round(session, SLUG, at=NOW)
    release(visit, scored)
    (own,) = table(visit, f"{scored}/scores/pair.csv?first=reds&second=reds2&table=tests")
    (organised,) = table(visit, f"{scored}/leaderboard/pair.csv?first=reds&second=reds2&table=tests&qrels=1", "ola")
    assert (own["qrels"], own) == ("1", organised)
    assert "version 1 of the qrels" in words(visit("pat").get(f"{scored}/{PAIR}"))


def test_there_is_no_table_of_documents(visit: Visit, scored: str) -> None:
    release(visit, scored)
    for name in ("documents", "lists", "curves", ""):
        answer = visit("pat").get(f"{scored}/scores/pair.csv?first=reds&second=reds2&table={name}")
        assert answer.status_code == 404


def test_scores_are_shown_by_the_measures_that_were_chosen(visit: Visit, scored: str) -> None:
    release(visit, scored)
    pat = visit("pat")
    page = pat.get(f"{scored}/scores?m=RR&other=P@1+AP(rel=1)")
    assert "RR of reds by topic" in words(page)
    lines = table(visit, f"{scored}/scores.csv?m=RR&other=P@1,AP(rel=1)")
    assert [(row["run"], row["RR"], row["P@1"]) for row in lines] == [
        ("reds", "0.875", "0.75"),
        ("reds2", "0.4583333333333333", "0.25"),
    ]
    by_topic = table(visit, f"{scored}/scores.csv?m=RR&m=P@1&by=P@1&run=reds2&table=topics")
    assert [row["value"] for row in by_topic] == ["0.0", "1.0", "0.0", "0.0"]
    assert 'name="m"' in page.text
    refused = pat.get(f"{scored}/scores?m=none")
    assert refused.status_code == 422
    assert "none" in words(refused)


def test_no_file_of_scores_names_the_judge_whose_grades_count(visit: Visit, scored: str, database: Database) -> None:
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(consensus_policy="judge:nist"))
    release(visit, scored)
    for address in ("scores", "scores.csv", PAIR, "scores/pair.csv?first=reds&second=reds2&table=tests"):
        answer = visit("pat").get(f"{scored}/{address}")
        assert answer.status_code == 200
        assert "nist" not in answer.text
