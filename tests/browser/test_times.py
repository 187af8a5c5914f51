"""Times in the reader's own time zone and language, in UTC where they are taken away or without a script."""

from pathlib import Path

from browser.pages import sign_in
from build import SLUG
from playwright.sync_api import Browser, expect

RUNS = f"/collections/{SLUG}/runs"


def test_times_are_shown_in_the_zone_of_the_reader_and_taken_away_in_utc(browser: Browser, server: str) -> None:
    context = browser.new_context(locale="en", timezone_id="Asia/Seoul")
    page = context.new_page()
    sign_in(page, server, "ola", RUNS)
    time = page.locator("td time").first
    expect(time).to_have_text("Mar 1, 2026, 18:00")
    expect(time).to_have_attribute("title", "2026-03-01 09:00 UTC")
    page.evaluate("document.querySelector('.table-bar').hidden = false")  # which a short table does not have
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert "2026-03-01T09:00:00+00:00" in Path(download.value.path()).read_text()
    context.close()


def test_times_follow_the_language_of_the_page(browser: Browser, server: str) -> None:
    context = browser.new_context(locale="en", timezone_id="Asia/Seoul")
    page = context.new_page()
    sign_in(page, server, "ola", RUNS)
    page.get_by_role("button", name="한국어").click()
    expect(page.locator("td time").first).to_have_text("2026. 3. 1. 18:00")
    context.close()


def test_times_are_in_utc_without_a_script(browser: Browser, server: str) -> None:
    context = browser.new_context(locale="en", timezone_id="Asia/Seoul", java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server, "ola", RUNS)
    expect(page.locator("td time").first).to_have_text("2026-03-01 09:00 UTC")
    context.close()
