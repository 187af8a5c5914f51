"""The pages of scores in a collection with tasks: for organisers by choice, for teams beside the runs of one task."""

import csv
import re
from datetime import timedelta
from io import StringIO

import pytest
from build import NOW, SLUG, labels, member
from kept import Kept
from tasks import move_runs, run, task
from visiting import Visit, words

from annotator.storage import Database, Role, ScoresShown
from annotator.workflows.collections import rounds
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions

DAY = timedelta(days=1)
EVERY_TASK = "The runs of every task are scored here, on the topics of all"


@pytest.fixture
def judged(news: str, database: Database, kept: Kept) -> str:
    """Task `lexical` has topic 1 with alpha and beta, `dense` topic 2 with gamma and delta; both are judged."""
    kept.fill(database, add_tasks)
    return news


def add_tasks(database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"2": ["a", "e"]})
        run(session, "delta", {"2": ["e", "a"]})
        task(session, "lexical", ["1"], title="Lexical retrieval", runs=["alpha", "beta"])
        task(session, "dense", ["2"], title="Dense retrieval", runs=["gamma", "delta"])
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 d 0\n2 0 a 1\n2 0 e 0\n")


def csv_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_a_collection_without_tasks_has_no_choice_of_a_task(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n")
    ola = visit("ola")
    for page in ("leaderboard", "significance", "leaderboard/topics", "quality?fewer=1"):
        shown = ola.get(f"{news}/{page}")
        assert 'name="task"' not in shown.text
        assert EVERY_TASK not in words(shown)
    refused = ola.get(f"{news}/leaderboard?task=dense")
    assert refused.status_code == 404
    assert "There is no task “dense”: this collection has no tasks." in words(refused)


def test_the_leaderboard_of_a_task_has_its_runs_on_its_topics(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    whole = ola.get(f"{judged}/leaderboard?m=AP")
    assert EVERY_TASK in words(whole)
    assert '<option value="dense">Task: Dense retrieval</option>' in whole.text
    shown = ola.get(f"{judged}/leaderboard?m=AP&task=dense")
    assert "Only the runs of the task “dense” are scored, on its topics." in words(shown)
    assert EVERY_TASK not in words(shown)
    assert "alpha" not in words(shown)
    assert '<option value="dense" selected>' in shown.text
    assert [
        (line["run"], line["AP"], line["qrels"], line["topics"])
        for line in csv_of(ola.get(f"{judged}/leaderboard.csv?m=AP&task=dense").text)
    ] == [("gamma", "1.0", "live, task dense", "1"), ("delta", "0.5", "live, task dense", "1")]
    unknown = ola.get(f"{judged}/leaderboard?task=none")
    assert unknown.status_code == 404
    assert "There is no task “none”. There are: lexical, dense." in words(unknown)
    assert '<option value="dense">' in unknown.text


def test_the_links_of_a_leaderboard_keep_its_task(visit: Visit, judged: str) -> None:
    shown = visit("ola").get(f"{judged}/leaderboard?m=AP&m=P@1&task=dense").text
    links = re.findall(r'href="([^"]*/leaderboard(?:\.csv|/run)?\?[^"]*)"', shown)
    assert len(links) > 4
    assert [link for link in links if "task=dense" not in link] == []
    compare = shown.split('id="compare"')[1].split("</form>")[0]
    assert '<input type="hidden" name="task" value="dense">' in compare


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("significance?m=AP", "significance.csv?m=AP&by=runs"),
        ("quality?m=AP", "quality.csv?by=topics"),
        ("leaderboard/run?tag=gamma&m=AP", "leaderboard/run.csv?tag=gamma&m=AP&table=topics"),
        (
            "leaderboard/pair?first=gamma&second=delta&m=AP",
            "leaderboard/pair.csv?first=gamma&second=delta&m=AP&table=tests",
        ),
        ("leaderboard/topic?number=2&m=AP", "leaderboard/topic.csv?number=2&m=AP&table=runs"),
        ("leaderboard/topics?m=AP", "leaderboard/topics.csv?m=AP"),
        ("leaderboard/matrix?m=AP", "leaderboard/matrix.csv?m=AP"),
    ],
)
def test_pages_of_results_are_limited_to_a_task(visit: Visit, judged: str, page: str, file: str) -> None:
    ola = visit("ola")
    assert EVERY_TASK in words(ola.get(f"{judged}/{page}"))
    shown = ola.get(f"{judged}/{page}&task=dense")
    assert "· dense" in words(shown).split("Only the runs of the task “dense” are scored")[0]  # the heading
    assert EVERY_TASK not in words(shown)
    assert "alpha" not in words(shown)
    links = re.findall(r'href="((?!/static)[^"]*(?:leaderboard/|\.csv|significance)[^"]*\?[^"]*)"', shown.text)
    assert links
    assert [link for link in links if "task=dense" not in link.split("?")[1].split("&amp;")] == []
    assert csv_of(ola.get(f"{judged}/{file}&task=dense").text)[0]["qrels"] == "live, task dense"
    assert ola.get(f"{judged}/{page}&task=none").status_code == 404


