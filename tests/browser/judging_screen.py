"""Hands on the judging screen: open it, press keys once it listens, wait until all is saved, look what is stored."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from build import SLUG
from playwright.sync_api import Page, expect
from sqlalchemy import select

from annotator.storage import Database, Judgement

JUDGE = f"/collections/{SLUG}/judge"
TOPIC = f"{JUDGE}/topics/1"


def open_screen(page: Page, server: str, path: str = TOPIC) -> None:
    """Sign in as jo and wait until the page listens to keys."""
    sign_in(page, server, "jo", path)
    listening(page)


def listening(page: Page) -> None:
    """Wait until the page listens to keys; before that a person would press them again."""
    page.wait_for_selector("html.with-script")


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, as fast as a hand can."""
    for key in keys:
        wait_out_a_bounce(page)
        page.keyboard.press(key)


def wait_out_a_bounce(page: Page) -> None:
    """The screen ignores a decision within 120 ms of the one before, which no hand presses twice."""
    page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 125))")


def judge(page: Page, keys: str) -> None:
    """Press the keys of grades, each when there is a document to be judged."""
    for key in keys:
        expect(page.locator("#document")).to_be_visible()
        press(page, key)


def title(page: Page) -> str:
    """The title of the document on the screen."""
    return page.locator("#document-title").inner_text()


def saved(page: Page) -> None:
    """Wait until the screen says that everything is saved."""
    expect(page.locator("#state")).to_have_text("saved")


def stored(database: Database) -> list[Judgement]:
    """What the judge said on the screen, in order; the imported labels come before."""
    with database.reading() as session:
        return list(
            session.scalars(select(Judgement).where(Judgement.client_id.not_like("file-%")).order_by(Judgement.id))
        )


def faults(page: Page) -> list[str]:
    """What is wrong with the page as it is now."""
    # There the browser chooses colours that the tool does not see.
    has_own_colours = page.evaluate("!matchMedia('(forced-colors: active)').matches")
    rules = {"color-contrast": {"enabled": has_own_colours}}
    violations = Axe().run(page, options={"rules": rules}).response["violations"]
    found = [f"{one['id']}: {node['html']}" for one in violations for node in one["nodes"]]
    width, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [*found, *([f"{width} wide in a window of {room}"] if width > room else [])]


def module(page: Page, name: str, function: str, argument: object = None) -> Any:  # noqa: ANN401 - whatever it tells
    """What a JavaScript function makes of a module of the screen."""
    return page.evaluate(
        f"async (argument) => ({function})(await import('/static/judging/{name}.js'), argument)", argument
    )
