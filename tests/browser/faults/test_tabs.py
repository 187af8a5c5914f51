"""Tabs: closed with unsent work and opened again, and two at once."""

import pytest
from browser.faults.collection import OTHER_TOPIC, OVERVIEW, TOPIC
from browser.faults.judge_tab import JudgeTab, Press
from browser.faults.ledger import count_stored, decisions_now, nothing_is_lost, wait_until_stored
from browser.faults.length import LENGTH
from playwright.sync_api import BrowserContext, expect

from annotator.storage import Database

LISTEN_TO_TABS = """() => {
  const { person } = JSON.parse(document.querySelector("#batch").textContent)
  const channel = new BroadcastChannel(`annotator-judging-${person}`)
  globalThis.heardOfTabs = new Promise(resolve => (channel.onmessage = () => resolve(true)))
}"""


@pytest.mark.parametrize("path", LENGTH.cases([TOPIC, OTHER_TOPIC, OVERVIEW]))
def test_what_a_closed_tab_could_not_send_is_sent_by_the_next_page(
    context: BrowserContext, server: str, served: Database, path: str
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0")
    tab.is_saved()
    context.set_offline(offline=True)
    tab.say("1", "l", "x2", "u0", "2")
    page = context.new_page()
    tab.page.close(run_before_unload=False)
    assert count_stored(served) == 1
    context.set_offline(offline=False)
    page.goto(f"{server}{path}")
    wait_until_stored(served, page, 6)
    # What was unsent is not shown as if it had not been judged.
    again = JudgeTab.open(context, server)
    again.finish()
    nothing_is_lost(served, [tab, again])


def test_two_tabs_at_once_keep_their_own_order(context: BrowserContext, server: str, served: Database) -> None:
    tabs = [JudgeTab.sign_in(context, server), JudgeTab.open(context, server)]
    one, other = tabs
    for word in ("0", "u1", "x1", "2"):
        for tab in tabs:
            tab.page.bring_to_front()
            tab.say(word)
    context.set_offline(offline=True)
    for word in ("1", "u2"):
        for tab in tabs:
            if tab.has_document:
                tab.say(word)
    one.page.close(run_before_unload=False)
    context.set_offline(offline=False)
    other.finish()
    context.pages[0].goto(f"{server}{OVERVIEW}")
    wait_until_stored(served, context.pages[0], len(one.pressed) + len(other.pressed))
    nothing_is_lost(served, tabs)


def test_what_the_other_tab_has_judged_again_is_not_taken_back(
    context: BrowserContext, server: str, served: Database
) -> None:
    one = JudgeTab.sign_in(context, server)
    docno = one.docno
    one.say("0")
    one.is_saved()
    other = JudgeTab.open(context, server)
    other.page.keyboard.press("ArrowLeft")
    expect(other.page.locator("#docno")).to_have_text(docno)
    one.page.evaluate(LISTEN_TO_TABS)
    other.say("2")
    other.is_saved()
    assert one.page.evaluate("() => heardOfTabs")
    one.page.bring_to_front()
    one.page.keyboard.press("u")
    expect(one.page.locator("#toast")).to_be_visible()
    one.is_saved()
    assert decisions_now(served) == {docno: "2"}


def test_what_the_other_tab_judges_is_not_taken_from_under_the_hands_of_who_gives_a_reason(
    context: BrowserContext, server: str, served: Database
) -> None:
    one, other = JudgeTab.sign_in(context, server), JudgeTab.open(context, server)
    docno = other.docno
    other.page.keyboard.press("x")
    other.page.evaluate(LISTEN_TO_TABS)
    one.page.bring_to_front()
    one.say("0")
    assert other.page.evaluate("() => heardOfTabs")
    other.page.bring_to_front()
    other.page.keyboard.press("b")
    other.pressed.append(Press(docno, "broken"))
    one.is_saved()
    other.is_saved()
    nothing_is_lost(served, [one, other])
