"""What is left to the worker, in a real browser: the page waits with the reader and goes on by itself."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from build import SLUG, run_text
from playwright.sync_api import Browser, FilePayload, Page, expect

from annotator.storage import Database
from annotator.workflows.runs.runs import list_runs

RUNS = f"/collections/{SLUG}/runs"
# Larger than what is read while the reader waits.
LINES = 60_000
RECEIPT = "**/runs/receipt?at=*"


def large_run(tag: str) -> FilePayload:
    text = run_text(tag, {"1": [f"d{index:06}" for index in range(LINES)]})
    return {"name": f"{tag}.run", "mimeType": "text/plain", "buffer": text}


def tags(database: Database) -> set[str]:
    with database.reading() as session:
        return {run.tag for run in list_runs(session, SLUG) if run.uploaded_by}


def test_a_large_run_is_left_to_the_worker_and_the_page_goes_on_to_the_receipt(
    page: Page, server: str, served: Database
) -> None:
    sign_in(page, server, "pat", RUNS)
    # The page learns of nothing before it has been looked at.
    page.route("**/jobs/*.json", lambda route: route.abort())
    page.get_by_role("button", name="Upload runs").click()
    page.get_by_label("Files of runs").set_input_files(large_run("large"))
    page.get_by_role("button", name="Upload the runs").click()
    page.wait_for_url("**/jobs/*")
    expect(page.get_by_role("heading", name="Import of runs")).to_be_visible()
    assert Axe().run(page).violations_count == 0
    page.unroute_all()
    page.wait_for_url(RECEIPT)
    assert tags(served) == {"large"}


@pytest.fixture
def plain(browser: Browser) -> Page:
    return browser.new_context(java_script_enabled=False, locale="en").new_page()


def test_without_script_the_page_of_a_job_loads_itself_anew(plain: Page, server: str, served: Database) -> None:
    sign_in(plain, server, "pat", RUNS)
    plain.get_by_role("button", name="Upload runs").click()
    plain.get_by_label("Files of runs").set_input_files(large_run("plain"))
    plain.get_by_role("button", name="Upload the runs").click()
    plain.wait_for_url(RECEIPT)
    assert tags(served) == {"plain"}
    plain.context.close()
