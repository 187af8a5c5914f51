"""The browser is killed as soon as it has written down a key press, and started again with its profile."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import BROWSER_ARGUMENTS
from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import nothing_is_lost
from browser.faults.mortal_browser import MortalBrowser
from playwright.sync_api import Playwright

from annotator.storage import Database


@pytest.fixture
def mortal(playwright: Playwright, chromium: str, tmp_path: Path) -> Iterator[MortalBrowser]:
    """A browser that a test may kill."""
    browser = MortalBrowser(playwright, [chromium, *BROWSER_ARGUMENTS, "--lang=en"], tmp_path / "profile")
    yield browser
    browser.kill()


@pytest.mark.parametrize("seed", range(3))
def test_a_browser_that_is_killed_once_it_has_written_a_press_down_keeps_it(
    mortal: MortalBrowser, server: str, served: Database, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    tabs = []
    for _ in range(6):
        context = mortal.start()
        tab = JudgeTab.sign_in(context, server)
        tab.is_saved()
        tabs.append(tab)
        # Nothing is sent before the browser ends, or only a part.
        tab.say(*chance.choices("012", k=chance.randrange(2)))
        context.route("**/acts", lambda route: route.abort())
        tab.say(*chance.choices("012", k=chance.randrange(1, 3)))
        tab.is_kept()
        mortal.kill()
    context = mortal.start()
    last = JudgeTab.sign_in(context, server)
    last.finish()
    nothing_is_lost(served, [*tabs, last])
