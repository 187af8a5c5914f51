"""Search on the judging screen: hits are graded in place, kept while offline, undone, and nothing else moves."""

import pytest
from browser.judging_screen import JUDGE, faults, open_screen, press, saved, stored
from build import SLUG
from playwright.sync_api import Page, expect

from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection


@pytest.fixture
def searched(server: str, served: Database) -> str:
    """The server, where judges may search."""
    with served.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=True))
    return server


def search(page: Page, query: str) -> None:
    press(page, "s")
    page.locator("#searching-query").fill(query)
    page.keyboard.press("Enter")
    expect(page.locator("#found > li.at")).to_have_count(1, timeout=10_000)


def test_hits_are_graded_and_undone_in_place(page: Page, searched: str, served: Database) -> None:
    open_screen(page, searched)
    title, position = page.locator("#document-title").inner_text(), page.locator("#position").inner_text()
    search(page, "cats")
    press(page, "j")
    expect(page.locator("#found > li").nth(1)).to_be_focused()
    press(page, "2")
    expect(page.locator("#found > li").nth(1).locator(".own")).to_have_text("you judged it: Highly relevant")
    saved(page)
    [judgement] = stored(served)
    assert judgement.grade == 2
    press(page, "k", "Enter")
    expect(page.locator("#found-body")).to_contain_text("cat")
    press(page, "1")
    press(page, "Escape")
    expect(page.locator("#found > li").nth(0).locator(".own")).to_have_text("you judged it: Relevant")
    press(page, "u")
    expect(page.locator("#found > li").nth(0).locator(".own")).to_have_text("")
    saved(page)
    assert [(one.grade, one.cannot_judge) for one in stored(served)] == [(2, None), (1, None), (None, "withdrawn")]
    press(page, "Escape")
    expect(page.locator("#searching")).to_be_hidden()
    expect(page.locator("#position")).to_have_text(position)
    assert title
    press(page, "s")
    expect(page.locator("#found > li").nth(0)).to_be_focused()
    expect(page.locator("#searching-query")).to_have_value("cats")


def test_a_hit_graded_offline_is_kept_by_the_browser_and_sent_later(
    page: Page, searched: str, served: Database
) -> None:
    open_screen(page, searched)
    search(page, "cats")
    page.context.set_offline(True)
    press(page, "1")
    expect(page.locator("#found > li").nth(0).locator(".own")).to_have_text("you judged it: Relevant")
    assert stored(served) == []
    page.context.set_offline(False)
    page.goto(f"{searched}{JUDGE}/topics/1")
    page.wait_for_selector("html.with-script")
    expect(page.locator("#state")).to_have_text("saved")
    assert [one.grade for one in stored(served)] == [1]
    # The screen undoes it, too.
    press(page, "u")
    expect(page.locator("#toast")).to_contain_text("Undone")
    expect(page.locator("#state")).to_have_text("saved")
    assert [one.cannot_judge for one in stored(served)] == [None, "withdrawn"]


def test_the_search_has_no_fault_in_any_size(screen: Page, searched: str) -> None:
    open_screen(screen, searched)
    search(screen, "cats")
    assert faults(screen) == []
