"""Menu, tabs and palette in a real browser, by keyboard and on a phone."""

import re

import pytest
from browser.pages import sign_in
from browser.test_every_page import AXE, PHONE, Watch, faults_of
from build import SLUG
from playwright.sync_api import Page, expect

RUNS = f"/collections/{SLUG}/runs"


@pytest.fixture
def runs(page: Page, server: str) -> Page:
    sign_in(page, server, "ola", RUNS)
    return page


def test_the_palette_opens_a_page_by_a_part_of_its_name(runs: Page, server: str) -> None:
    watch = Watch(runs, server)
    runs.keyboard.press("Control+k")
    field = runs.get_by_role("dialog").get_by_role("combobox")
    expect(field).to_be_focused()
    field.press_sequentially("signif")
    first = runs.get_by_role("dialog").get_by_role("option").first
    expect(first).to_contain_text("Significance")
    expect(first).to_have_attribute("aria-selected", "true")
    runs.evaluate(AXE)
    assert faults_of(runs, "palette") == []
    field.press("Enter")
    expect(runs).to_have_url(re.compile("/significance$"))
    assert watch.complaints == []


def test_arrow_keys_choose_in_the_palette_and_escape_closes_it(runs: Page) -> None:
    runs.get_by_role("button", name="Find…").click()
    field = runs.get_by_role("dialog").get_by_role("combobox")
    field.fill("a")
    options = runs.get_by_role("dialog").get_by_role("option")
    expect(options.nth(1)).to_be_visible()
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("ArrowUp")
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.fill("no page has this name")
    expect(runs.get_by_role("dialog").get_by_role("status")).to_have_text("Nothing found.")
    field.press("Escape")
    runs.keyboard.press("Escape")
    expect(field).to_be_hidden()


def test_tabs_lead_through_an_entry_on_a_phone(runs: Page) -> None:
    runs.set_viewport_size(PHONE)
    runs.get_by_role("button", name="Menu").click()
    runs.get_by_role("navigation", name="Collection").get_by_role("link", name="Judging").click()
    expect(runs.get_by_role("heading", level=1)).to_have_text("Assignments")
    runs.get_by_role("navigation", name="Judging").get_by_role("link", name="Questions and notes").click()
    notes = runs.get_by_role("navigation", name="Questions and notes").get_by_role("link", name="Notes")
    notes.click()
    expect(notes).to_have_attribute("aria-current", "page")
    width = runs.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