@pytest.mark.parametrize("page", ["correlation", "quality/leave-out", "report.html", "leaderboard/topic?number=1"])
def test_pages_without_a_task_say_that_there_are_some(visit: Visit, judged: str, page: str) -> None:
    assert EVERY_TASK in words(visit("ola").get(f"{judged}/{page}"))


def release(database: Database, shown: ScoresShown) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + DAY, shown=shown, early=True)


def add_teams(database: Database) -> None:
    """Team red has a run in each task; `dense` also has six runs of three other teams, `lexical` one."""
    with database.transaction() as session:
        run(session, "reds-lexical", {"1": ["b", "a"]}, team="red")
        run(session, "reds-dense", {"2": ["e", "a"]}, team="red")
        run(session, "blues", {"1": ["a"]}, team="blue")
        move_runs(session, "lexical", ["reds-lexical", "blues"])
        others = [f"{team}-{place}" for team in ("blue", "green", "white") for place in (1, 2)]
        for tag in others:
            run(session, tag, {"2": ["a", "e"]}, team=tag.split("-")[0])
        move_runs(session, "dense", ["reds-dense", *others])


@pytest.mark.parametrize("shown", [ScoresShown.OWN, ScoresShown.BESIDE, ScoresShown.WHOLE])
def test_a_team_sees_its_runs_of_one_task_by_default_the_first(
    visit: Visit, judged: str, database: Database, shown: ScoresShown
) -> None:
    add_teams(database)
    release(database, shown)
    pat = visit("pat")
    first, second = pat.get(f"{judged}/scores"), pat.get(f"{judged}/scores?task=dense")
    assert "Only the runs of the task “lexical” are scored, on its topics." in words(first)
    assert "reds-lexical" in words(first)
    assert "reds-dense" not in words(first)
    assert "reds-dense" in words(second)
    assert "reds-lexical" not in words(second)
    assert EVERY_TASK not in words(first) + words(second)
    assert f'href="{judged}/scores?task=dense"' in first.text
    [line] = csv_of(pat.get(f"{judged}/scores.csv").text)
    assert (line["run"], line["AP"], line["qrels"]) == ("reds-lexical", "0.5", "live, task lexical")
    links = re.findall(r'href="([^"]*/scores(?:\.csv)?\?[^"]*)"', second.text)
    assert [link for link in links if "task=" not in link] == []
    for key, sentence in {
        "none": "There is no task “none”. There are: lexical, dense.",
        "dense": None,
    }.items():
        answer = pat.get(f"{judged}/scores?task={key}")
        assert answer.status_code == (404 if sentence else 200)
        assert sentence is None or sentence in words(answer)


