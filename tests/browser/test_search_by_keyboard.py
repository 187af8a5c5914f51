"""Searching with the keyboard alone: an organiser adds what they find, a judge judges it."""

import re

from browser.pages import sign_in
from build import SLUG
from playwright.sync_api import Page, expect

from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.pools import pools

SEARCH = f"/collections/{SLUG}/search"


def test_an_organiser_ticks_and_adds_documents(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "ola", f"{SEARCH}?topic=2")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("cats second")
    page.keyboard.press("Enter")
    page.get_by_text("Documents found: 12").wait_for()
    page.locator("html.with-script").wait_for()
    for key in ("j", "j", "x", "k", "x"):
        page.keyboard.press(key)
    assert [box.is_checked() for box in page.get_by_role("checkbox").all()][:3] == [True, True, False]
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.get_by_role("button", name="Add what is ticked").press("Enter")
    page.get_by_text("Documents added to the pool of topic 2: 2; in it already: 0.").wait_for()
    with served.reading() as session:
        assert sum(number == "2" for number, _ in pools.pooled_docnos(session, SLUG)) == 4


def test_a_judge_judges_what_they_found(page: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=True))
    sign_in(page, server, "jo")
    page.goto(f"{server}{SEARCH}?topic=2&q=cats")
    page.locator("html.with-script").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/judge/assignments/"))
    page.locator("html.with-script").wait_for()
    page.reload()  # the address still says where to go back to
    page.locator("html.with-script").wait_for()
    page.keyboard.press("2")
    page.wait_for_url(lambda url: url == f"{server}{SEARCH}?topic=2&q=cats")
    page.get_by_text("you judged it: Highly relevant").wait_for()
