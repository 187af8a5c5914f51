"""The pictures of the pages of results: drawn, above their tables, and usable."""

import pytest
from browser.pages import sign_in
from browser.test_every_page import Watch, audit
from build import SLUG, labels
from playwright.sync_api import Page

from annotator.storage import Database

HERE = f"/collections/{SLUG}"
# Each page, and how many pictures it has.
PICTURES = [
    ("/leaderboard/pair?first=alpha&second=beta", 3),
    ("/leaderboard/run?tag=alpha", 5),
    ("/leaderboard/topics", 1),
    ("/leaderboard/matrix", 1),
    ("/significance?m=P@5&baseline=alpha", 5),
    ("/correlation?m=P@5", 2),
    ("/agreement/effect", 3),
    ("/qrels/diff?before=1&after=live", 1),
    ("/costs?m=P@5&cost=latency_p95", 1),
    ("/quality", 1),
    ("/quality/leave-out", 2),
]


@pytest.mark.parametrize(("path", "count"), PICTURES, ids=[path.partition("?")[0] for path, _ in PICTURES])
def test_a_page_begins_with_its_pictures_above_their_tables(
    page: Page, server: str, served: Database, path: str, count: int
) -> None:
    with served.transaction() as session:  # a second topic, so that tests are defined
        labels(session, "judith", "2 0 d01 0\n2 0 d02 1\n", name="judith.txt", add_to_pool=True)
    watch = Watch(page, server)
    sign_in(page, server, "ola")
    page.goto(server + HERE + path)
    page.locator(".chart").first.wait_for()
    assert page.locator(".chart").count() == page.locator("table[data-chart]").count() == count
    heights = page.locator(".chart").evaluate_all("all => all.map((one) => one.getBoundingClientRect())")
    assert min(box["height"] for box in heights) > 80
    # Tables that are not folded away come after the first picture.
    tables = page.locator("main table:visible").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert heights[0]["top"] < min([*tables, 1e6])
    assert heights[0]["top"] < 900
    assert page.locator("table[data-chart] tbody tr").count() > 0
    assert audit(page, server, HERE + path) == []
    assert watch.complaints == []


def test_two_runs_are_chosen_and_a_topic_opened_by_keyboard(page: Page, server: str) -> None:
    sign_in(page, server, "ola", f"{HERE}/leaderboard/pair")
    assert page.locator(".chart").count() == 0
    page.get_by_label("First run").focus()
    page.keyboard.type("alpha")
    page.keyboard.press("Tab")
    page.keyboard.type("beta")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".conclusion").wait_for()
    page.get_by_text("The picture as a table").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Wins and losses by topic").get_by_role("link", name="1").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**topic=1#documents")
    sides = page.locator(".sides > section")
    assert [one.get_attribute("aria-labelledby") for one in sides.all()] == ["list-first", "list-second"]
    there = sides.first.locator("a.moved").first
    there.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector(':target').closest('section').getAttribute('aria-labelledby')") == (
        "list-second"
    )
