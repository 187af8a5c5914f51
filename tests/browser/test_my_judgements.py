"""My judgements in a real browser: grades are changed in the list by keys, and a document opened from it leads back."""

import re

import pytest
from browser.judging_screen import listening
from browser.pages import eventually, sign_in
from browser.test_every_page import AXE, PHONE, Watch, faults_of
from build import SLUG, labels
from playwright.sync_api import Page, expect
from sqlalchemy import select

from annotator.storage import Database, Judgement, User

LIST = f"/collections/{SLUG}/judge/judged"


@pytest.fixture
def judged(page: Page, server: str, served: Database) -> Page:
    """The list of Jo, who judged d00 to d04."""
    with served.transaction() as session:
        labels(session, "jo", "".join(f"1 0 d0{index} {index % 2}\n" for index in range(5)), name="jo.txt")
    sign_in(page, server, "jo", LIST)
    page.wait_for_selector("html.with-script")
    return page


def grades(database: Database) -> list[int | None]:
    """Jo's grades that count, in the order in which the documents were judged."""
    with database.reading() as session:
        own = select(Judgement.grade).join(User, User.id == Judgement.judge_id).where(User.name == "jo")
        return list(session.scalars(own.where(Judgement.current).order_by(Judgement.assignment_id)))


def test_grades_are_changed_by_keys_without_leaving_the_list(judged: Page, server: str, served: Database) -> None:
    watch = Watch(judged, server)
    rows = judged.locator("table.judged tbody tr")
    expect(rows.first).to_be_focused()
    judged.keyboard.press("2")  # d04
    expect(rows.first.locator(".given")).to_have_text("2 · Highly relevant")
    expect(rows.first).to_be_focused()
    judged.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    judged.keyboard.press("0")  # d03
    expect(judged.locator("#list-state")).to_have_text("Title of d03: 0 · Not relevant")
    judged.keyboard.press("k")
    expect(rows.first).to_be_focused()
    eventually(judged, lambda: grades(served) == [0, 1, 0, 0, 2])
    assert watch.complaints == []


def test_keys_of_the_list_follow_the_layout_of_the_person(judged: Page) -> None:
    rows = judged.locator("table.judged tbody tr")
    judged.keyboard.press("?")
    sheet = judged.locator("#keys")
    expect(sheet).to_contain_text("next document")
    sheet.get_by_label("Layout").select_option("left-hand")
    sheet.locator("[data-changes=list-next]").click()
    judged.keyboard.press("h")
    expect(judged.locator("#list-keys")).to_contain_text("h next")
    judged.keyboard.press("Escape")
    rows.first.focus()
    judged.keyboard.press("h")
    expect(rows.nth(1)).to_be_focused()
    judged.keyboard.press("`")  # grade 0 of the left hand
    expect(rows.nth(1).locator(".given")).to_have_text("0 · Not relevant")
    judged.keyboard.press("w")
    expect(rows.nth(1)).to_contain_text("The document waits for you again.")
    # The judging screen has the same layout.
    judged.reload()
    expect(judged.locator("#list-keys")).to_contain_text("` 1 2 change the grade")


def test_a_row_says_when_a_change_was_not_saved_and_saves_it_once_when_pressed_again(
    judged: Page, served: Database
) -> None:
    judged.context.set_offline(True)
    judged.keyboard.press("2")
    row = judged.locator("table.judged tbody tr").first
    expect(judged.get_by_text("Not saved: the server does not answer. Try again.")).to_be_visible()
    expect(row.locator("button[aria-current]")).to_have_text("0")
    judged.context.set_offline(False)
    judged.keyboard.press("2")
    expect(row.locator("button[aria-current]")).to_have_text("2")
    assert grades(served) == [0, 1, 0, 1, 2]


def test_enter_opens_the_document_and_a_grade_leads_back_to_its_row(judged: Page, served: Database) -> None:
    judged.keyboard.press("j")
    judged.keyboard.press("Enter")
    listening(judged)
    judged.keyboard.press("2")
    judged.wait_for_url(re.compile(r"/judge/judged#row-\d+$"))
    second = judged.locator("table.judged tbody tr").nth(1)
    expect(second).to_be_focused()
    expect(second.locator(".given")).to_have_text("2 · Highly relevant")
    assert grades(served) == [0, 1, 0, 2, 0]


def test_nothing_is_scrolled_sideways_on_a_phone(judged: Page) -> None:
    judged.set_viewport_size(PHONE)
    assert judged.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert judged.locator("table.judged").evaluate("(table) => table.scrollWidth <= table.clientWidth + 1")
    judged.emulate_media(color_scheme="dark")
    judged.evaluate(AXE)
    assert faults_of(judged, "My judgements") == []
