"""Judging in a real browser, hands on the keyboard, against the real server."""

import re

from browser.judging_screen import (
    JUDGE,
    TOPIC,
    judge,
    listening,
    open_screen,
    press,
    saved,
    stored,
    title,
    wait_out_a_bounce,
)
from browser.pages import sign_in
from build import PASSWORD, SLUG
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from annotator.storage import Assignment, AssignmentState, Database


def test_a_judge_works_through_a_topic_with_number_keys_alone(page: Page, server: str, served: Database) -> None:
    sign_in(page, server, "jo", JUDGE)
    page.get_by_role("link", name="cats", exact=True).focus()
    page.keyboard.press("Enter")
    listening(page)
    titles = []
    keys = "0121201021"
    for position, key in enumerate(keys, start=1):
        expect(page.locator("#position")).to_have_text(f"{position} of 10")
        titles.append(title(page))
        judge(page, key)
    expect(page.get_by_role("heading", name="Nothing left for you in topic 1")).to_be_visible()
    saved(page)
    judged = stored(served)
    assert [(one.grade, one.sequence) for one in judged] == list(zip(map(int, keys), range(1, 11), strict=True))
    assert len(set(titles)) == len({one.pool_item_id for one in judged}) == 10
    assert len({one.tab for one in judged}) == 1
    assert all(one.seconds is not None and 0 <= one.seconds < 60 for one in judged)
    assert all(re.fullmatch("[0-9a-f]{32}", one.client_id) for one in judged)


