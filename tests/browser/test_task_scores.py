"""The choice of a task in a real browser: applied at once, kept by links, accessible in every window."""

import re
from datetime import timedelta

import pytest
from browser.pages import sign_in
from browser.test_every_page import audit
from build import NOW, SLUG
from playwright.sync_api import Page, expect
from tasks import task

from annotator.storage import Database, PublicScores
from annotator.workflows.leaderboard.public_scores import PublicChange, change_public
from annotator.workflows.runs import submissions

NEWS = f"/collections/{SLUG}"
ORGANISERS = (
    "/leaderboard",
    "/leaderboard?task=dense",
    "/leaderboard/run?tag=alpha&task=dense",
    "/leaderboard/topics?task=dense",
    "/leaderboard/pair?task=dense",
    "/significance?task=dense",
    "/quality?task=dense&fewer=1",
    "/quality/leave-out?task=dense",
    "/estimates?task=dense",
    "/correlation?task=dense",
    "/report?task=dense",
    "/pool/teams?task=dense",
    "/pool/holes?task=dense",
    "/agreement/machines?task=dense",
    "/agreement/effect?task=dense",
)


@pytest.fixture
def tasks(server: str, served: Database) -> str:
    """Task `dense` has topic 1, with alpha; `lexical` every topic, with beta."""
    with served.transaction() as session:
        task(session, "dense", ["1"], title="Dense retrieval of passages", runs=["alpha"])
        task(session, "lexical", title="Lexical retrieval", runs=["beta"])
    return server


def test_a_task_is_chosen_by_keyboard_and_kept_by_links(page: Page, tasks: str) -> None:
    sign_in(page, tasks, "ola", f"{NEWS}/leaderboard")
    choice = page.get_by_role("combobox", name="Task")
    choice.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_url(re.compile("task=dense"))
    expect(page.get_by_text("Only the runs of the task “dense” are scored, on its topics.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("dense")
    page.get_by_role("link", name="alpha").click()
    page.wait_for_url(re.compile("run.*task=dense"))


def test_pages_of_a_task_are_accessible_and_narrow_enough(page: Page, tasks: str) -> None:
    sign_in(page, tasks, "ola")
    assert [fault for path in ORGANISERS for fault in audit(page, tasks, f"{NEWS}{path}")] == []
    page.context.clear_cookies()
    sign_in(page, tasks, "pat")
    participants = ("/scores", "/scores?task=dense", "/leaderboard?task=lexical")
    assert [fault for path in participants for fault in audit(page, tasks, f"{NEWS}{path}")] == []


def test_public_pages_of_tasks_are_accessible_and_narrow_enough(page: Page, tasks: str, served: Database) -> None:
    with served.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), qrels="1", early=True)
        change_public(session, SLUG, PublicChange(scores=PublicScores.EVERYTHING))
    for path in (f"/tasks/{SLUG}", f"/tasks/{SLUG}/leaderboard", f"/tasks/{SLUG}/leaderboard?task=lexical"):
        assert audit(page, tasks, path) == []
    page.goto(f"{tasks}/tasks/{SLUG}/leaderboard")
    page.get_by_role("navigation", name="Tasks").get_by_role("link", name="Lexical retrieval").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaderboard: Lexical retrieval")
