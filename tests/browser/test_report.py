"""The report as a browser opens it from a disk: alone, in light and dark, on paper's width and a phone's."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import cat_collection
from build import NOW, SLUG
from playwright.sync_api import Browser

from annotator.reporting import report_html
from annotator.storage import Database
from annotator.workflows.leaderboard.overview_report import overview_report

VIOLATIONS = "axe.run({resultTypes: ['violations']}).then(results => results.violations.map(one => one.id))"
NARROWEST, DESK = 360, 1280


@pytest.fixture
def report(sqlite_database: Database, tmp_path: Path) -> Path:
    """A report of the cat collection, in a file."""
    cat_collection(sqlite_database)
    with sqlite_database.reading() as session:
        made = overview_report(session, SLUG, made_at=NOW, version="9.9")
    path = tmp_path / "report.html"
    path.write_bytes(report_html(made))
    return path


@pytest.mark.parametrize(("width", "scheme"), [(NARROWEST, "dark"), (DESK, "light")])
def test_the_report_is_accessible_fits_and_asks_for_nothing(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, locale="en")
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(report.as_uri())
    assert [address for address in asked if not address.startswith("data:")] == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.get_by_role("img", name="nDCG@10 of every run").is_visible()
    assert not page.locator("table#points").is_visible()
    page.evaluate(Axe().axe_script)
    assert page.evaluate(VIOLATIONS) == []
    context.close()


def test_the_report_reads_without_scripts(browser: Browser, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en")
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("table#points").is_visible()
    assert page.get_by_role("heading", name="Leaderboard").is_visible()
    assert page.get_by_role("table").count() > 8
    context.close()


def test_the_report_prints_on_paper_with_no_column_cut(browser: Browser, report: Path) -> None:
    context = browser.new_context(viewport={"width": 688, "height": 1000}, locale="en")  # A4 less its margins
    page = context.new_page()
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    wide = page.evaluate(
        "[...document.querySelectorAll('table, svg')].filter((one) => one.getBoundingClientRect().right > 689)"
        ".map((one) => one.id || one.getAttribute('aria-label'))"
    )
    assert wide == []
    context.close()
