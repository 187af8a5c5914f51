"""Public pages: for everybody while they are public, for nobody otherwise, and computed once for all readers."""

import io
import re
from zipfile import ZipFile

import pytest
from build import NOW, SLUG, labels, run
from flask import Flask
from kept import Kept
from sqlalchemy.orm import Session
from visiting import Visit, words

from annotator.evaluation.publishing.public_board import PublicTask
from annotator.storage import Database, DeletedKind
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.checking import examine
from annotator.storage.tables.collections import Door
from annotator.web.leaderboard import public_memory
from annotator.workflows.collections import deletions
from annotator.workflows.collections.rounds import open_round
from annotator.workflows.leaderboard import public_scores
from annotator.workflows.runs.runs import withdraw_run

OLA = Actor(Door.COMMAND, "ola")
TASK, BOARD = f"/tasks/{SLUG}", f"/tasks/{SLUG}/leaderboard"


@pytest.fixture
def released(visit: Visit, news: str, database: Database, kept: Kept) -> str:
    """Two runs whose scores are released by a kept version of the qrels."""
    kept.fill(database, add_grades)
    assert visit("ola").post(f"{news}/release", shown="own", early="y").status_code == 303
    return news


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        run(session, "blues", {"1": ["a", "b"]}, team="blue")
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")


def publish(visit: Visit, news: str, scores: str = "everything", **fields: object) -> None:
    answer = visit("ola").post(f"{news}/release/public", scores=scores, measures="P@1, AP", **fields)
    assert answer.status_code == 303, words(answer)


def test_everybody_reads_what_is_public_without_a_cookie(visit: Visit, released: str) -> None:
    publish(visit, released, veiled="y", description="Find <b>news</b>.")
    for path in (TASK, BOARD):
        answer = visit(None).get(path)
        assert answer.status_code == 200
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Cache-Control"] == "public, no-cache"
    page = visit(None).get(TASK).text
    assert "Find &lt;b&gt;news&lt;/b&gt;." in page
    board = visit(None).get(BOARD).text
    assert "blues" not in board
    assert re.findall(r'<td class="number">([\d.]+)</td>', board)[:3] == ["1", "1.0000", "1.0000"]
    assert "ola" not in page + board


def test_names_and_other_orders(visit: Visit, released: str) -> None:
    publish(visit, released, veiled="y")
    assert "blues" not in visit(None).get(f"{BOARD}?sort=run").text
    assert visit("ola").post(f"{released}/release/public", scores="everything", measures="P@1").status_code == 303
    assert "blues" in visit(None).get(f"{BOARD}?sort=run").text
    assert visit(None).get(f"{BOARD}?sort=AP").status_code == 404


def test_relative_pages_have_no_score(visit: Visit, released: str) -> None:
    publish(visit, released, "relative")
    board = visit(None).get(BOARD)
    assert "above" in words(board)
    assert not re.search(r"\d\.\d{4}", board.text)
    assert "Rank" not in words(board)


def test_a_reader_who_has_the_page_gets_it_again_only_when_it_changed(
    visit: Visit, released: str, database: Database
) -> None:
    publish(visit, released)
    tag = visit(None).get(BOARD).headers["ETag"]
    assert visit(None).get(BOARD, headers={"If-None-Match": tag}).status_code == 304
    with database.transaction() as session:
        labels(session, "kim", "1 0 b 1\n")
    assert visit(None).get(BOARD, headers={"If-None-Match": tag}).status_code == 304
    withdraw(database, "reds")
    assert visit(None).get(BOARD, headers={"If-None-Match": tag}).status_code == 200


def withdraw(database: Database, tag: str) -> None:
    with database.transaction() as session:
        withdraw_run(session, SLUG, tag, at=NOW)


