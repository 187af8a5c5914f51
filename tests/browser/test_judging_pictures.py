"""The pictures of the overview and of the pages of judging: drawn, above their tables, without a fault."""

from datetime import timedelta

import pytest
from browser.pages import sign_in
from browser.test_every_page import Watch, audit
from build import SLUG, labels
from playwright.sync_api import Page
from sqlalchemy import func, select, update

from annotator.storage import Database, Judgement

HERE = f"/collections/{SLUG}"
# Each page, and how many pictures it has.
PICTURES = [
    ("", 2),
    ("/agreement", 3),
    ("/agreement/pair?first=judith&second=nist", 2),
    ("/judges", 2),
    ("/judges/judge?name=judith", 2),
    ("/assigning", 1),
    ("/pool", 1),
    ("/pool/teams", 2),
]


def as_if_judged_on_the_screen(database: Database) -> None:
    """Three judges, who judged a document a day in 20 seconds."""
    with database.transaction() as session:
        lines = [f"1 0 d{number:02} {number % 3}\n" for number in range(12)]
        labels(session, "judith", "".join(lines), name="judith.txt", add_to_pool=True)
        labels(session, "kim", "".join(reversed(lines[:8])), name="kim.txt", add_to_pool=True)
        labels(session, "nist", "".join(lines[2:]).replace(" 2\n", " 1\n"), name="nist.txt", add_to_pool=True)
        last = session.scalars(select(func.max(Judgement.judged_at))).one()
        assert last is not None
        session.execute(update(Judgement).values(client_id=func.replace(Judgement.client_id, "file-", "screen-")))
        for judgement in session.scalars(select(Judgement)):
            judgement.judged_at = last - timedelta(days=judgement.id % 5)
            judgement.seconds = 20.0 + judgement.id


@pytest.mark.parametrize(("path", "count"), PICTURES, ids=[path.partition("?")[0] for path, _ in PICTURES])
def test_a_page_begins_with_its_pictures_above_their_tables(
    page: Page, server: str, served: Database, path: str, count: int
) -> None:
    as_if_judged_on_the_screen(served)
    watch = Watch(page, server)
    sign_in(page, server, "ola")
    page.goto(server + HERE + path)
    page.locator(".chart").first.wait_for()
    assert page.locator(".chart").count() == page.locator("table[data-chart]").count() == count
    heights = page.locator(".chart").evaluate_all("all => all.map((one) => one.getBoundingClientRect())")
    assert min(box["height"] for box in heights) > 80
    assert page.locator("table[data-chart] tbody tr").count() > 0
    assert audit(page, server, HERE + path) == []
    assert watch.complaints == []


def test_a_disagreement_is_decided_by_keyboard(page: Page, server: str, served: Database) -> None:
    as_if_judged_on_the_screen(served)
    watch = Watch(page, server)
    sign_in(page, server, "ola", f"{HERE}/disagreements?undecided=1")
    cards = page.locator(".differing > li")
    before, first = cards.count(), cards.nth(1).get_by_role("heading").inner_text()
    assert audit(page, server, f"{HERE}/disagreements?undecided=1") == []
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "card-2"
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("1")
    page.wait_for_url("**#card-2")
    assert cards.count() == before - 1
    assert first not in cards.locator("h2").all_inner_texts()
    assert page.evaluate("document.activeElement.id") == "card-2"
    # A digit in a note decides nothing.
    page.get_by_label("Note").first.press_sequentially("2 of 3")
    assert cards.count() == before - 1
    assert watch.complaints == []


def test_the_overview_adds_runs_with_few_judged_documents(page: Page, server: str) -> None:
    watch = Watch(page, server)
    sign_in(page, server, "ola", HERE)
    page.get_by_role("link", name="Runs with under 95 % of the top 10 judged").wait_for()
    assert watch.complaints == []
