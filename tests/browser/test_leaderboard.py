"""The leaderboard in a real browser: its picture and table together, options applied at once, two runs compared."""

import re
from functools import partial

import pytest
from browser.pages import eventually, sign_in
from browser.test_every_page import AXE, DESK, Watch, faults_of
from build import SLUG
from playwright.sync_api import Locator, Page, expect

BOARD = f"/collections/{SLUG}/leaderboard"


@pytest.fixture
def board(page: Page, server: str) -> Page:
    page.set_viewport_size(DESK)
    sign_in(page, server, "ola", BOARD)
    return page


def tags(page: Page) -> list[str | None]:
    return [row.get_attribute("data-name") for row in page.locator(".board tbody tr:visible th").all()]


def test_it_begins_with_its_picture_which_is_of_the_measure_that_sorts(board: Page) -> None:
    picture = board.locator(".chart svg[role=img]").first
    expect(picture).to_be_visible()
    region = board.get_by_role("region", name="Leaderboard")
    above, below = picture.bounding_box(), region.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    board.get_by_role("button", name="AP", exact=True).click()
    expect(board.locator(".board th[data-column=up]")).to_have_attribute("data-key", "AP")
    expect(board.locator(".board")).to_have_attribute("data-up", "AP")
    assert board.url.endswith("?sort=AP")


def test_sorting_on_the_page_is_the_order_and_the_ranks_of_the_server(board: Page) -> None:
    ranks = ".board tbody tr td.number:nth-child(2)"
    for measure in ("AP", "RR", "P@10"):
        board.get_by_role("button", name=measure, exact=True).click()
        mine = board.locator(ranks).all_text_contents()
        board.reload()
        assert board.locator(ranks).all_text_contents() == mine


def test_an_option_is_applied_at_once_and_keeps_the_filter(board: Page) -> None:
    board.get_by_role("searchbox").fill("al")
    board.get_by_role("combobox", name="Baseline").select_option("beta")
    board.wait_for_url(re.compile("baseline=beta"))
    expect(board.get_by_role("searchbox")).to_have_value("al")
    assert tags(board) == ["alpha"]
    expect(board.get_by_role("columnheader", name="Difference")).to_be_visible()
    board.get_by_text("More options").click()
    board.get_by_label("Letters for runs that do not differ").check()
    board.keyboard.press("Escape")
    board.wait_for_url(re.compile("letters=y"))
    assert "baseline=beta" in board.url
    assert "q=al" in board.url
    # Letters are of one measure: then the server sorts.
    expect(board.get_by_role("columnheader", name="AP").get_by_role("link")).to_be_visible()


def is_within(panel: Locator, width: int) -> bool:
    box = panel.bounding_box()
    return box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width


def test_an_open_panel_stays_in_the_window(board: Page) -> None:
    for width in (390, 768, 1000, 1280):
        board.set_viewport_size({"width": width, "height": 900})
        for name in ("Measures", "More options", "Columns"):
            panel = board.locator(".bar-panel", has=board.get_by_text(name, exact=True)).first
            panel.locator("summary").press("Enter")
            # The page moves an open panel into the window.
            eventually(board, partial(is_within, panel.locator("> div"), width))
            assert board.evaluate("document.documentElement.scrollWidth") == width
            board.keyboard.press("Escape")


def test_two_ticked_runs_are_compared(board: Page, server: str) -> None:
    expect(board.get_by_role("button", name="Compare the two")).to_be_hidden()
    board.get_by_role("checkbox", name="Compare beta").check()
    board.get_by_role("checkbox", name="Compare alpha").check()
    board.get_by_role("button", name="Compare the two").click()
    board.wait_for_url(re.compile("first=beta&second=alpha"))
    assert board.url.startswith(f"{server}{BOARD}/pair?m=nDCG%4010")


def test_it_has_no_violation_with_a_panel_open(board: Page, server: str) -> None:
    watch = Watch(board, server)
    board.goto(f"{server}{BOARD}?baseline=alpha")
    board.get_by_text("Measures", exact=True).first.press("Enter")  # the mouse would show a tip in the picture
    board.evaluate(AXE)
    assert faults_of(board, "leaderboard") == []
    assert watch.complaints == []
