"""Trying a draft in a real browser: single keys, nothing reloaded, nothing lost; and without script."""

from browser.pages import sign_in
from build import PASSWORD, SLUG
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from annotator.storage import Database, Document, QuickLook

DRAFT = f"/collections/{SLUG}/topics/D1"


def stored(database: Database) -> dict[str, bool]:
    """What was said, by docno."""
    with database.reading() as session:
        rows = session.execute(
            select(Document.docno, QuickLook.looks_relevant).join(Document, Document.id == QuickLook.document_id)
        )
        return {docno: looks for docno, looks in rows}


def press(page: Page, *keys: str) -> None:
    """Press keys once the page listens to them."""
    page.wait_for_selector("html.with-script")
    for key in keys:
        page.keyboard.press(key)


def test_a_draft_is_looked_at_by_single_keys_without_reloading(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "ola", DRAFT)
    page.get_by_role("button", name="Look at them").click()
    expect(page.locator(".look")).to_have_count(12)
    page.evaluate("window.stayed = true")
    press(page, *"1011010110")
    expect(page.locator("#tallies")).to_contain_text("6 of 10 look relevant")
    expect(page.locator("#tallies")).to_contain_text("Promising")
    expect(page.locator(".look").nth(10)).to_be_focused()
    # Back to the one before, which takes another word.
    press(page, "k", "1")
    expect(page.locator("#tallies")).to_contain_text("7 of 10 look relevant")
    assert page.evaluate("window.stayed")
    page.reload()
    assert page.locator(".look button[value=yes][aria-pressed=true]").count() == 7
    assert [docno for docno, looks in sorted(stored(served).items()) if not looks] == ["d01", "d04", "d06"]


def test_a_mouse_does_the_same_and_goes_on_where_it_was(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "ola", f"{DRAFT}?run=base")
    page.wait_for_selector("html.with-script")
    page.locator("#look-5").get_by_role("button", name="Does not").click()
    expect(page.locator("#look-6")).to_be_focused()
    expect(page.locator("#tallies")).to_contain_text("0 of 1 look relevant")
    assert stored(served) == {"d04": False}


def test_a_look_after_the_session_has_ended_asks_to_sign_in_and_comes_back(
    page: Page, server: str, served: Database
) -> None:
    sign_in(page, server, "ola", f"{DRAFT}?run=base")
    page.wait_for_selector("html.with-script")
    page.context.clear_cookies()
    press(page, "1")
    page.get_by_text("Not saved.").or_(page.get_by_label("Password")).first.wait_for()
    assert stored(served) == {}
    page.goto(f"{server}/sign-in?next={DRAFT}%3Frun%3Dbase")
    page.get_by_label("Name").fill("ola")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    press(page, "1")
    expect(page.locator("#tallies")).to_contain_text("1 of 1 look relevant")


def test_what_does_not_arrive_is_said(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "ola", f"{DRAFT}?run=base")
    page.wait_for_selector("html.with-script")
    expect(page.get_by_text("Not saved.")).to_be_hidden()
    page.route("**/topic/look", lambda route: route.abort())
    press(page, "1")
    expect(page.get_by_text("Not saved.")).to_be_visible()
    expect(page.locator("#look-1")).to_be_focused()
    expect(page.locator(".look.done")).to_have_count(0)
    assert stored(served) == {}


def test_a_draft_is_tried_without_script(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server, "ola", f"{DRAFT}?run=base")
    page.locator("#look-1").get_by_role("button", name="Looks relevant").click()
    page.wait_for_url(f"**{DRAFT}?run=base#look-2")
    expect(page.get_by_text("1 of 1 look relevant")).to_be_visible()
    assert stored(served) == {"d00": True}
    context.close()
