"""A page ends in the very moment of a key press."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import nothing_is_lost, wait_until_stored
from browser.pages import sign_in
from playwright.sync_api import BrowserContext, Dialog, Page
from playwright.sync_api import Error as PageHasGone

from annotator.storage import Database

TIMES = 8


def close(page: Page) -> None:
    page.close(run_before_unload=False)


def reload(page: Page) -> None:
    page.reload()


def go_elsewhere(page: Page) -> None:
    page.goto("about:blank")


def crash(page: Page) -> None:
    with suppress(PageHasGone):
        page.goto("chrome://crash")


@pytest.mark.parametrize("leave", [close, reload, go_elsewhere, crash])
def test_a_key_pressed_in_the_last_moment_of_a_page_counts(
    context: BrowserContext, server: str, served: Database, leave: Callable[[Page], None]
) -> None:
    page = context.new_page()
    sign_in(page, server, "jo")
    # Nothing is sent before the page ends.
    context.route("**/acts", lambda route: route.abort())
    tabs = []
    for _ in range(TIMES):
        tab = JudgeTab.open(context, server)
        tabs.append(tab)
        tab.page.on("dialog", Dialog.accept)
        tab.say("0", "u1")
        leave(tab.page)
        if leave is not close:
            tab.page.close(run_before_unload=False)
    context.unroute_all()
    JudgeTab.open(context, server).is_saved()
    wait_until_stored(served, page, 3 * TIMES)
    nothing_is_lost(served, tabs)
