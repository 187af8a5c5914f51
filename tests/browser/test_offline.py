"""A topic taken along is judged without the server, also in a browser that was closed, and stored once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import BROWSER_ARGUMENTS
from browser.faults.judge_tab import IS_KEPT
from browser.judging_screen import JUDGE, TOPIC, judge, listening, open_screen, press, saved, stored, title
from browser.pages import PATIENCE, eventually, sign_in
from browser.test_every_page import AXE, faults_of
from build import SECRET_KEY, SLUG
from faults.mortal_server import MortalServer
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database

COUNT_KEPT = """async () => {
  let count = 0
  for (const name of await caches.keys()) count += (await (await caches.open(name)).keys()).length
  return count
}"""


@pytest.fixture
def mortal(server: str, served_file: Path, tmp_path: Path) -> Iterator[MortalServer]:  # noqa: ARG001 - fills the file
    """A server of the collection that the test may end."""
    mortal = MortalServer(
        Settings(secret_key=SECRET_KEY, database_url=sqlite_url(served_file)), tmp_path / "log", workers=1
    )
    mortal.start()
    yield mortal
    mortal.kill()


def opened(playwright: Playwright, chromium: str, profile: Path) -> BrowserContext:
    """The browser with what it had stored."""
    context = playwright.chromium.launch_persistent_context(
        profile, executable_path=chromium, args=BROWSER_ARGUMENTS, locale="en"
    )
    context.set_default_timeout(PATIENCE)
    return context


def take_along(page: Page) -> None:
    press(page, "p")
    page.get_by_role("button", name="Take this topic along").click()
    expect(page.locator("#taking-state")).to_contain_text("10 documents are in this browser")
    page.keyboard.press("Escape")


def test_judged_offline_closed_and_opened_offline_all_is_stored_once(
    playwright: Playwright, chromium: str, mortal: MortalServer, served: Database, tmp_path: Path
) -> None:
    context = opened(playwright, chromium, tmp_path / "profile")
    page = context.pages[0]
    open_screen(page, mortal.address)
    judge(page, "0")
    saved(page)
    press(page, "p")
    page.get_by_role("button", name="Take this topic along").click()
    expect(page.locator("#taking-state")).to_contain_text("9 documents are in this browser, held for you until")
    page.evaluate(AXE)
    assert faults_of(page, "taking along") == []
    page.keyboard.press("Escape")
    mortal.kill()
    judge(page, "12")
    expect(page.locator("#state")).to_have_text("2 unsent")
    page.wait_for_function(IS_KEPT, arg=2)
    context.close()

    context = opened(playwright, chromium, tmp_path / "profile")
    page = context.pages[0]
    page.goto(f"{mortal.address}{TOPIC}")
    listening(page)
    expect(page.locator("#position")).to_have_text("4 of 10")
    titles = []
    for grade in "0120120":
        expect(page.locator("#document")).to_be_visible()
        titles.append(title(page))
        press(page, grade)
    assert len(set(titles)) == 7
    expect(page.get_by_text("All loaded documents are judged.")).to_be_visible()
    expect(page.locator("#state")).to_have_text("9 unsent")
    mortal.start()
    # The session outlives the browser.
    other = context.new_page()
    other.goto(f"{mortal.address}{JUDGE}")
    eventually(other, lambda: len(stored(served)) == 10)
    saved(page)
    assert sorted(one.grade or 0 for one in stored(served)) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert len({one.pool_item_id for one in stored(served)}) == 10
    context.close()


def test_after_signing_out_nothing_of_the_judge_opens_and_the_documents_are_back(
    playwright: Playwright, chromium: str, mortal: MortalServer, tmp_path: Path
) -> None:
    context = opened(playwright, chromium, tmp_path / "profile")
    page = context.pages[0]
    open_screen(page, mortal.address)
    take_along(page)
    assert page.evaluate(COUNT_KEPT) > 10
    page.reload()
    listening(page)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    eventually(page, lambda: page.evaluate(COUNT_KEPT) == 0)
    mortal.kill()
    with pytest.raises(Exception, match=r"ERR_CONNECTION_(REFUSED|RESET)"):
        page.goto(f"{mortal.address}{TOPIC}")
    context.close()


def test_what_is_taken_along_is_shown_to_judge_and_organiser_and_given_back(
    browser: Browser, page: Page, server: str
) -> None:
    open_screen(page, server)
    take_along(page)
    page.goto(f"{server}{JUDGE}")
    expect(page.get_by_text("Topic 1: 10 documents until")).to_be_visible()
    other = browser.new_context(locale="en").new_page()
    sign_in(other, server, "ola", f"/collections/{SLUG}/assigning")
    row = other.get_by_role("table", name="Documents held for a day").get_by_role("row", name="jo")
    expect(row).to_contain_text("10")
    other.context.close()
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("Documents back in the queue: 10.")).to_be_visible()
    page.goto(f"{server}{TOPIC}")
    listening(page)
    expect(page.locator("#taking-open")).to_have_text("p Offline")
    take_along(page)
    press(page, "p")
    page.get_by_role("button", name="Give back").click()
    expect(page.locator("#taking-state")).to_have_text("The documents are back in the queue.")
