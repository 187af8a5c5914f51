"""The network fails in mid-work: cut, out of reach, or silent; or it loses the answers."""

from collections.abc import Callable

import pytest
from browser.faults.judge_tab import TALLY, JudgeTab
from browser.faults.ledger import count_stored, nothing_is_lost
from browser.faults.length import LENGTH
from playwright.sync_api import BrowserContext, Route

from annotator.storage import Database

Breaking = Callable[[BrowserContext], None]

FIVE_MINUTES = 300
EVERYTHING = "**/collections/**"
ACTS = "**/acts"


def cut(context: BrowserContext) -> None:
    context.set_offline(offline=True)


def mend(context: BrowserContext) -> None:
    context.set_offline(offline=False)


def put_out_of_reach(context: BrowserContext) -> None:
    """Nothing arrives, and the browser is not told that it has no network."""
    context.route(EVERYTHING, lambda route: route.abort("connectionrefused"))


def fall_silent(context: BrowserContext) -> None:
    """Requests go out and nothing ever comes back."""
    context.route(EVERYTHING, lambda _: None)


def put_in_reach(context: BrowserContext) -> None:
    context.unroute_all()


@pytest.mark.parametrize(
    ("breaks", "heals"),
    LENGTH.cases([(cut, mend), (put_out_of_reach, put_in_reach), (fall_silent, put_in_reach)]),
)
def test_a_network_that_fails_for_five_minutes_costs_nothing(
    context: BrowserContext, server: str, served: Database, breaks: Breaking, heals: Breaking
) -> None:
    tab = JudgeTab.sign_in(context, server)
    tab.say("0", "x1", "2")
    tab.is_saved()
    breaks(context)
    tab.say("1", "l", "x2")
    tab.say_to_the_end()
    LENGTH.pass_time(context, FIVE_MINUTES)
    tab.tells("All loaded documents are judged.")
    tab.tells("The server does not answer.")
    assert count_stored(served) == 3
    assert tab.unsent == len(tab.pressed) - 3 >= 4
    heals(context)
    tab.is_saved()
    tab.finish()
    nothing_is_lost(served, [tab])


# Either the connection ends, or a gateway says that it has no answer.
@pytest.mark.parametrize("is_told", LENGTH.cases([False, True]))
def test_an_answer_that_is_lost_after_the_server_has_stored_it_stores_nothing_twice(
    context: BrowserContext, server: str, served: Database, *, is_told: bool
) -> None:
    lost: list[bool] = []

    def lose(route: Route) -> None:
        answer = route.fetch()
        # Every second one gets through.
        lost.append(len(lost) % 2 == 0)
        if not lost[-1]:
            route.fulfill(response=answer)
        elif is_told:
            route.fulfill(status=502, body="Bad gateway")
        else:
            route.abort("connectionreset")

    context.route(ACTS, lose)
    tab = JudgeTab.sign_in(context, server)
    tab.say("0", "l", "u2")
    tab.finish()
    assert sum(lost) >= 1
    TALLY["answers lost"] += sum(lost)
    nothing_is_lost(served, [tab])
