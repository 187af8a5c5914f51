"""Moving along the curve of a plan, by keyboard and on a phone, without asking the server again."""

from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from build import SLUG, run
from playwright.sync_api import Browser, Page, Request, expect

from annotator.storage import Database

PLAN = f"/collections/{SLUG}/pool/plan"


def test_moving_the_depth_shows_everything_at_once(page: Page, server: str) -> None:
    sign_in(page, server, "ola", PLAN)
    page.goto(f"{server}{PLAN}?depth=3&hours=0.1")
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks the handler
    slider = page.get_by_role("slider", name="depth")
    expect(slider).to_have_attribute("aria-valuetext", "3: 12 documents, 0.2 hours")
    slider.focus()
    page.keyboard.press("ArrowRight")
    # All of depth 10 is pooled already, and stays.
    expect(page.locator("[data-figure=size]")).to_have_text("12")
    expect(page.locator("[data-figure=added]")).to_have_text("0")
    expect(page.get_by_label("Depth", exact=True)).to_have_value("4")
    expect(page.locator("[data-rows=topics] tr").first.locator("[data-count=size]")).to_have_text("10")
    page.keyboard.press("End")
    expect(page.locator("[data-figure=size]")).to_have_text("12")
    page.get_by_label("Depth", exact=True).fill("1")
    expect(page.locator("[data-amount]")).to_have_text("1")
    expect(page.locator("[data-rows=runs] tr").first.locator("[data-count=only]")).to_have_text("1")
    # A browser may fetch the page's icon late.
    assert [request.url for request in requests if "/collections/" in request.url] == []


def test_a_plan_becomes_a_pool_by_keyboard(page: Page, server: str) -> None:
    sign_in(page, server, "ola", PLAN)
    page.goto(f"{server}{PLAN}?strategy=rrf")
    field = page.get_by_label("Documents to judge")
    field.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    # Enter plans; nothing is built by it.
    page.wait_for_url("**/pool/plan?*amount=3*")
    assert "csrf" not in page.url
    page.get_by_role("button", name="Build this pool").focus()
    page.keyboard.press("Enter")
    page.get_by_text("No new documents: version 1 stays active").wait_for()


def test_without_scripts_the_form_asks_the_server(browser: Browser, server: str) -> None:
    context = browser.new_context(java_script_enabled=False, locale="en", viewport={"width": 390, "height": 844})
    page = context.new_page()
    sign_in(page, server, "ola", PLAN)
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_label("Depth", exact=True).fill("2")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.locator("[data-amount]")).to_have_text("2")
    context.close()


def test_two_runs_of_each_team_are_chosen_at_once_and_kept_in_the_address(
    page: Page, server: str, served: Database
) -> None:
    with served.transaction() as session:
        for tag in ("more", "most"):
            run(session, tag, {"1": ["d00", tag]}, team="red")
    sign_in(page, server, "ola", PLAN)
    page.get_by_text("Contributing runs").first.click()
    count = page.get_by_text("Contributing runs: ")
    expect(count).to_have_text("Contributing runs: 5 of 5")
    page.get_by_role("button", name="Two per team").press("Enter")
    # Two of three red ones, the blue one, and one without a team.
    expect(count).to_have_text("Contributing runs: 4 of 5")
    page.get_by_label("Filter by tag or team").fill("blue")
    expect(page.get_by_role("checkbox", name="beta")).to_be_visible()
    expect(page.get_by_role("checkbox", name="alpha")).to_be_hidden()
    page.get_by_role("button", name="Tick those shown").press("Enter")
    expect(count).to_have_text("Contributing runs: 1 of 5")
    page.get_by_role("button", name="Untick all").press("Enter")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Show the plan").press("Enter")
    page.wait_for_url("**/pool/plan?*per_team=2*")
    expect(page.get_by_label("Runs per team")).to_have_value("2")
    expect(page.locator("[data-rows=runs] tr")).to_have_count(4)


def test_holes_join_the_pool_only_after_their_hours_were_confirmed(page: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        run(session, "holes", {"1": ["d00", "far", "away"]})
    sign_in(page, server, "ola", f"/collections/{SLUG}/pool/holes")
    page.get_by_role("button", name="Add those down to 10 to the pool").press("Enter")
    expect(page.get_by_role("heading", name="Add these documents to the pool?")).to_be_visible()
    expect(page.get_by_text("Hours of judging")).to_be_visible()
    page.get_by_role("link", name="Cancel").press("Enter")
    page.get_by_role("button", name="Add those down to 10 to the pool").press("Enter")
    page.get_by_role("button", name="Add them to the pool").press("Enter")
    expect(page.get_by_text("Added to the pool: 2. Version 2 is now active.")).to_be_visible()