def test_a_team_stands_beside_the_runs_of_its_task_alone(visit: Visit, judged: str, database: Database) -> None:
    add_teams(database)
    release(database, ScoresShown.BESIDE)
    pat = visit("pat")
    # There are nine runs, of three other teams, on the whole, and few of them in the task.
    few = words(pat.get(f"{judged}/scores?task=lexical&m=AP"))
    assert "are not shown: with few runs they would reveal the values of another team" in few
    beside = pat.get(f"{judged}/scores?task=dense&m=AP")
    assert "the best of all 9 runs uploaded before the release" in words(beside)
    [line] = csv_of(pat.get(f"{judged}/scores.csv?task=dense&table=topics&m=AP").text)
    assert (line["topic"], line["value"], line["worst"], line["median"], line["best"]) == (
        "2",
        "0.5",
        "0.5",
        "1.0",
        "1.0",
    )
    every = csv_of(pat.get(f"{judged}/scores.csv?task=dense&table=all").text)
    assert {(one["run"], one["topic"]) for one in every} == {("reds-dense", "2")}
    assert "worst" not in csv_of(pat.get(f"{judged}/scores.csv?table=all").text)[0]


def test_a_team_sees_no_task_in_which_it_has_no_run(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"2": ["e", "a"]}, team="red")
        move_runs(session, "dense", ["reds"])
        run(session, "late", {"1": ["a"]}, team="red")
        move_runs(session, "lexical", ["late"])
    release(database, ScoresShown.BESIDE)
    with database.transaction() as session:
        session.connection().exec_driver_sql("UPDATE run SET uploaded_at = '2026-03-05' WHERE tag = 'late'")
    pat = visit("pat")
    page = pat.get(f"{judged}/scores")
    assert "the task “dense”" in words(page)
    refused = pat.get(f"{judged}/scores?task=lexical")
    assert refused.status_code == 404
    assert "Your team has no run with released scores in the task “lexical”." in words(refused)
    assert pat.get(f"{judged}/scores.csv?task=lexical").status_code == 404


def test_runs_without_a_task_are_compared_with_none(visit: Visit, judged: str, database: Database) -> None:
    add_teams(database)
    release(database, ScoresShown.BESIDE)
    with database.transaction() as session:
        session.connection().exec_driver_sql("UPDATE run SET task_id = NULL WHERE tag = 'reds-dense'")
    pat = visit("pat")
    assert "Runs of your team that belong to no task have no scores here: 1." in words(pat.get(f"{judged}/scores"))
    with database.transaction() as session:
        session.connection().exec_driver_sql("UPDATE run SET task_id = NULL WHERE tag = 'reds-lexical'")
    page = words(pat.get(f"{judged}/scores"))
    assert "the runs of your team belong to no task, and runs are compared within a task" in page
    assert "reds-dense" in page
    assert "worst" not in csv_of(pat.get(f"{judged}/scores.csv?table=all").text)[0]


@pytest.mark.parametrize("name", ["pat", "obi"])
def test_the_released_leaderboard_has_a_choice_of_a_task(
    visit: Visit, judged: str, database: Database, name: str
) -> None:
    add_teams(database)
    with database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
    release(database, ScoresShown.WHOLE)
    reader = visit(name)
    whole = reader.get(f"{judged}/leaderboard?m=AP")
    assert EVERY_TASK in words(whole)
    assert '<option value="lexical">' in whole.text
    board = reader.get(f"{judged}/leaderboard?m=AP&task=lexical")
    assert "Only the runs of the task “lexical” are scored" in words(board)
    assert "green" not in words(board)
    assert {line["run"] for line in csv_of(reader.get(f"{judged}/leaderboard.csv?task=lexical").text)} == {
        "alpha",
        "beta",
        "reds-lexical",
        "blues",
    }
    assert reader.get(f"{judged}/leaderboard?task=none").status_code == 404


