"""The organiser takes a judge's role away, or closes the collection, while judgements are on their way."""

from browser.faults.collection import let_judge
from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import count_stored, nothing_is_lost
from build import SLUG
from playwright.sync_api import BrowserContext, expect

from annotator.storage import Database
from annotator.workflows.collections import collection


def test_a_judge_who_is_removed_and_taken_back_loses_nothing(
    context: BrowserContext, server: str, served: Database
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0")
    tab.is_saved()
    let_judge(served, "jo", may=False)
    tab.say("1", "x2")
    tab.tells("You are not a judge of this collection any more")
    tab.say("u0", "2")
    assert (count_stored(served), tab.unsent) == (1, 5)
    let_judge(served, "jo", may=True)
    tab.is_saved()
    tab.finish()
    nothing_is_lost(served, [tab])


def test_what_was_judged_when_the_collection_closed_is_sent_when_it_is_open_again(
    context: BrowserContext, server: str, served: Database
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0")
    tab.is_saved()
    with served.transaction() as session:
        collection.close_collection(session, SLUG)
    tab.say("1", "l", "x2", "u0")
    refused = tab.page.get_by_role("button", name="4 judgements were refused")
    expect(refused).to_be_visible()
    assert (count_stored(served), tab.unsent) == (1, 4)
    refused.click()
    expect(tab.page.locator("#refused-list").get_by_text("closed").first).to_be_visible()
    with served.transaction() as session:
        collection.reopen_collection(session, SLUG)
    tab.page.get_by_role("button", name="Send them again").click()
    tab.is_saved()
    tab.page.keyboard.press("Escape")
    tab.page.reload()
    again = JudgeTab.on(tab.page)
    again.finish()
    nothing_is_lost(served, [tab, again])
