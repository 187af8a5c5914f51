"""A Chromium that is on this machine, and the real server for it to look at."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from browser.pages import PATIENCE, cat_collection
from build import SECRET_KEY
from kept import FILLED_TABLES, Kept
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from serving import StandingServer
from sqlalchemy import delete, text

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database
from annotator.storage.tables.collections import SQLITE_GUARDS

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Quiet, without the sandbox that root may not have, and without a word to its maker.
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Colour scheme and window: 320 x 256 pixels are 400 % of a small window.
SIZES: dict[str, tuple[Literal["light", "dark"], ViewportSize]] = {
    "desk": ("light", {"width": 1280, "height": 800}),
    "dark-phone": ("dark", {"width": 390, "height": 844}),
    "enlarged": ("light", {"width": 320, "height": 256}),
}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser: of `CHROMIUM`, or found; without one the test is skipped, or fails if it must not be."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = "there is no Chromium on this machine: install one, or name it in the variable CHROMIUM"
        if os.environ.get("ANNOTATOR_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium: str) -> dict[str, object]:
    """What pytest-playwright starts the browser with."""
    return {"executable_path": chromium, "args": BROWSER_ARGUMENTS}


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Everything that is waited for may take long: Playwright's five seconds are too few on a busy machine."""
    opened = Browser.new_context

    def new_context(browser: Browser, **options: Any) -> BrowserContext:  # noqa: ANN401 - as many as Playwright has
        context = opened(browser, **options)
        context.set_default_timeout(PATIENCE)
        return context

    expect.set_options(timeout=PATIENCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Browser, "new_context", new_context)
        yield


@pytest.fixture(scope="session")
def started_browsers() -> Iterator[list[Browser]]:
    """The browsers that this process started: one, and another for each that broke down."""
    started: list[Browser] = []
    yield started
    for browser in started:
        if browser.is_connected():
            browser.close()


@pytest.fixture
def browser(launch_browser: Callable[[], Browser], started_browsers: list[Browser]) -> Browser:
    """The browser of this process; another one when it broke down in an earlier test."""
    if not (started_browsers and started_browsers[-1].is_connected()):
        started_browsers.append(launch_browser())
    return started_browsers[-1]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a browser of its own, whose reader speaks English."""
    context = browser.new_context(locale="en")
    yield context.new_page()
    context.close()


@pytest.fixture(params=SIZES.values(), ids=list(SIZES))
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a window of each size."""
    scheme, size = request.param
    context = browser.new_context(color_scheme=scheme, viewport=size, locale="en", reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def served_file(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The SQLite file that the server has open."""
    path = tmp_path_factory.mktemp("served") / "annotator.sqlite"
    shutil.copy(sqlite_template, path)
    return path


@pytest.fixture(scope="session")
def standing_server(chromium: str, served_file: Path) -> Iterator[StandingServer]:  # noqa: ARG001 - no browser, no server
    """`annotator serve`, started as anybody would, once for all tests of a process."""
    settings = Settings(secret_key=SECRET_KEY, database_url=sqlite_url(served_file))
    command = [sys.executable, "-m", "annotator", "serve"]
    server = StandingServer(command, served_file.parent / "server.log", settings.to_environment())
    yield server
    server.stop()


@pytest.fixture
def running_server(standing_server: StandingServer) -> str:
    """The address of a server that answers."""
    return standing_server.address()


@pytest.fixture
def served(served_file: Path) -> Iterator[Database]:
    """The server's database, emptied for this test."""
    database = Database(sqlite_url(served_file))
    with database.transaction() as session:
        # No line can be removed from the audit log.
        session.execute(text("DROP TRIGGER audit_event_stays"))
        for table in reversed(FILLED_TABLES):
            session.execute(delete(table))
        session.execute(text(SQLITE_GUARDS[0]))
    yield database
    database.close()


@pytest.fixture
def server(running_server: str, served: Database, kept: Kept) -> str:
    """The address of a server over the collection of cats."""
    kept.fill(served, cat_collection)
    return running_server
