"""Judgements that arrive several times at once, or when somebody else has judged the documents."""

from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import nothing_is_lost, stored_late
from browser.faults.signing_out import sign_out
from browser.pages import sign_in
from playwright.sync_api import Browser, BrowserContext, Route

from annotator.storage import Database

ACTS = "**/acts"


def test_a_judgement_that_arrives_several_times_at_once_is_stored_once(
    context: BrowserContext, server: str, served: Database
) -> None:
    def send_three_times(route: Route) -> None:
        answers = [route.fetch() for _ in range(3)]
        assert [answer.json()["acknowledged"] for answer in answers] == [answers[0].json()["acknowledged"]] * 3
        route.fulfill(response=answers[0])

    context.route(ACTS, send_three_times)
    tab = JudgeTab.sign_in(context, server)
    tab.say("0", "1", "u2", "x3")
    tab.finish()
    nothing_is_lost(served, [tab])


def test_what_is_sent_after_somebody_else_has_judged_the_same_documents_is_stored_as_late(
    browser: Browser, context: BrowserContext, server: str, served: Database
) -> None:
    page = context.new_page()
    sign_in(page, server, "jo")
    tab = JudgeTab.open(context, server)
    tab.say("0")
    tab.is_saved()
    tab.page.route(ACTS, lambda route: route.abort())
    tab.say("1", "x2", "2")
    sign_out(page, server)
    kims_browser = browser.new_context(locale="en")
    kims = JudgeTab.sign_in(kims_browser, server, "kim")
    kims.finish()
    kims_browser.close()
    assert {press.docno for press in tab.pressed[1:]} <= {press.docno for press in kims.pressed}
    tab.page.unroute_all()
    sign_in(page, server, "jo")
    tab.is_saved()
    nothing_is_lost(served, [tab, kims])
    assert stored_late(served, "jo") == [False, True, True, True]
