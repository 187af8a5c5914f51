"""How long the tests of faults take: shortened with a clock of their own, or real for `make faults`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from playwright.sync_api import BrowserContext

Case = TypeVar("Case")

# Longer than any pause between two attempts to send.
LONGEST_PAUSE = 31


@dataclass(frozen=True)
class Length:
    """Whether time is real, and how often things are repeated."""

    is_full: bool

    def times(self, short: int, full: int) -> int:
        """How often."""
        return full if self.is_full else short

    def cases(self, cases: Sequence[Case]) -> Sequence[Case]:
        """The cases of a test: in full length all, else the first."""
        return cases if self.is_full else cases[:1]

    def set_clock(self, context: BrowserContext) -> None:
        """Give the context's pages a clock that can be turned forward; in full length time is what it is."""
        if not self.is_full:
            context.clock.install()

    def pass_time(self, context: BrowserContext, seconds: int) -> None:
        """Let time go by for the pages: each of them wakes up as often as it would."""
        if self.is_full:
            context.pages[0].wait_for_timeout(seconds * 1000)
            return
        for _ in range(0, seconds, LONGEST_PAUSE):
            context.clock.fast_forward(LONGEST_PAUSE * 1000)
            context.pages[0].wait_for_timeout(20)


LENGTH = Length(is_full=os.environ.get("ANNOTATOR_FAULTS") == "full")
