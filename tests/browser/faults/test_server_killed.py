"""The server is killed with `kill -9`, again and again, at any moment, and started on the same file and port."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.faults.collection import two_topics
from browser.faults.judge_tab import TALLY, JudgeTab
from browser.faults.ledger import count_stored, nothing_is_lost
from browser.faults.length import LENGTH
from browser.faults.mortal_server import MortalServer
from build import SECRET_KEY
from playwright.sync_api import BrowserContext

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database

WORDS = ("0", "1", "2", "x1", "x2", "l")
UNDOING = ("u0", "u1", "u2", "ux2")


@pytest.fixture
def mortal(served: Database, served_file: Path, tmp_path: Path) -> Iterator[MortalServer]:
    """A server over the collection of two topics, that a test may kill."""
    two_topics(served)
    settings = Settings(secret_key=SECRET_KEY, database_url=sqlite_url(served_file))
    server = MortalServer(settings, tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


def say_something(tab: JudgeTab, chance: random.Random, count: int) -> None:
    """Say at random, as long as there is a document; undo what was judged last in this tab."""
    for _ in range(count):
        if tab.has_document:
            can_undo = bool(tab.pressed) and tab.pressed[-1].said != "later"
            tab.say(chance.choice(WORDS + UNDOING if can_undo else WORDS))


@pytest.mark.parametrize("seed", range(LENGTH.times(1, 4)))
def test_a_server_that_is_killed_while_it_stores_loses_nothing(
    context: BrowserContext, mortal: MortalServer, served: Database, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    tab = JudgeTab.sign_in(context, mortal.address)
    for _ in range(LENGTH.times(1, 8)):
        say_something(tab, chance, chance.randrange(1, 3))
        time.sleep(chance.random() * 0.03)
        mortal.kill()
        say_something(tab, chance, chance.randrange(3))
        # Of what is unsent something is stored already.
        TALLY["killed between storing and answering"] += count_stored(served) + tab.unsent > len(tab.pressed)
        mortal.start()
        if chance.random() < 0.5:
            tab.is_saved()
    tab.finish()
    nothing_is_lost(served, [tab])
