"""The collection that is judged while things break, and a browser whose clock the test may turn."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

import pytest
from browser.faults.collection import two_topics
from browser.faults.judge_tab import TALLY
from browser.faults.length import LENGTH
from playwright.sync_api import Browser, BrowserContext

from annotator.storage import Database

# So that a comparison that fails shows what differs.
pytest.register_assert_rewrite("browser.faults.ledger")


WALKED = ("actions of the random walk", "acts compared")
COUNTED = (
    "presses",
    "servers killed",
    "killed between storing and answering",
    "browsers killed",
    "answers lost",
    *WALKED,
)

if not LENGTH.is_full:
    collect_ignore = ["in_full"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how much was pressed and broken."""
    total: Counter[str] = Counter()
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if getattr(report, "when", None) == "teardown":
            total.update({name: value for name, value in report.user_properties if name in COUNTED})
    terminalreporter.write_line(", ".join(f"{name}: {total[name]}" for name in COUNTED))


@pytest.fixture(autouse=True)
def _tally(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Write down how much a test pressed and broke."""
    TALLY.clear()
    yield
    for name, count in TALLY.items():
        record_property(name, count)


@pytest.fixture
def server(running_server: str, served: Database) -> str:
    """The address of a server over the collection of two topics."""
    two_topics(served)
    return running_server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of one's own, whose reader speaks English."""
    context = browser.new_context(locale="en")
    LENGTH.set_clock(context)
    yield context
    context.close()
