"""Clarifications on the judging screen: announced once, seen on every device, and never under a key press."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.judging_screen import judge, open_screen, press, saved
from build import NOW, SLUG
from playwright.sync_api import Browser, Page, ViewportSize, expect

from annotator.storage import Database
from annotator.workflows.judging import clarifications

SIZES: list[tuple[str, ViewportSize]] = [
    ("light", {"width": 1280, "height": 800}),
    ("dark", {"width": 390, "height": 844}),
    ("light", {"width": 320, "height": 256}),
]


@pytest.fixture(params=SIZES, ids=["desk", "dark-phone", "tiny"])
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    scheme, size = request.param
    context = browser.new_context(color_scheme=scheme, viewport=size, locale="en", reduced_motion="reduce")
    yield context.new_page()
    context.close()


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
    violations = Axe().run(screen).response["violations"]
    assert [f"{one['id']}: {node['html']}" for one in violations for node in one["nodes"]] == []
    width, room = screen.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width <= room
