"""Public pages of a collection with tasks: a leaderboard for each, its texts searched for names, and static files."""

import io
import re
from zipfile import ZipFile

import pytest
from build import SLUG, labels
from kept import Kept
from tasks import add_topics, move_runs, run, task
from visiting import Visit, words
from web.leaderboard.test_public_pages import BOARD, TASK, publish

from annotator.storage import Database
from annotator.workflows.runs.tasks import change_task


@pytest.fixture
def released(visit: Visit, news: str, database: Database, kept: Kept) -> str:
    """Task `sparse` has topic 1 with reds and alpha, `dense` topic 2 with blues, `later` none."""
    kept.fill(database, add_tasks)
    assert visit("ola").post(f"{news}/release", shown="own", early="y").status_code == 303
    return news


def add_tasks(database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        run(session, "blues", {"2": ["a", "e"]}, team="blue")
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n2 0 e 1\n2 0 a 0\n")
        task(session, "sparse", ["1"], title="Sparse retrieval", runs=["reds", "alpha"])
        task(session, "dense", ["2"], title="Dense retrieval", runs=["blues"])
        task(session, "later", ["2"], title="To come")


def shown_runs(page: str) -> list[str]:
    return re.findall(r'<th scope="row">([^<]*)</th>', page)


def test_each_task_has_its_leaderboard(visit: Visit, released: str) -> None:
    publish(visit, released)
    guest = visit(None)
    page = guest.get(TASK)
    assert "Sparse retrieval Topics: 1. Runs: 2. Leaderboard of Sparse retrieval" in words(page)
    assert "To come Topics: 1." in words(page)
    assert "Leaderboard of To come" not in words(page)
    assert f'href="{BOARD}?task=dense"' in page.text
    first, second = guest.get(BOARD), guest.get(f"{BOARD}?task=dense")
    assert shown_runs(first.text) == ["alpha", "reds"]
    assert shown_runs(second.text) == ["blues"]
    assert "Leaderboard: Dense retrieval" in words(second)
    assert "Only the runs of the task “dense” are scored, on its topics." in words(second)
    links = re.findall(rf'href="({BOARD}\?[^"]*sort=[^"]*)"', second.text)
    assert links
    assert [link for link in links if "task=dense" not in link] == []
    assert guest.get(f"{BOARD}?task=later").status_code == 404
    assert guest.get(f"{BOARD}?task=none").status_code == 404
    assert shown_runs(guest.get(f"{BOARD}?task=dense&sort=run&language=ko").text) == ["blues"]


def test_relative_to_the_median_of_the_task(visit: Visit, released: str) -> None:
    publish(visit, released, "relative")
    assert "at the median" in words(visit(None).get(f"{BOARD}?task=dense"))


def test_the_task_page_without_scores_describes_the_tasks(visit: Visit, released: str) -> None:
    publish(visit, released, "task")
    page = words(visit(None).get(TASK))
    assert "Sparse retrieval Topics: 1." in page
    assert "Runs:" not in page


def test_a_change_of_a_task_changes_its_page(visit: Visit, released: str, database: Database) -> None:
    publish(visit, released)
    guest = visit(None)
    before = guest.get(BOARD).text
    with database.transaction() as session:
        add_topics(session, "sparse", ["2"])
    changed = guest.get(BOARD).text
    assert changed != before
    with database.transaction() as session:
        move_runs(session, "later", ["reds"])
    assert shown_runs(guest.get(BOARD).text) == ["alpha"]
    assert shown_runs(guest.get(f"{BOARD}?task=later").text) == ["reds"]


def test_texts_of_tasks_name_no_team_on_veiled_pages(visit: Visit, released: str, database: Database) -> None:
    publish(visit, released, veiled="y")
    assert "blues" not in visit(None).get(f"{BOARD}?task=dense").text
    with database.transaction() as session:
        change_task(session, SLUG, "later", {"description": "As reds found", "title": "Later"})
    page = words(visit(None).get(TASK))
    assert "Later Topics: 1." in page
    assert "found" not in page
    refused = visit("ola").post(f"{released}/release/public", scores="everything", veiled="y")
    assert refused.status_code == 422
    assert "task later" in words(refused)
    publish(visit, released, veiled="y", allowed="reds")
    assert "As reds found" in words(visit(None).get(TASK))


def test_a_run_with_a_word_of_keys_and_titles_as_its_name_ends_no_page(
    visit: Visit, released: str, database: Database
) -> None:
    publish(visit, released, veiled="y")
    with database.transaction() as session:
        run(session, "dense", {"1": ["a"]}, team="red")
        run(session, "Retrieval", {"1": ["a"]}, team="red")
        change_task(session, SLUG, "dense", {"description": "Dense vectors."})
    assert "Sparse retrieval Topics: 1." in words(visit(None).get(TASK))
    assert "Dense vectors." in words(visit(None).get(TASK))
    assert visit(None).get(f"{BOARD}?task=dense").status_code == 200
    publish(visit, released, veiled="y")


def test_static_files_have_a_page_for_each_task(visit: Visit, released: str) -> None:
    publish(visit, released)
    with ZipFile(io.BytesIO(visit("ola").get(f"{released}/release/pages.zip").data)) as archive:
        files = {name.removeprefix(f"{SLUG}-pages/"): archive.read(name).decode() for name in archive.namelist()}
    assert {name for name in files if ".ko." not in name} == {
        "index.html",
        *(f"leaderboard{task_}{order}.html" for task_ in ("", "-task2") for order in ("", "-2", "-3")),
    }
    assert shown_runs(files["leaderboard-task2.html"]) == ["blues"]
    assert shown_runs(files["leaderboard-3.html"]) == ["alpha", "reds"]
    for name, page in files.items():
        links = re.findall(r'href="([^"#:]+\.html)"', page)
        assert set(links) <= files.keys(), name
    assert 'href="leaderboard-task2.html"' in files["index.html"]
    assert 'href="leaderboard-task2-2.html"' in files["leaderboard-task2-3.html"]
