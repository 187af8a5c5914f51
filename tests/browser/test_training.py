"""The training in a browser: by keys alone, without script, accessible at every step."""

from browser.judging_screen import faults
from browser.pages import loaded, sign_in
from build import LIMIT, SLUG
from playwright.sync_api import Browser, Page, ViewportSize, expect

from annotator.files import InputFile
from annotator.storage import Database
from annotator.workflows.judging import training

PHONE: ViewportSize = {"width": 390, "height": 844}
PAGE = f"/collections/{SLUG}/training"


def make_training(database: Database) -> None:
    """The right grades are 2 and 0; half of them right passes."""
    file = InputFile("t.tsv", b"1\td00\t2\tThe first line says so.\n1\td01\t0\tIt is about dogs.\n")
    with database.transaction() as session:
        training.store_training(session, SLUG, training.check_training(session, SLUG, file, unpacked_limit=LIMIT))
        training.set_pass_mark(session, SLUG, 50)


def test_a_judge_trains_by_keys_alone(page: Page, server: str, served: Database) -> None:
    make_training(served)
    sign_in(page, server, "jo", PAGE)
    expect(page.get_by_role("link", name="Begin the training")).to_be_focused()
    page.keyboard.press("Enter")
    loaded(page, page.get_by_text("Training: 1 of 2"))
    page.keyboard.press("9")  # no grade of this scale
    page.keyboard.press("n")
    page.keyboard.type("1 and 2")  # no grades either
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.type("second")
    page.keyboard.press("Enter")
    expect(page.locator("#find-state")).to_have_text("1 of 1")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("cannot judge: choose a reason")
    expect(page.locator("#keys")).not_to_contain_text("the document comes back at the end")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    loaded(page, page.get_by_role("heading", name="Not right."))
    expect(page.get_by_text("The first line says so.")).to_be_visible()
    expect(page.get_by_role("link", name="Next document")).to_be_focused()
    page.keyboard.press("Enter")
    loaded(page, page.get_by_text("Training: 2 of 2"))
    page.keyboard.press("x")
    page.keyboard.press("m")
    loaded(page, page.get_by_role("heading", name="Not right."))
    expect(page.get_by_text("Cannot judge: It has no text")).to_be_visible()
    expect(page.get_by_role("link", name="Show the results")).to_be_focused()
    page.keyboard.press("Enter")
    loaded(page, page.get_by_role("heading", name="Wrong answers of attempt 1: 2"))
    page.get_by_role("row", name="d01").get_by_role("link").click()
    loaded(page, page.locator("#document").get_by_text("Document 1 tells of cats."))


def test_a_judge_trains_without_script_on_a_phone(browser: Browser, server: str, served: Database) -> None:
    make_training(served)
    context = browser.new_context(java_script_enabled=False, viewport=PHONE, color_scheme="dark", locale="en")
    page = context.new_page()
    page.goto(f"{server}/sign-in?next={PAGE}")
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Begin the training").click()
    for grade, verdict in (("Highly relevant", "Right."), ("Relevant", "Not right.")):
        page.get_by_role("button", name=grade, exact=False).last.click()
        page.get_by_role("heading", name=verdict, exact=True).wait_for()
        page.locator("a[data-key=Enter]").click()
    page.get_by_text("You have passed the training.").wait_for()
    context.close()


def test_each_step_is_accessible_and_fits_a_phone(browser: Browser, server: str, served: Database) -> None:
    make_training(served)
    context = browser.new_context(viewport=PHONE, color_scheme="dark", locale="en")
    page = context.new_page()
    sign_in(page, server, "jo", f"{PAGE}/1")
    assert faults(page) == []
    page.keyboard.press("1")
    loaded(page, page.get_by_role("heading", name="Not right."))
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.goto(f"{server}{PAGE}")
    assert faults(page) == []
    context.close()
