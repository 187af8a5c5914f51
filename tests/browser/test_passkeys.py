"""Passkeys in a real browser, with a virtual device: made, used after the password and alone, and refused."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from browser.test_every_page import DESK, PHONE, faults_of
from build import PASSWORD, SECRET_KEY, member, news
from playwright.sync_api import CDPSession, Page, expect
from serving import running

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database, Role
from annotator.storage.site.schema import prepare_schema

AXE = Axe().axe_script
INTERNAL = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a server at localhost, where browsers use passkeys without https."""
    database = Database(sqlite_url(tmp_path / "annotator.sqlite"))
    prepare_schema(database)
    with database.transaction() as session:
        news(session)
        member(session, "jo", Role.JUDGE)
    database.close()
    settings = Settings(secret_key=SECRET_KEY, database_url=sqlite_url(tmp_path / "annotator.sqlite"), workers=1)
    command = [sys.executable, "-m", "annotator", "serve", "--no-worker"]
    with running(command, tmp_path / "server.log", settings.to_environment()) as server:
        yield server.address.replace("127.0.0.1", "localhost")


def plug_in(page: Page, **others: str | bool) -> tuple[CDPSession, str]:
    """A virtual device of the browser, whose owner is present and known to it."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = INTERNAL | {"isUserVerified": True, "automaticPresenceSimulation": True} | others
    made = devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devices, str(made["authenticatorId"])


def faults(page: Page, place: str) -> list[str]:
    """What is wrong with the open page, on a phone in the dark and on a desk."""
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(AXE)
    found = faults_of(page, f"{place} (dark phone)")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found + faults_of(page, f"{place} (light desk)")


def begin(page: Page, site: str, name: str = "laptop", *, has_passkey: bool = False) -> None:
    page.goto(f"{site}/account/passkeys")
    page.get_by_label("Name of the passkey").fill(name)
    page.get_by_label("Current password").first.fill(PASSWORD)
    if has_passkey:
        page.get_by_role("button", name="Use a passkey in place of a code").first.click()
        page.get_by_text("Confirmed by a passkey.").wait_for()
    page.get_by_role("button", name="Add a passkey").click()


def give_password(page: Page, site: str) -> None:
    """Sign in with name and password, up to the page that asks for the second factor."""
    page.goto(f"{site}/sign-in?next=/account")
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Use a passkey").wait_for()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_text("You have signed out.").wait_for()


def test_a_passkey_is_made_and_used_with_and_without_the_password(page: Page, site: str) -> None:
    devices, device = plug_in(page)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    sign_in(page, site, "jo", "/account")
    begin(page, site)
    page.get_by_role("button", name="Create the passkey").wait_for()
    found = faults(page, "creating")
    page.get_by_role("button", name="Create the passkey").press("Enter")
    codes = page.get_by_role("textbox", name="Your recovery codes").input_value()
    assert len(codes.split()) == 10
    found += faults(page, "with recovery codes")
    [stored] = devices.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
    assert (stored["rpId"], stored["isResidentCredential"]) == ("localhost", True)

    begin(page, site, "laptop again", has_passkey=True)
    page.get_by_role("button", name="Create the passkey").click()
    page.get_by_text("This device has a passkey for your account already.").wait_for()

    sign_out(page)
    give_password(page, site)
    found += faults(page, "after the password")
    page.get_by_role("button", name="Use a passkey").press("Enter")
    page.get_by_text("You are signed in as jo.").wait_for()

    sign_out(page)
    page.goto(f"{site}/sign-in?next=/account/passkeys")
    found += faults(page, "sign-in")
    page.get_by_role("button", name="Sign in with a passkey").press("Enter")
    page.get_by_text("laptop").first.wait_for()
    assert page.url == f"{site}/account/passkeys"

    page.goto(f"{site}/account/second-factor")
    found += faults(page, "second factor")
    page.goto(f"{site}/account/passkeys")
    found += faults(page, "passkeys")
    page.get_by_label("Current password").last.fill(PASSWORD)
    page.get_by_role("button", name="Use a passkey in place of a code").last.click()
    page.get_by_text("Confirmed by a passkey.").wait_for()
    page.get_by_role("button", name="Remove the passkey").click()
    page.get_by_text("The passkey was removed.").wait_for()
    assert page.get_by_role("button", name="Rename").count() == 0
    assert found == []
    assert complaints == []


def test_a_dialogue_that_is_closed_and_a_device_without_check_get_a_sentence(page: Page, site: str) -> None:
    devices, device = plug_in(
        page, hasUserVerification=False, isUserVerified=False, hasResidentKey=False, transport="usb"
    )
    sign_in(page, site, "jo", "/account")
    begin(page, site)
    page.get_by_role("button", name="Create the passkey").click()
    page.get_by_role("textbox", name="Your recovery codes").wait_for()
    sign_out(page)
    # The device is not plugged in, so that the dialogue ends without a passkey.
    devices.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": device})
    plug_in(page)
    give_password(page, site)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_text("No passkey was used: the dialogue was closed, or took too long.").wait_for()
    expect(page.get_by_role("button", name="Use a passkey")).to_be_enabled()


def test_without_passkeys_or_scripts_the_password_signs_in(page: Page, site: str) -> None:
    page.add_init_script("delete globalThis.PublicKeyCredential")
    page.goto(f"{site}/sign-in")
    page.get_by_text("This browser has no passkeys: use another one, or go another way.").wait_for()
    assert page.get_by_role("button", name="Sign in with a passkey").count() == 0
    sign_in(page, site, "jo", "/account")
    page.get_by_text("You are signed in as jo.").wait_for()
    begin(page, site)
    page.get_by_text("This browser has no passkeys").wait_for()
    browser = page.context.browser
    assert browser is not None
    with browser.new_context(java_script_enabled=False) as context:
        plain = context.new_page()
        sign_in(plain, site, "jo", "/account")
        plain.get_by_text("You are signed in as jo.").wait_for()
        begin(plain, site)
        plain.get_by_text("Passkeys need JavaScript in the browser.").wait_for()