def test_looking_back_changes_nothing_and_a_new_grade_stays_where_the_judge_looks(
    page: Page, server: str, served: Database
) -> None:
    page.add_init_script("delete Crypto.prototype.randomUUID")  # browsers hide it on plain http in a network
    open_screen(page, server)
    titles = []
    for key in "210":
        titles.append(title(page))
        press(page, key)
    fourth = title(page)
    press(page, "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert title(page) == titles[0]
    expect(page.locator("#looking", has_text="You judged this document: Highly relevant.")).to_be_visible()
    expect(page.locator("[name=grade][aria-current=true]")).to_have_text("2 Highly relevant")
    press(page, "Enter")
    assert title(page) == fourth
    press(page, "ArrowLeft", "ArrowLeft", "2")
    assert title(page) == titles[1]
    expect(page.locator("[name=grade][aria-current=true]")).to_have_text("2 Highly relevant")
    press(page, "ArrowRight")
    assert title(page) == titles[2]
    press(page, "ArrowRight")
    assert title(page) == fourth
    saved(page)
    assert [(one.grade, one.current) for one in stored(served)] == [(2, True), (1, False), (0, True), (2, True)]
    page.reload()
    listening(page)
    for expected in (titles[1], titles[2], titles[0]):
        press(page, "ArrowLeft")
        expect(page.locator("#document-title")).to_have_text(expected)
    press(page, "ArrowLeft")
    expect(page.locator("#toast")).to_have_text("This is the first document.")
    press(page, "1")
    saved(page)
    assert [one.grade for one in stored(served) if one.current] == [0, 2, 1]


def test_what_is_put_off_comes_back_at_the_end_and_by_undo(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    first = title(page)
    press(page, "l")
    assert page.locator("#position").inner_text() == "1 of 10"
    press(page, "ArrowLeft")
    assert title(page) == first
    expect(page.locator("#looking", has_text="You deferred this document.")).to_be_visible()
    press(page, "Enter", "u")
    assert title(page) == first
    press(page, "l")
    judge(page, "111111111")
    expect(page.locator("#document-title")).to_have_text(first)
    expect(page.locator("#about", has_text="Only this document, which you deferred, is left.")).to_be_visible()
    saved(page)
    assert len(stored(served)) == 9
    press(page, "2")
    expect(page.get_by_role("heading", name="Nothing left for you")).to_be_visible()
    saved(page)
    assert [one.grade for one in stored(served)] == [1] * 9 + [2]


def test_keys_are_dead_while_one_types(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "n")
    page.keyboard.type("grade 1 or 2, x or u?")
    press(page, "Escape", "t")
    page.keyboard.type("l0")
    press(page, "Escape", "/")
    page.keyboard.type("12")
    press(page, "Escape", "q")
    page.keyboard.type("2?")
    press(page, "Escape")
    assert stored(served) == []
    press(page, "1")
    saved(page)
    assert [(one.grade, one.note) for one in stored(served)] == [(1, "grade 1 or 2, x or u?")]
    press(page, "ArrowLeft")
    assert page.get_by_label("Note", exact=True).input_value() == "grade 1 or 2, x or u?"


def test_keys_that_are_no_grade_or_belong_to_the_browser_do_nothing(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "3", "9", "Control+1", "Alt+2")
    page.evaluate(
        """() => {
          const bubbles = { bubbles: true, cancelable: true };
          const held = { ...bubbles, key: "1", code: "Digit1", repeat: true };
          document.body.dispatchEvent(new KeyboardEvent("keydown", held));
          const second = { ...bubbles, detail: 2 };  // of a double click
          document.querySelector("[name=grade]").dispatchEvent(new MouseEvent("click", second));
        }"""
    )
    assert page.locator("#position").inner_text() == "1 of 10"
    assert stored(served) == []


def test_the_place_of_a_key_counts_while_a_korean_input_method_is_on(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    down = """init => document.body.dispatchEvent(
        new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }))"""
    page.evaluate(down, {"key": "Process", "code": "Digit2"})
    page.evaluate(down, {"key": "ㅕ", "code": "KeyU"})
    expect(page.locator("#toast")).to_contain_text("is to be judged again")
    page.evaluate(down, {"key": "ㅌ", "code": "KeyX"})
    wait_out_a_bounce(page)
    page.evaluate(down, {"key": "Process", "code": "KeyF"})  # a reason, as printed on it
    saved(page)
    assert [(one.grade, one.cannot_judge) for one in stored(served)] == [
        *((2, None), (None, "withdrawn"), (None, "language"))
    ]


def test_what_cannot_be_judged_is_said_by_keyboard(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "x", "Escape", "1", "x", "Enter", "x", "m")
    saved(page)
    judged = [(one.grade, one.cannot_judge) for one in stored(served)]
    assert judged == [(1, None), (None, "broken"), (None, "no-text")]
    press(page, "ArrowLeft")
    expect(page.locator("#looking", has_text="You marked this document “cannot judge”: It has no text")).to_be_visible()
    # The reasons are closed, so that a digit is a grade.
    press(page, "2")
    saved(page)
    assert stored(served)[-1].grade == 2


def test_a_second_grade_at_once_is_a_bounce(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    page.evaluate(
        """() => {
          for (const key of ["1", "2"]) {
            const init = { bubbles: true, cancelable: true, key, code: `Digit${key}` };
            document.body.dispatchEvent(new KeyboardEvent("keydown", init));
          }
          document.querySelector("[name=grade]").click();
        }"""
    )
    saved(page)
    assert [one.grade for one in stored(served)] == [1]
    press(page, "2")
    saved(page)
    assert [one.grade for one in stored(served)] == [1, 2]


def test_digits_are_grades_while_the_reasons_are_open(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "x")
    reasons, grades = (page.locator(where).bounding_box() for where in (".reasons", ".grades"))
    assert reasons is not None
    assert grades is not None
    assert reasons["y"] >= grades["y"] + grades["height"]
    press(page, "2")
    saved(page)
    assert [(one.grade, one.cannot_judge) for one in stored(served)] == [(2, None)]


def test_another_reason_is_stored_with_its_note(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    first = title(page)
    press(page, "x", "o")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    press(page, "Enter")  # without a word nothing is stored
    assert title(page) == first
    page.keyboard.type("behind a paywall")
    expect(page.get_by_text("Enter stores it")).to_be_visible()
    press(page, "Enter")
    expect(page.locator("#document-title")).not_to_have_text(first)
    saved(page)
    assert [(one.cannot_judge, one.note) for one in stored(served)] == [("other", "behind a paywall")]
    press(page, "x", "o", "Escape", "1")
    saved(page)
    assert [(one.grade, one.note) for one in stored(served)][1:] == [(1, "")]


def test_keys_are_changed_and_switched_off_for_a_person(page: Page, server: str, served: Database) -> None:
    open_screen(page, server)
    press(page, "?")
    keys = page.locator("#keys")
    key = keys.locator("[data-changes=x]")
    key.click()
    press(page, "n")
    expect(keys.get_by_role("status")).to_have_text(
        "“n” is already the key for “write a note; Escape leaves it”. Change that one first, or choose another key."
    )
    press(page, "k")
    expect(key).to_have_text("k")
    press(page, "Escape")
    expect(page.locator("summary[data-key=x] kbd")).to_have_text("k")
    page.reload()
    listening(page)
    press(page, "x", "k", "b", "1")
    saved(page)
    assert [(one.grade, one.cannot_judge) for one in stored(served)] == [(None, "broken"), (1, None)]
    press(page, "?")
    keys.get_by_label("Use single-character keys").uncheck()
    press(page, "Escape")
    expect(page.locator(".grades kbd").first).to_be_hidden()
    press(page, "2", "k", "u")
    page.get_by_role("button", name="Keys").click()
    keys.get_by_label("Use single-character keys").check()
    keys.get_by_label("Layout").select_option("left hand")
    expect(page.locator("[name=grade] kbd").first).to_have_text("`")
    page.keyboard.press("Escape")
    press(page, "`")
    saved(page)
    assert [one.grade for one in stored(served)] == [None, 1, 0]


def test_keys_act_in_a_browser_without_popovers(page: Page, server: str, served: Database) -> None:
    page.add_init_script("delete HTMLElement.prototype.popover")
    open_screen(page, server)
    press(page, "g")
    expect(page.get_by_text("Be fair.")).to_be_visible()
    press(page, "1", "Escape", "2")
    saved(page)
    assert [one.grade for one in stored(served)] == [2]


def test_guidelines_and_keys_are_one_key_away(page: Page, server: str) -> None:
    open_screen(page, server)
    press(page, "g")
    expect(page.get_by_text("Be fair.")).to_be_visible()
    press(page, "1", "Escape")
    expect(page.get_by_text("Be fair.")).to_be_hidden()
    press(page, "?")
    expect(page.get_by_text("undo the last judgement")).to_be_visible()
    press(page, "?")
    expect(page.get_by_text("undo the last judgement")).to_be_hidden()
    assert page.locator("#position").inner_text() == "1 of 10"


def test_judging_works_without_script(browser: Browser, server: str, served: Database) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server, "jo", TOPIC)
    first = title(page)
    page.get_by_role("button", name="1 Relevant").click()
    expect(page.locator("#document-title")).not_to_have_text(first)
    expect(page.get_by_text("2 of 10")).to_be_visible()
    page.get_by_role("link", name="Undo").click()
    assert title(page) == first
    expect(page.locator("#looking", has_text="You judged this document: Relevant.")).to_be_visible()
    page.get_by_role("link", name="Go on").click()
    second = title(page)
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#document-title")).not_to_have_text(second)
    page.locator("summary", has_text="Cannot judge").click()
    page.get_by_role("button", name="It has no text").click()
    expect(page.get_by_text("3 of 10")).to_be_visible()
    assert [(one.grade, one.cannot_judge) for one in stored(served)] == [(1, None), (None, "no-text")]
    with served.reading() as session:
        put_off = session.scalars(select(Assignment.id).where(Assignment.state == AssignmentState.LATER)).all()
    assert len(put_off) == 1
    context.close()


def test_kappa_and_leaderboard_follow_the_judging(page: Page, browser: Browser, server: str) -> None:
    organiser = browser.new_context().new_page()
    sign_in(organiser, server, "ola", f"/collections/{SLUG}/leaderboard")
    before = organiser.locator("table").first.inner_text()
    open_screen(page, server)
    judge(page, "02020202")
    saved(page)
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


def test_signing_in_on_a_page_from_before_another_sign_in_is_asked_for_once_more(page: Page, server: str) -> None:
    page.goto(f"{server}/sign-in")
    other = page.context.new_page()
    sign_in(other, server, "jo", JUDGE)
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
