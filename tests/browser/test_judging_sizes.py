"""The judging screen on small windows: enlarged pages, phones in either position, and scales of two to ten grades."""

import pytest
from browser.judging_screen import JUDGE, TOPIC, listening, open_screen, press, saved
from build import SLUG
from playwright.sync_api import Page, expect

from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection, read_scale

NAMES = ("Not relevant", "Relevant", "Highly relevant", "Perfectly relevant", "Somewhat", "Irrelevant")
# 400 % and 200 % of 1280 pixels, a phone on its side and upright, a laptop.
SIZES = ((320, 256), (640, 450), (844, 390), (390, 844), (1280, 780))
SHORT = 480
MEASURE = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const grades = [...document.querySelectorAll("[name=grade]")].map((button) => button.getBoundingClientRect());
  const isSeen = (rect) => {
    const found = document.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2);
    return found !== null && found.closest("[name=grade]") !== null;
  };
  const body = box("#body");
  const lines = new Set(grades.map((rect) => Math.round(rect.top)));
  return {
    line: box("#topic > summary").height,
    grades: grades.filter(isSeen).length,
    rows: [...lines].map((top) => grades.filter((rect) => Math.round(rect.top) === top).length),
    smallest: Math.min(...grades.map(({ width, height }) => Math.min(width, height))),
    text: document.elementFromPoint(body.x + 5, body.y + 5)?.closest("#body") !== null,
    tall: Math.max(...grades.map((rect) => rect.bottom)) - Math.min(...grades.map((rect) => rect.top)),
    covered: innerHeight - Math.min(...grades.map((rect) => rect.top)),
    wide: document.documentElement.scrollWidth,
  };
}"""


def scale(database: Database, grades: int) -> None:
    names = [NAMES[value] if value < len(NAMES) else f"Grade {value}" for value in range(grades)]
    text = "\n".join(f"{value}={name}" for value, name in enumerate(names))
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(scale=read_scale(text)))


@pytest.mark.parametrize("grades", [4, 10])
def test_document_and_grades_are_in_sight_in_windows_of_every_size(
    page: Page, server: str, served: Database, grades: int
) -> None:
    scale(served, grades)
    open_screen(page, server)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server}{TOPIC}")
        listening(page)
        found = page.evaluate(MEASURE)
        assert found["text"], (width, height, found)
        assert found["grades"] == grades, (width, height, found)
        assert found["smallest"] >= 24, (width, height, found)
        assert found["wide"] <= width, (width, height, found)
        if height < SHORT:
            assert found["rows"] == [grades], (width, height, found)
            assert found["tall"] < 40, (width, height, found)
        elif width < SHORT:
            assert found["line"] < 40, (width, height, found)
            assert found["rows"] == ([4] if grades == 4 else [5, 5]), (width, height, found)
            assert found["covered"] < height * 0.35, (width, height, found)


def test_in_a_short_window_only_the_grades_stay_and_everything_else_can_be_reached(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 320, "height": 256})
    open_screen(page, server)
    sticky = """() => [...document.querySelectorAll("#screen, #screen *")].filter((element) =>
        !element.hidden && ["sticky", "fixed"].includes(getComputedStyle(element).position))
        .map((element) => element.className)"""
    assert page.evaluate(sticky) == ["grades"]
    press(page, "x")
    expect(page.locator("[name=cannot_judge]").first).to_be_visible()
    press(page, "Escape", "n")
    expect(page.locator("#note")).to_be_focused()
    assert page.locator("#note").evaluate("(field) => field.getBoundingClientRect().top < innerHeight - 60")
    page.locator("#topic > summary").click()
    expect(page.locator("#topic dd").first).to_be_visible()
    assert page.evaluate(sticky) == ["grades"]


def test_the_chosen_grade_is_seen_in_forced_colours(page: Page, server: str) -> None:
    page.emulate_media(forced_colors="active")
    open_screen(page, server)
    press(page, "1")
    saved(page)
    page.goto(f"{server}{JUDGE}/judged")
    page.locator("main tbody a").first.click()
    listening(page)
    colour = "(button) => getComputedStyle(button).backgroundColor"
    chosen = page.locator("[name=grade][aria-current]")
    expect(chosen).to_have_attribute("value", "1")
    assert chosen.evaluate(colour) != page.locator("[name=grade][value='0']").evaluate(colour)
