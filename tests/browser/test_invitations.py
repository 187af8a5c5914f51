"""From an organiser's link to the account of whoever opens it, with the keyboard alone; and a token of one's own."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from browser.test_every_page import DESK, PHONE, faults_of
from build import SLUG
from playwright.sync_api import Browser, Page, expect

AXE = Axe().axe_script
PASSWORD = "seventeen green umbrellas"


def faults(page: Page, place: str) -> list[str]:
    """What is wrong with the open page, on a phone in the dark and on a desk."""
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(AXE)
    found = faults_of(page, f"{place} (dark phone)")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found + faults_of(page, f"{place} (light desk)")


def test_a_link_is_made_and_taken_by_keyboard(page: Page, server: str, browser: Browser) -> None:
    sign_in(page, server, "ola", f"/collections/{SLUG}/invitations")
    page.get_by_role("button", name="Invite somebody").press("Enter")
    panel = page.get_by_role("region", name="Invite somebody")
    panel.get_by_label("Role").focus()
    page.keyboard.type("judge")
    panel.get_by_label("For whom").focus()
    page.keyboard.type("Nora")
    page.keyboard.press("Enter")
    link = page.get_by_role("textbox", name="The link")
    link.wait_for()
    # It stands ready to be copied.
    expect(link).to_be_focused()
    found = faults(page, "invitations")
    address = link.input_value()
    assert re.fullmatch(rf"{re.escape(server)}/join\?key=[\w-]{{43}}", address)
    guest = browser.new_context().new_page()
    guest.goto(address)
    assert guest.url == f"{server}/join"
    found += faults(guest, "join")
    guest.get_by_label("Name").focus()
    guest.keyboard.type("nora")
    for _ in range(2):
        guest.keyboard.press("Tab")
        guest.keyboard.type(PASSWORD)
    guest.keyboard.press("Enter")
    guest.get_by_text("Account “nora” created. Welcome!").wait_for()
    guest.get_by_role("heading", name="Your judging").wait_for()
    guest.context.close()
    assert found == []


@pytest.mark.parametrize("scopes", [("read",), ("read", "judge")])
def test_a_token_is_made_with_what_was_ticked(page: Page, server: str, scopes: tuple[str, ...]) -> None:
    sign_in(page, server, "jo", "/account/tokens")
    page.get_by_label("Purpose").fill("script")
    for scope in scopes:
        page.get_by_label(f"{scope}:").check()
    page.get_by_role("button", name="Create the token").click()
    assert page.get_by_role("textbox", name="The token").input_value().startswith("ann_")
    assert page.get_by_role("row").nth(1).get_by_role("cell").first.inner_text() == ", ".join(scopes)
    assert faults(page, "tokens") == []
