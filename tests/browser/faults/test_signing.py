"""Signed out with unsent work: by a cookie that is gone, a new password, or somebody else at the same browser."""

from collections.abc import Callable

import pytest
from browser.faults.collection import OVERVIEW
from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import count_stored, nothing_is_lost, wait_until_stored
from browser.faults.length import LENGTH
from browser.faults.signing_out import sign_out
from browser.pages import sign_in
from build import HASH, NOW
from playwright.sync_api import BrowserContext

from annotator.storage import Database
from annotator.workflows.people import accounts

ACTS = "**/acts"
Ending = Callable[[BrowserContext, Database], None]


def lose_the_cookie(context: BrowserContext, _: Database) -> None:
    """As a session that has timed out."""
    context.clear_cookies(name="annotator_session")


def end_every_session(_: BrowserContext, database: Database) -> None:
    """As with a new password."""
    with database.transaction() as session:
        accounts.set_password(session, "jo", HASH, at=NOW)


@pytest.mark.parametrize("ends", LENGTH.cases([lose_the_cookie, end_every_session]))
def test_whoever_is_signed_out_in_mid_work_signs_in_and_all_is_sent(
    context: BrowserContext, server: str, served: Database, ends: Ending
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0", "1")
    tab.is_saved()
    ends(context, served)
    tab.say("2", "l", "u0", "x2")
    tab.tells("You are signed out.")
    tab.say_to_the_end()
    assert count_stored(served) == 2
    sign_in(context.new_page(), server, "jo")
    tab.is_saved()
    tab.finish()
    nothing_is_lost(served, [tab])


@pytest.mark.parametrize("is_closed", LENGTH.cases([False, True]))
def test_nothing_of_a_judge_is_sent_in_the_name_of_the_next_one_at_the_same_browser(
    context: BrowserContext, server: str, served: Database, *, is_closed: bool
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0")
    tab.is_saved()
    tab.page.route(ACTS, lambda route: route.abort())
    tab.say("1", "x2", "u0")
    page = context.new_page()
    sign_out(page, server)
    tab.page.unroute_all()
    if is_closed:
        tab.page.close(run_before_unload=False)
    kims = JudgeTab.sign_in(context, server, "kim")
    kims.say("2", "1")
    kims.is_saved()
    if not is_closed:
        LENGTH.pass_time(context, 31)
        tab.tells("kim is signed in here now.")
    page.goto(f"{server}{OVERVIEW}")
    LENGTH.pass_time(context, 31)
    nothing_is_lost(served, [kims, JudgeTab(page, "jo", tab.pressed[:1])])
    sign_out(page, server)
    sign_in(page, server, "jo", OVERVIEW)
    wait_until_stored(served, page, 7)
    nothing_is_lost(served, [tab, kims])
