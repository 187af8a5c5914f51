"""Clarifications on the judging screen: announced once, seen on every device, and never under a key press."""

from browser.judging_screen import faults, judge, open_screen, press, saved
from build import NOW, SLUG
from playwright.sync_api import Browser, Page, expect

from annotator.storage import Database
from annotator.workflows.judging import clarifications


def clarify(database: Database, text: str) -> None:
    with database.transaction() as session:
        clarifications.clarify(session, SLUG, "1", text, published_by_id=None, published_at=NOW)


def test_a_clarification_comes_with_the_next_document_and_is_seen_once(
    page: Page, browser: Browser, server: str, served: Database
) -> None:
    open_screen(page, server)
    clarify(served, "Kittens count as cats.")
    expect(page.locator("#clarifications")).to_be_hidden()
    with page.expect_response("**/clarifications.json"):
        judge(page, "1")
    # Not while the judge reads: with the next document.
    expect(page.locator("#news")).to_be_hidden()
    saved(page)
    judge(page, "1")
    expect(page.locator("#news")).to_contain_text("Kittens count as cats.")
    expect(page.locator("#news-live")).to_have_text("New from the organisers: Kittens count as cats.")
    expect(page.locator("#clarifications-count")).to_have_text("1")
    with page.expect_response("**/clarifications"):
        page.get_by_role("button", name="Seen").click()
    expect(page.locator("#news")).to_be_hidden()
    other = browser.new_page()
    open_screen(other, server)
    expect(other.locator("#news")).to_be_hidden()
    press(other, "i")
    expect(other.locator("#clarifications-list")).to_be_visible()
    press(other, "i")
    expect(other.locator("#clarifications-list")).to_be_hidden()
    other.close()


def test_the_list_beside_the_topic_counts_as_seen(page: Page, server: str, served: Database) -> None:
    clarify(served, "Lions count.")
    open_screen(page, server)
    expect(page.locator("#news")).to_contain_text("Lions count.")
    with page.expect_response("**/clarifications"):
        press(page, "i")
    expect(page.locator("#news")).to_be_hidden()
    page.reload()
    page.wait_for_selector("html.with-script")
    expect(page.locator("#news")).to_be_hidden()


def test_a_new_clarification_has_no_fault_in_any_size(screen: Page, server: str, served: Database) -> None:
    clarify(served, "Lions count. " * 60)
    open_screen(screen, server)
    expect(screen.locator("#news")).to_be_visible()
    assert faults(screen) == []
