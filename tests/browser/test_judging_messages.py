"""What the judging screen says: to somebody who looks, to a screen reader, and to a judge with two devices."""

from datetime import UTC, datetime

from browser.judging_screen import listening, open_screen, press, saved, stored, title
from build import SLUG
from playwright.sync_api import Browser, Page, Route, expect
from sqlalchemy import select

from annotator.storage import Database, User
from annotator.workflows.collections import collection


def test_a_document_judged_on_another_device_leaves_this_one(
    page: Page, browser: Browser, server: str, served: Database
) -> None:
    open_screen(page, server)
    phone = browser.new_context(locale="en").new_page()
    open_screen(phone, server)
    first = title(page)
    assert title(phone) == first
    press(page, "1", "1", "1")
    saved(page)
    fourth = title(page)
    # Whoever takes up the phone again sees what is left.
    phone.evaluate(
        "() => { const now = Date.now; Date.now = () => now() + 60_000; dispatchEvent(new Event('focus')); }"
    )
    expect(phone.locator("#document-title")).to_have_text(fourth)
    press(page, "2")
    saved(page)
    fifth = title(page)
    assert title(phone) == fourth
    press(phone, "0")
    saved(phone)
    press(page, "2")
    saved(page)
    # Without looking away from the phone it is the next answer that tells.
    press(phone, "0")
    saved(phone)
    assert title(phone) not in {first, fourth, fifth}
    phone.context.close()
    assert len({one.pool_item_id for one in stored(served)}) == 5


def test_the_screen_says_that_the_collection_is_closed(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    with served.transaction() as session:
        collection.close_collection(session, SLUG)
    press(page, "1")
    expect(page.get_by_role("alert").filter(has_text="closed")).to_be_visible()


def test_a_judge_tries_at_once_whether_the_server_answers(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)

    def fail(route: Route) -> None:
        route.abort()

    page.route("**/acts", fail)
    press(page, "1")
    expect(page.get_by_text("The server does not answer.")).to_be_visible()
    page.unroute("**/acts", fail)
    page.get_by_role("button", name="Try now").click()
    saved(page)
    expect(page.get_by_text("The server does not answer.")).to_be_hidden()
    assert [one.grade for one in stored(served)] == [1]


def test_a_short_message_covers_neither_the_document_nor_the_grades(page: Page, server: str) -> None:
    open_screen(page, server)
    press(page, "u")
    toast = page.locator("#toast")
    expect(toast).to_contain_text("left to undo")
    message, bar, grades = (page.locator(one).bounding_box() for one in ("#toast", ".grading", ".grades"))
    assert message is not None
    assert bar is not None
    assert grades is not None
    assert bar["y"] <= message["y"]
    assert message["y"] + message["height"] <= grades["y"]


def test_a_screen_reader_is_told_the_grade_when_the_judge_looks_back(page: Page, server: str) -> None:
    open_screen(page, server)
    press(page, "1", "ArrowLeft")
    expect(page.locator("#live")).to_contain_text("You judged this document: Relevant.")


def test_changed_guidelines_are_read_and_accepted_on_the_screen(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "1")
    saved(page)
    second = title(page)
    with served.transaction() as session:
        ola = session.scalars(select(User.id).where(User.name == "ola")).one()
        collection.set_guidelines(session, SLUG, "Be kind.", made_by_id=ola, made_at=datetime.now(UTC))
    with page.expect_response(lambda answer: "/guidelines?next=" in answer.url):
        press(page, "1", "ArrowLeft", "Enter")
    expect(page.get_by_text("The guidelines have changed.")).to_be_visible()
    third = title(page)
    assert third != second
    press(page, "g")
    expect(page.get_by_text("Be kind.")).to_be_visible()
    page.get_by_role("button", name="I have read the guidelines").click()
    listening(page)
    assert title(page) == third
    assert len(stored(served)) == 2