@pytest.mark.parametrize("shown", [ScoresShown.NOTHING, ScoresShown.OWN, ScoresShown.BESIDE])
def test_a_task_shows_participants_nothing_that_is_not_released(
    visit: Visit, judged: str, database: Database, shown: ScoresShown
) -> None:
    add_teams(database)
    pat = visit("pat")
    assert pat.get(f"{judged}/scores.csv?task=dense").status_code == 403
    release(database, shown)
    for key in ("lexical", "dense", "none"):
        assert pat.get(f"{judged}/leaderboard?task={key}").status_code == 403
        assert pat.get(f"{judged}/leaderboard.csv?task={key}").status_code == 403
    if shown is ScoresShown.NOTHING:
        assert pat.get(f"{judged}/scores.csv?task=dense").status_code == 403
    else:
        assert "blue" not in pat.get(f"{judged}/scores.csv?task=dense").text


def test_a_round_has_the_scores_of_the_first_task_in_which_the_team_took_part(
    visit: Visit, judged: str, database: Database
) -> None:
    with database.transaction() as session:
        run(session, "reds-1", {"1": ["a", "b"]}, team="red")
        move_runs(session, "lexical", ["reds-1"])
        exported = qrels.export_qrels(session, SLUG, made_at=NOW)
        version = qrels_versions.keep_qrels(session, SLUG, exported, made_by_id=None, made_at=NOW)
        rounds.close_round(session, SLUG, version=version, at=NOW)
        rounds.open_round(session, SLUG, at=NOW)
        run(session, "reds-2", {"2": ["e", "a"]}, team="red")
        move_runs(session, "dense", ["reds-2"])
    release(database, ScoresShown.OWN)
    pat = visit("pat")
    assert "reds-1" in words(pat.get(f"{judged}/scores"))
    [line] = csv_of(pat.get(f"{judged}/scores.csv?round=2&residual=n").text)
    assert (line["run"], line["qrels"]) == ("reds-2", "live, task dense, round 2, whole")


def test_own_runs_are_compared_in_the_task_of_the_first(visit: Visit, judged: str, database: Database) -> None:
    add_teams(database)
    with database.transaction() as session:
        run(session, "reds-more", {"2": ["a"]}, team="red")
        move_runs(session, "dense", ["reds-more"])
    release(database, ScoresShown.OWN)
    pat = visit("pat")
    page = pat.get(f"{judged}/scores/pair?first=reds-dense&second=reds-more&m=AP")
    assert "Only the runs of the task “dense” are scored" in words(page)
    assert '<input type="hidden" name="task" value="dense">' in page.text
    assert "reds-lexical" not in words(page)
    assert pat.get(f"{judged}/scores/pair?first=reds-dense&second=reds-lexical").status_code == 404
    choice = pat.get(f"{judged}/scores/pair")  # of the first task, in which the team has one run
    assert "Two runs of your team with released scores are needed" in words(choice)
    assert f'href="{judged}/scores/pair?m=nDCG@10&amp;task=dense"' in choice.text
    assert "reds-more" in words(pat.get(f"{judged}/scores/pair?task=dense"))


def test_the_first_results_are_of_the_first_task_with_two_runs(visit: Visit, judged: str, database: Database) -> None:
    with database.transaction() as session:
        session.connection().exec_driver_sql("UPDATE run SET task_id = NULL WHERE tag = 'alpha'")
    page = visit("ola").get(f"{judged}/start/results")
    assert "Only the runs of the task “dense” are scored, on its topics." in words(page)
    assert "gamma" in words(page)
    assert "beta" not in words(page)
    assert re.search(r'href="[^"]*/leaderboard/pair\?[^"]*task=dense', page.text)


@pytest.mark.parametrize("page", ["costs", "topic-flags?numbers=1"])
def test_other_pages_that_score_all_runs_say_that_there_are_tasks(visit: Visit, judged: str, page: str) -> None:
    assert EVERY_TASK in words(visit("ola").get(f"{judged}/{page}"))