def test_judging_computes_no_score_again(
    visit: Visit, released: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(visit, released)
    computed = []

    def compute(session: Session, state: public_scores.PublicState) -> PublicTask:
        computed.append(state.slug)
        return public_scores.public_task(session, state)

    monkeypatch.setattr(public_memory, "public_task", compute)
    for number in range(3):
        with database.transaction() as session:
            labels(session, f"judge{number}", "1 0 b 1\n")
        assert visit(None).get(BOARD).status_code == 200
        assert visit(None).get(f"{BOARD}?sort=AP&language=ko").status_code == 200
    assert computed == [SLUG]


def test_one_reader_computes_and_others_come_again(visit: Visit, released: str, app: Flask) -> None:
    publish(visit, released)
    with app.test_request_context(), public_memory.public_memory().computing:
        busy = visit(None).get(BOARD)
    assert busy.status_code == 503
    assert busy.headers["Retry-After"] == "5"
    assert "Set-Cookie" not in busy.headers
    assert visit(None).get(BOARD).status_code == 200


@pytest.mark.parametrize("end", ["nothing", "withheld", "deleted"])
def test_what_is_not_public_any_more_is_not_found_at_once(
    visit: Visit, released: str, database: Database, end: str
) -> None:
    publish(visit, released)
    assert visit(None).get(BOARD).status_code == 200
    if end == "nothing":
        publish(visit, released, "nothing")
    elif end == "withheld":
        assert visit("ola").post(f"{released}/release/take-back").status_code == 303
    else:
        with database.transaction() as session:
            deletions.delete_it(session, SLUG, DeletedKind.COLLECTION, [], typed=SLUG, actor=OLA, at=NOW)
    for path in (TASK, BOARD):
        answer = visit(None).get(path)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (404, False)
        assert "not public" in words(answer)
    assert visit(None).get("/tasks/other").text == visit(None).get(TASK).text


def test_a_language_that_was_chosen_stays_chosen(visit: Visit, released: str) -> None:
    publish(visit, released)
    page = visit(None).get(f"{TASK}?language=ko").text
    assert '<html lang="ko">' in page
    assert f'href="{BOARD}?language=ko"' in page
    assert '<html lang="en">' in visit(None).get(f"{TASK}?language=xx").text


def test_the_export_has_every_page_and_links_to_no_other(visit: Visit, released: str) -> None:
    publish(visit, released)
    content = visit("ola").get(f"{released}/release/pages.zip").data
    with ZipFile(io.BytesIO(content)) as archive:
        pages = {name.removeprefix(f"{SLUG}-pages/"): archive.read(name).decode() for name in archive.namelist()}
    assert set(pages) == {
        f"{name}{language}.html"
        for name in ("index", "leaderboard", "leaderboard-2", "leaderboard-3")
        for language in ("", ".ko")
    }
    for page in pages.values():
        links = set(re.findall(r'(?:href|src)="([^"#]+)"', page)) - {"data:,"}
        assert links <= set(pages)
        assert "<style>" in page
        assert "<script" not in page


def test_a_refused_change_keeps_what_was_entered(visit: Visit, news: str) -> None:
    answer = visit("ola").post(f"{news}/release/public", scores="everything", description="My task")
    assert answer.status_code == 409
    assert "No scores are released yet" in words(answer)
    assert "My task" in answer.text
    assert visit("ola").post(f"{news}/release/public", scores="all").status_code == 422


def test_teams_are_named_only_where_there_are_some(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        run(session, "plain", {"1": ["a", "b"]})
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
    assert visit("ola").post(f"{news}/release", shown="own", early="y").status_code == 303
    publish(visit, news)
    assert ">Teams<" not in visit(None).get(TASK).text
    assert ">Team<" not in visit(None).get(BOARD).text
    with database.transaction() as session:
        run(session, "reds", {"1": ["b"]}, team="red")
    assert ">Team<" in visit(None).get(BOARD).text


def test_a_round_that_is_begun_is_on_the_page_at_once(visit: Visit, released: str, database: Database) -> None:
    publish(visit, released)
    before = visit(None).get(BOARD)
    with database.transaction() as session:
        open_round(session, SLUG, at=NOW)
    after = visit(None).get(BOARD)
    assert after.headers["ETag"] != before.headers["ETag"]
    assert len(re.findall("<li>", after.text)) > len(re.findall("<li>", before.text))


def test_the_task_has_a_page_before_the_release(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/release/public", scores="task", description="Find news.").status_code == 303
    assert f'href="{TASK}"' in ola.get(f"{news}/release").text
    page = visit(None).get(TASK)
    assert "Find news." in page.text
    assert "Leaderboard" not in words(page)
    assert visit(None).get(BOARD).status_code == 404
    assert (f"{TASK}/registration" in page.text, "Register a team" in words(page)) == (False, False)
    assert ola.post(f"{news}/registration", until="2100-01-01 00:00", most_teams="5").status_code == 303
    assert f'href="{TASK}/registration"' in visit(None).get(TASK).text
    assert examine(database).wrong == []


def test_the_page_of_the_task_is_a_file_in_each_language(visit: Visit, news: str) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/release/public", scores="task").status_code == 303
    assert ola.post(f"{news}/registration", until="2100-01-01 00:00", most_teams="5").status_code == 303
    with ZipFile(io.BytesIO(ola.get(f"{news}/release/pages.zip").data)) as archive:
        files = {name.split("/")[-1]: archive.read(name).decode() for name in archive.namelist()}
    assert sorted(files) == ["index.html", "index.ko.html"]
    # Files are linked only to each other, so that registration has its date and no link.
    assert "Registration until" in files["index.html"]
    assert "/registration" not in files["index.html"]
