"""A random walk of a judge in two tabs, while networks are cut and servers killed, compared with the database."""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from browser.faults.collection import TOPIC
from browser.faults.judge_tab import REASON_KEYS, TALLY, JudgeTab
from browser.faults.ledger import decisions_now, stored_ids
from browser.faults.length import LENGTH
from browser.faults.mortal_server import MortalServer
from browser.judging_screen import wait_out_a_bounce
from build import SECRET_KEY, document_file, member, news, pool, run, topic_file
from playwright.sync_api import BrowserContext, Page

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database

ACTIONS = LENGTH.times(60, 1000)
DOCNOS = [f"d{number:03}" for number in range(ACTIONS)]
# What the page puts into its outbox, and which document was on the screen when the key came down.
RECORD = """
    globalThis.done = []
    globalThis.pressed = null
    addEventListener("keydown", () => (pressed = document.querySelector("#docno")?.textContent), true)
    const add = IDBObjectStore.prototype.add
    IDBObjectStore.prototype.add = function (entry, ...more) {
      if (this.name === "acts" && !entry.savedAt) done.push({ ...entry.act, undoes: entry.undoes, pressed })
      return add.call(this, entry, ...more)
    }
"""
WEIGHTS = {
    "grade": 50,
    "reason": 5,
    "later": 3,
    "undo": 12,
    "redo": 6,
    "note": 6,
    "look back": 4,
    "reload": 4,
    "other tab": 5,
    "cut": 3,
    "mend": 3,
    "kill": 1,
}


@dataclass
class Walk:
    """A judge's two tabs, and every act that their pages made, in order."""

    context: BrowserContext
    server: MortalServer
    chance: random.Random
    tabs: list[Page]
    acts: list[dict[str, Any]] = field(default_factory=list)
    is_cut: bool = False
    counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def page(self) -> Page:
        """The tab in front."""
        return self.tabs[-1]

    def step(self) -> None:
        """One action at random."""
        [action] = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        self.counts[action] += 1
        getattr(self, f"_{action.replace(' ', '_')}")()

    def collect(self, *, grade: int | None = None) -> None:
        """Take the acts of the tab in front; a key that grades must have graded the document on the screen."""
        acts = self.page.evaluate("done.splice(0)")
        if grade is not None and acts:
            assert (acts[-1]["docno"], acts[-1]["grade"]) == (acts[-1]["pressed"], grade)
        self.acts += acts

    def press(self, *keys: str) -> None:
        """Press keys, the first after the time of a bounce."""
        wait_out_a_bounce(self.page)
        for key in keys:
            self.page.keyboard.press(key)
        TALLY["presses"] += len(keys)

    def has_document(self) -> bool:
        """Whether there is one to judge."""
        return self.page.locator("#document").is_visible()

    def mend(self) -> None:
        """Let the network be whole again."""
        if self.is_cut:
            self.context.set_offline(offline=False)
        self.is_cut = False

    _mend = mend

    def _grade(self) -> None:
        value = self.chance.randrange(3)
        if self.has_document():
            self.press(str(value))
            self.collect(grade=value)

    def _reason(self) -> None:
        if self.has_document():
            self.press("x", REASON_KEYS[self.chance.randrange(2)])
            self.collect()

    def _later(self) -> None:
        self.press("l")
        self.collect()

    def _undo(self) -> None:
        self.press("u")
        self.page.wait_for_timeout(30)
        self.collect()

    def _redo(self) -> None:
        self.press("Shift+U")
        self.page.wait_for_timeout(30)
        self.collect()

    def _note(self) -> None:
        if self.has_document():
            self.press("n")
            self.page.keyboard.type("a note")
            self.page.keyboard.press("Escape")
            self._grade()

    def _look_back(self) -> None:
        self.press("ArrowLeft")
        self._grade()
        self.press("Enter")
        self.collect()

    def _reload(self) -> None:
        self.mend()
        self.collect()
        self.page.reload()
        self.page.wait_for_selector("html.with-script")

    def _other_tab(self) -> None:
        self.collect()
        self.tabs.reverse()
        self.page.bring_to_front()

    def _cut(self) -> None:
        self.context.set_offline(offline=True)
        self.is_cut = True

    def _kill(self) -> None:
        self.server.kill()
        self._grade()
        self.server.start()


@pytest.fixture
def mortal(served: Database, served_file: Path, tmp_path: Path) -> Iterator[MortalServer]:
    """A server over a topic with a document for each action, that may be killed."""
    with served.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, DOCNOS)
        run(session, "alpha", {"1": DOCNOS})
        pool(session, depth=len(DOCNOS))
        member(session, "jo")
    settings = Settings(secret_key=SECRET_KEY, database_url=sqlite_url(served_file))
    server = MortalServer(settings, tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


# The seed is in the test's name; another one is another walk.
@pytest.mark.parametrize("seed", [20261124])
def test_a_random_walk_ends_with_what_its_pages_did(
    context: BrowserContext, mortal: MortalServer, served: Database, seed: int
) -> None:
    context.add_init_script(RECORD)
    first = JudgeTab.sign_in(context, mortal.address).page
    second = JudgeTab.open(context, mortal.address, path=TOPIC).page
    for page in (first, second):
        page.on("dialog", lambda dialog: dialog.accept())
    walk = Walk(context, mortal, random.Random(seed), [first, second])  # noqa: S311 - the same each time
    for _ in range(ACTIONS):
        walk.step()
    walk.mend()
    for page in walk.tabs:
        walk.collect()
        page.bring_to_front()
        JudgeTab(page, "jo").is_saved()
        walk.tabs.reverse()
    TALLY["actions of the random walk"] += sum(walk.counts.values())
    TALLY["acts compared"] += len(walk.acts)
    _compare(walk.acts, served)


def _compare(acts: list[dict[str, Any]], database: Database) -> None:
    """Every act is stored once, and the last one on each document stands."""
    judged = [act for act in acts if act["kind"] != "later"]
    assert sorted(stored_ids(database)) == sorted(act["id"] for act in judged)
    expected = {act["docno"]: act for act in judged}
    standing = {
        docno: str(act["cannot_judge"] or act["grade"]) for docno, act in expected.items() if act["kind"] != "withdraw"
    }
    assert decisions_now(database) == standing
