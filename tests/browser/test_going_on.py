"""From one topic to the next by Enter, and the palette on the judging screen."""

import re

from browser.judging_screen import JUDGE, TOPIC, judge, listening, open_screen, press, saved, stored, title
from browser.pages import eventually
from browser.test_every_page import AXE, faults_of
from playwright.sync_api import Page, expect

from annotator.storage import Database

OTHER = f"{JUDGE}/topics/2"


def test_enter_at_the_end_of_a_topic_opens_the_next_one_and_in_the_end_the_reason_is_given(
    page: Page, server: str
) -> None:
    open_screen(page, server, OTHER)
    judge(page, "01")
    onward = page.get_by_role("link", name="Next: topic 1, cats")
    expect(onward).to_be_focused()
    page.evaluate(AXE)
    assert faults_of(page, "the end of a topic") == []
    press(page, "Enter")
    page.wait_for_url(f"**{TOPIC}")
    listening(page)
    judge(page, "0120120120")
    expect(page.locator("#over-next")).to_have_text(
        "No topic has documents for you: you have judged all that were available to you."
    )
    expect(page.get_by_role("link", name="Other topics")).to_be_focused()
    saved(page)
    page.goto(f"{server}{TOPIC}")
    expect(page.get_by_text("No topic has documents for you: you have judged all")).to_be_visible()


def test_a_page_that_finds_nothing_left_in_a_topic_names_the_next_one(page: Page, server: str) -> None:
    open_screen(page, server, OTHER)
    judge(page, "01")
    saved(page)
    page.goto(f"{server}{OTHER}")
    expect(page.get_by_role("link", name="Next: topic 1, cats")).to_be_focused()


def test_the_palette_of_the_screen_runs_its_commands_and_opens_topics(
    page: Page, server: str, served: Database
) -> None:
    open_screen(page, server)
    first = title(page)
    press(page, "Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    options = page.get_by_role("dialog").get_by_role("option")
    expect(field).to_be_focused()
    expect(options.first).to_be_visible()
    page.evaluate(AXE)
    assert faults_of(page, "palette of the screen") == []
    # Digits are text here, and no grade is the first choice of the empty field.
    press(page, "1")
    expect(field).to_have_value("1")
    assert title(page) == first
    field.fill("highly")
    expect(options).to_have_text([re.compile("Highly relevant")])
    press(page, "Enter")
    expect(field).to_be_hidden()
    eventually(page, lambda: [one.grade for one in stored(served)] == [2])
    assert title(page) != first
    press(page, "Control+k")
    field.fill("dogs")
    expect(options.first).to_contain_text("dogs")
    press(page, "Enter")
    page.wait_for_url(f"**{OTHER}")
