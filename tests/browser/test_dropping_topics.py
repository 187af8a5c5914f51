"""Dropping flagged topics: what is ticked when the button is pressed is dropped, and nothing else."""

import pytest
from browser.pages import sign_in
from build import PASSWORD, SLUG, labels
from playwright.sync_api import Browser, Page, expect

from annotator.storage import Database, TopicState
from annotator.workflows.topics import topics

FLAGS = f"/collections/{SLUG}/topic-flags"
TOPICS = {"1": [f"d{index:02}" for index in range(10)], "2": ["d10", "notext"]}


@pytest.fixture
def flagged(served: Database) -> Database:
    """Both topics are judged, and nothing is relevant."""
    nothing = "".join(f"{number} 0 {docno} 0\n" for number, docnos in TOPICS.items() for docno in docnos)
    with served.transaction() as session:
        for judge in ("strict", "generous"):
            labels(session, judge, nothing, name=f"nothing-{judge}.txt")
    return served


def states(database: Database) -> dict[str, TopicState]:
    with database.reading() as session:
        return {row.number: TopicState(row.state) for row in topics.list_topics(session, SLUG)}


def drop_the_second(page: Page) -> None:
    """Untick the first of two, and press the button without asking for anything before."""
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.get_by_role("checkbox", name="Topic 1").uncheck()
    page.get_by_label("Reason").fill("Hardly anything.")
    page.get_by_role("button", name="Drop the ticked topics").click()
    page.get_by_text("Topics dropped: 1.").wait_for()
    assert "?" not in page.url


def test_an_unticked_topic_stays(page: Page, server: str, flagged: Database) -> None:
    sign_in(page, server, "ola", FLAGS)
    drop_the_second(page)
    assert (states(flagged)["1"], states(flagged)["2"]) == (TopicState.ACCEPTED, TopicState.DROPPED)


def test_it_stays_without_script_too_and_after_a_look_at_the_effect(
    browser: Browser, server: str, flagged: Database
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/sign-in?next={FLAGS}")
        page.get_by_label("Name").fill("ola")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Show the leaderboard without").click()
        assert "csrf_token" not in page.url
        drop_the_second(page)
    assert (states(flagged)["1"], states(flagged)["2"]) == (TopicState.ACCEPTED, TopicState.DROPPED)
