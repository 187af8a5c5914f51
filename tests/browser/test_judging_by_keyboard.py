"""Judging in a real browser, hands on the keyboard, against the real server."""

from browser.pages import sign_in
from build import SLUG
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


def press_and_wait(page: Page, key: str) -> None:
    """Press a key that judges, and wait for the next document."""
    before = page.locator("#document-title").inner_text()
    page.keyboard.press(key)
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
    page.keyboard.press(keys[-1])
    expect(page.locator("#document-title")).to_have_count(0)
    judged = stored(served)
    assert [one.grade for one in judged] == [int(key) for key in keys]
    assert len({one.pool_item_id for one in judged}) == 10
    assert all(one.seconds is not None and 0 <= one.seconds < 60 for one in judged)


def test_undo_shows_the_grade_and_another_replaces_it(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    first = page.locator("#document-title").inner_text()
    press_and_wait(page, "2")
    page.keyboard.press("u")
    expect(page.locator("#document-title")).to_have_text(first)
    expect(page.locator("button[aria-current=true]", has_text="Highly relevant")).to_be_visible()
    press_and_wait(page, "0")
    assert [(one.grade, one.current) for one in stored(served)] == [(2, False), (0, True)]


def test_keys_are_dead_while_a_note_is_typed(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    page.keyboard.press("n")
    page.keyboard.type("grade 1 or 2, x or u?")
    page.keyboard.press("Escape")
    assert stored(served) == []
    press_and_wait(page, "1")
    assert [(one.grade, one.note) for one in stored(served)] == [(1, "grade 1 or 2, x or u?")]


def test_what_cannot_be_judged_is_said_by_keyboard(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    page.keyboard.press("x")
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


def test_a_key_that_is_no_grade_does_nothing(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    for key in ("3", "9", "Control+1", "Alt+2"):
        page.keyboard.press(key)
    expect(page.get_by_text("1 of 10")).to_be_visible()
    assert stored(served) == []


def test_guidelines_and_keys_are_one_key_away(page: Page, server: str) -> None:
    sign_in(page, server, "jo", f"{JUDGE}/topics/1")
    page.keyboard.press("g")
    expect(page.get_by_text("Be fair.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Be fair.")).to_be_hidden()
    page.keyboard.press("?")
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
