"""A browser's tab with a judge at the keyboard; every key they press is written down."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from browser.faults.collection import TOPIC
from browser.faults.length import LENGTH, LONGEST_PAUSE
from browser.judging_screen import wait_out_a_bounce
from browser.pages import PATIENCE, sign_in
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import TimeoutError as TooLate

# Which document is on the screen in the very moment in which a key comes down.
LISTEN = """
    globalThis.pressedOn = []
    addEventListener("keydown", () => {
      const isShown = document.querySelector("#document")?.checkVisibility() ?? false
      pressedOn.push(isShown ? document.querySelector("#docno").textContent : null)
    }, true)
"""
OVER = "#over:not([hidden]):not([aria-busy])"
# How many keys were pressed that say something, and how often something was broken on purpose.
TALLY: Counter[str] = Counter()
IS_KEPT = """unsent => new Promise(resolve => {
  indexedDB.open("annotator").onsuccess = ({ target: { result: database } }) => {
    const count = database.transaction("acts").objectStore("acts").count()
    count.onsuccess = () => {
      database.close()
      resolve(count.result >= unsent)
    }
  }
})"""
REASONS = ("broken", "language", "no-text", "other")
REASON_KEYS = "bfmo"


@dataclass(frozen=True)
class Press:
    """What was said of a document: a grade as its digit, a reason as its word, “withdrawn” or “later”."""

    docno: str
    said: str


@dataclass
class JudgeTab:
    """A page on the judging screen; `pressed` is what its judge said since it was loaded, in their order."""

    page: Page
    judge: str
    pressed: list[Press] = field(default_factory=list)

    @classmethod
    def open(cls, context: BrowserContext, server: str, judge: str = "jo", path: str = TOPIC) -> "JudgeTab":
        """Open the screen in a new tab and wait until it listens to keys."""
        page = context.new_page()
        page.add_init_script(LISTEN)
        page.goto(f"{server}{path}")
        return cls.on(page, judge)

    @classmethod
    def sign_in(cls, context: BrowserContext, server: str, judge: str = "jo") -> "JudgeTab":
        """Sign in with a new tab and open the screen there."""
        page = context.new_page()
        page.add_init_script(LISTEN)
        sign_in(page, server, judge, TOPIC)
        return cls.on(page, judge)

    @classmethod
    def on(cls, page: Page, judge: str = "jo") -> "JudgeTab":
        """The tab of a page that has just been loaded."""
        page.wait_for_selector("html.with-script", timeout=PATIENCE)
        return cls(page, judge)

    @property
    def docno(self) -> str:
        """The document on the screen."""
        return self.page.locator("#docno").inner_text()

    @property
    def has_document(self) -> bool:
        """Whether there is one to judge."""
        return self.page.locator("#document").is_visible()

    @property
    def unsent(self) -> int:
        """How many judgements the screen says are unsent."""
        words = self.page.locator("#state").inner_text()
        return 0 if words == "saved" else int(words.split()[0])

    def say(self, *words: str) -> None:
        """Press what says each of these: a grade's digit, “x1” for a reason, “l” for later, “u2” after an undo."""
        for word in words:
            # A decision within 120 ms of the one before is a bounce of the key.
            wait_out_a_bounce(self.page)
            for key in word[:-1] + REASON_KEYS[int(word[-1]) - 1] if "x" in word else word:
                self.page.keyboard.press(key)
            *_, docno = self.page.evaluate("pressedOn.splice(0)")
            self._write_down(docno, word)

    def _write_down(self, docno: str | None, word: str) -> None:
        TALLY["presses"] += 1
        assert docno is not None, f"“{word}” was pressed where no document was"
        if word.startswith("u") and self.pressed and self.pressed[-1].said != "later":
            # The document that is then judged again. A deferral is taken back in the browser only.
            self.pressed.append(Press(docno, "withdrawn"))
        if "x" in word:
            self.pressed.append(Press(docno, REASONS[int(word[-1]) - 1]))
        elif word == "l":
            self.pressed.append(Press(docno, "later"))
        else:
            self.pressed.append(Press(docno, word[-1]))

    def say_to_the_end(self, words: Sequence[str] = "012") -> None:
        """Judge until no document is at hand."""
        for word in cycle(words):
            if not self.has_document:
                break
            self.say(word)

    def finish(self) -> None:
        """Judge until the topic has no more documents for this judge, and everything is saved."""
        while not self.page.locator(OVER).is_visible():
            self.say_to_the_end()
            self._until(f"#document:not([hidden]), {OVER}")
        self.is_saved()

    def tells(self, words: str) -> None:
        """Wait until the screen tells the judge this."""
        expect(self.page.locator("#screen").get_by_text(words)).to_be_visible(timeout=PATIENCE)

    def waits_for_a_document(self) -> None:
        """Wait until there is a document to judge."""
        self._until("#document:not([hidden])")

    def is_saved(self) -> None:
        """Wait until the screen says that everything is saved."""
        self._until("#state.saved")

    def is_kept(self) -> None:
        """Wait until the browser has written down what the screen says is unsent, which takes it some milliseconds."""
        self.page.wait_for_function(IS_KEPT, arg=self.unsent, timeout=PATIENCE, polling=1)

    def _until(self, selector: str) -> None:
        """Wait for something that may take the page's next attempt to send, which a clock of ours brings near."""
        for _ in range(PATIENCE // 500):
            try:
                self.page.wait_for_selector(selector, state="attached", timeout=500)
            except TooLate:
                pass
            else:
                return
            if self.page.locator("#trouble").is_visible():
                LENGTH.pass_time(self.page.context, LONGEST_PAUSE if not LENGTH.is_full else 1)
        self.page.wait_for_selector(selector, state="attached", timeout=500)
