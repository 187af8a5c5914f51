"""Judging in a real browser, hands on the keyboard, against the real server."""

import re

from browser.pages import sign_in
from build import PASSWORD, SLUG
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from annotator.storage import Database, Judgement

JUDGE = f"/collections/{SLUG}/judge"


def stored(database: Database) -> list[Judgement]:
    """What the judge said on the screen, in order; the imported labels come before."""
    with database.reading() as session:
        return list(
            session.scalars(select(Judgement).where(Judgement.client_id.not_like("file-%")).order_by(Judgement.id))
        )


def press(page: Page, key: str) -> None:
    """Press a key once the page listens to keys; before that a person would press it again."""
    page.wait_for_selector("html.with-script")
    page.keyboard.press(key)


def press_and_wait(page: Page, key: str) -> None:
    """Press a key that judges, and wait for the next document."""
    before = page.locator("#document-title").inner_text()
    press(page, key)
    expect(page.locator("#document-title")).not_to_have_text(before)


def test_a_judge_works_through_a_topic_with_number_keys_alone(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", JUDGE)
    page.get_by_role("link", name="cats", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 10")).to_be_visible()
    keys = "0121201021"
    for position, key in enumerate(keys[:-1], start=2):
        press_and_wait(page, key)
        expect(page.get_by_text(f"{position} of 10")).to_be_visible()
    press(page, keys[-1])
    expect(page.locator("#document-title")).to_have_count(0)
    judged = stored(served)
    assert [one.grade for one in judged] == [int(key) for key in keys]
    assert len({one.pool_item_id for one in judged}) == 10
    assert all(one.seconds is not None and 0 <= one.seconds < 60 for one in judged)


def test_undo_shows_the_grade_and_another_replaces_it(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    first = page.locator("#document-title").inner_text()
    press_and_wait(page, "2")
    press(page, "u")
    expect(page.locator("#document-title")).to_have_text(first)
    expect(page.locator("button[aria-current=true]", has_text="Highly relevant")).to_be_visible()
    press_and_wait(page, "0")
    assert [(one.grade, one.current) for one in stored(served)] == [(2, False), (0, True)]


def test_keys_are_dead_while_a_note_is_typed(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    press(page, "n")
    page.keyboard.type("grade 1 or 2, x or u?")
    page.keyboard.press("Escape")
    assert stored(served) == []
    press_and_wait(page, "1")
    assert [(one.grade, one.note) for one in stored(served)] == [(1, "grade 1 or 2, x or u?")]


def test_what_cannot_be_judged_is_said_by_keyboard(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    press(page, "x")
    before = page.locator("#document-title").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#document-title")).not_to_have_text(before)
    [judgement] = stored(served)
    assert (judgement.grade, judgement.cannot_judge) == (None, "broken")


def test_a_key_held_down_or_pressed_twice_judges_one_document(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    page.evaluate(
        """() => { for (let i = 0; i < 3; i++) document.querySelector('button[name=grade][value="1"]').click() }"""
    )
    expect(page.get_by_text("2 of 10")).to_be_visible()
    assert len(stored(served)) == 1


def test_a_page_sent_again_has_another_id_also_on_an_address_that_is_not_secure(
    page: Page, server: str, served: Database
) -> None:
    page.add_init_script("delete Crypto.prototype.randomUUID")  # browsers hide it on plain http in a network
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    offered = page.locator("input[name=client_id]").input_value()
    press_and_wait(page, "2")
    press(page, "u")
    expect(page.locator("button[aria-current=true]", has_text="Highly relevant")).to_be_visible()
    # As the history would bring the first page back, with the id that the server gave it.
    page.evaluate("id => { document.querySelector('input[name=client_id]').value = id }", offered)
    press_and_wait(page, "0")
    judged = stored(served)
    assert [one.grade for one in judged] == [2, 0]
    assert all(re.fullmatch("[0-9a-f]{32}", one.client_id) for one in judged)
    assert len({offered, *(one.client_id for one in judged)}) == 3


def test_a_key_that_is_no_grade_does_nothing(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    for key in ("3", "9", "Control+1", "Alt+2"):
        press(page, key)
    expect(page.get_by_text("1 of 10")).to_be_visible()
    assert stored(served) == []


def test_guidelines_and_keys_are_one_key_away(page: Page, server: str) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    press(page, "g")
    expect(page.get_by_text("Be fair.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Be fair.")).to_be_hidden()
    press(page, "?")
    expect(page.get_by_text("back to the document before")).to_be_visible()


def test_judging_works_without_script(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    first = page.locator("#document-title").inner_text()
    page.get_by_role("button", name="Relevant", exact=False).nth(1).click()
    expect(page.locator("#document-title")).not_to_have_text(first)
    expect(page.get_by_text("2 of 10")).to_be_visible()
    assert len(stored(served)) == 1
    context.close()


def test_kappa_and_leaderboard_follow_the_judging(page: Page, browser: Browser, server: str) -> None:
    organiser = browser.new_context().new_page()
    sign_in(organiser, server, "ola", f"/collections/{SLUG}/leaderboard")
    before = organiser.locator("table").first.inner_text()
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    for key in "02020202":
        press_and_wait(page, key)
    organiser.reload()
    assert organiser.locator("table").first.inner_text() != before
    organiser.goto(f"{server}/collections/{SLUG}/agreement")
    expect(organiser.get_by_role("row").filter(has_text="jo").filter(has_text="strict").first).to_be_visible()
    organiser.context.close()


def test_pages_speak_korean_when_the_reader_chooses_it(page: Page, server: str) -> None:
    sign_in(page, server, "jo", JUDGE)
    page.get_by_role("button", name="한국어").click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.get_by_role("button", name="로그아웃")).to_be_visible()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_judgement_of_an_ended_session_is_asked_for_again_with_its_note(
    page: Page, server: str, served: Database
) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    first = page.locator("#document-title").inner_text()
    press(page, "n")
    page.keyboard.type("a thought worth keeping")
    page.keyboard.press("Escape")
    page.context.clear_cookies()
    press(page, "2")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#document-title")).to_have_text(first)
    expect(page.get_by_text("did not arrive")).to_be_visible()
    expect(page.get_by_label("Note")).to_have_value("a thought worth keeping")
    page.keyboard.press("Escape")
    press_and_wait(page, "2")
    expect(page.get_by_text("did not arrive")).to_be_hidden()
    assert [(one.grade, one.note) for one in stored(served)] == [(2, "a thought worth keeping")]


def test_signing_in_on_a_page_from_before_another_sign_in_is_asked_for_once_more(page: Page, server: str) -> None:
    page.goto(f"{server}/sign-in")
    other = page.context.new_page()
    sign_in(other, server, "jo", JUDGE)
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_from_one_topic_to_the_next_it_is_enter_and_enter(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/2")
    press_and_wait(page, "1")
    press(page, "2")
    expect(page.get_by_role("link", name="Other topics")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Go on with topic 1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 10")).to_be_visible()
    assert len(stored(served)) == 2
