"""A clock that is wrong by hours and jumps in mid-work: order and times of the judgements do not follow it."""

from datetime import datetime, timedelta

from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import nothing_is_lost
from browser.faults.length import LENGTH
from playwright.sync_api import BrowserContext
from sqlalchemy import select

from annotator.storage import Database, Judgement

HOURS = (-5, 9, -30, 0, 700, -1000, 2, -2)
LONGEST_WAIT = timedelta(days=30)


def test_a_clock_that_jumps_back_and_forth_changes_neither_order_nor_the_last_word(
    context: BrowserContext, server: str, served: Database
) -> None:
    tab = JudgeTab.sign_in(context, server)
    for round_ in range(LENGTH.times(1, 4)):
        context.set_offline(offline=round_ % 2 == 0)
        for hours in HOURS:
            tab.page.clock.set_system_time(datetime.now().astimezone() + timedelta(hours=hours))
            if tab.has_document:
                tab.say("0" if hours < 0 else "u2")
    context.set_offline(offline=False)
    tab.finish()
    nothing_is_lost(served, [tab])
    with served.reading() as session:
        judgements = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    last = {press.docno: press.said for press in tab.pressed}
    assert sorted(str(one.grade) for one in judgements if one.current) == sorted(last.values())
    assert all(one.received_at - LONGEST_WAIT <= one.judged_at <= one.received_at for one in judgements)
