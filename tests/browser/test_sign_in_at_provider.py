"""Signing in at a real provider in a real browser, under the policy of the pages: no form may lead to another site."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import sign_in
from browser.test_every_page import DESK, PHONE, faults_of
from build import PASSWORD, SECRET_KEY, member, news, user
from identity_server import CLIENT, SECRET, IdentityServer
from playwright.sync_api import ConsoleMessage, Page
from serving import running

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database, Role
from annotator.storage.site.schema import prepare_schema

AXE = Axe().axe_script
NEW_PASSWORD = "seventeen green umbrellas"


@pytest.fixture
def site(identity_server: IdentityServer, tmp_path: Path) -> Iterator[str]:
    """The address of a server whose people may sign in with Example University."""
    database = Database(sqlite_url(tmp_path / "annotator.sqlite"))
    prepare_schema(database)
    with database.transaction() as session:
        news(session)
        user(session, "ola", administrator=True)
        member(session, "jo", Role.JUDGE)
    database.close()
    settings = Settings(
        secret_key=SECRET_KEY,
        database_url=sqlite_url(tmp_path / "annotator.sqlite"),
        workers=1,
        oidc_issuer=identity_server.site,
        oidc_client_id=CLIENT,
        oidc_client_secret=SECRET,
        oidc_name="Example University",
    )
    command = [sys.executable, "-m", "annotator", "serve", "--no-worker"]
    with running(command, tmp_path / "server.log", settings.to_environment()) as server:
        yield server.address


def faults(page: Page, place: str) -> list[str]:
    """What is wrong with the open page, on a phone in the dark and on a desk."""
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(AXE)
    found = faults_of(page, f"{place} (dark phone)")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found + faults_of(page, f"{place} (light desk)")


def test_an_account_is_linked_and_then_opened_at_the_provider(
    page: Page, site: str, identity_server: IdentityServer
) -> None:
    identity_server.asks = True
    complaints: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        # The provider has no icon, which is no concern of the site.
        if message.type == "error" and not message.location["url"].startswith(identity_server.site):
            complaints.append(message.text)

    page.on("console", complain)
    page.goto(f"{site}/sign-in?next=/account")
    found = faults(page, "sign-in")
    page.get_by_role("link", name="Sign in with Example University").click()
    page.get_by_role("heading", name="Provider").wait_for()
    page.get_by_role("link", name="Allow").click()
    page.get_by_role("heading", name="No account is linked with you yet").wait_for()
    page.get_by_text("Example University knows you as “ola@uni.example”.").wait_for()
    found += faults(page, "unknown identity")
    # The status of the page is the only thing that the browser complains of.
    assert [one for one in complaints if "403" not in one] == []
    complaints.clear()
    page.get_by_role("link", name="Sign in with name and password").click()
    page.get_by_label("Name").fill("jo")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Link with Example University").click()
    page.get_by_role("link", name="Allow").click()
    page.get_by_role("heading", name="Link your account").wait_for()
    found += faults(page, "linking")
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Link").click()
    page.get_by_text("“ola@uni.example” opens your account now.").wait_for()
    found += faults(page, "linked")
    page.goto(f"{site}/account")
    found += faults(page, "account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.goto(f"{site}/sign-in?next=/account")
    page.get_by_role("link", name="Sign in with Example University").click()
    page.get_by_role("link", name="Allow").click()
    page.get_by_text("You are signed in as jo.").wait_for()
    assert page.url == f"{site}/account"
    assert found == []
    assert complaints == []


def test_an_invitation_is_accepted_at_the_provider(page: Page, site: str, identity_server: IdentityServer) -> None:
    sign_in(page, site, "ola", "/people/invitations")
    page.get_by_label("For whom").fill("Nora")
    page.get_by_role("button", name="Create the link").click()
    address = page.get_by_role("textbox", name="The link").input_value()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    page.goto(address)
    found = faults(page, "invitation")
    page.get_by_role("link", name="Go on with Example University").click()
    page.get_by_text("You signed in with Example University as “ola@uni.example”").wait_for()
    found += faults(page, "invitation with identity")
    page.get_by_label("Name").fill("nora")
    for box in ("Password", "Password, again"):
        page.get_by_label(box, exact=True).fill(NEW_PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    page.get_by_text("Account “nora” created. Welcome!").wait_for()
    page.goto(f"{site}/account")
    page.get_by_text("These open your account as well: ola@uni.example.").wait_for()
    assert identity_server.authorizations[0]["redirect_uri"] == f"{site}/sign-in/provider/return"
    assert found == []
