"""Progress bars on standard error at a terminal; SIGTERM handled like Ctrl-C during long work."""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Protocol

from annotator.files import InputFile


class Advance(Protocol):
    """Called with the number of further steps done."""

    def __call__(self, more: int = 1, /) -> None:
        """Advance the bar by `more` steps."""


@contextmanager
def progress_shown(title: str, steps: int | None = None) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that shows the steps done and in total; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with import_module("annotator.cli.site.terminal").bar_to(title, steps) as show:
        yield show


@contextmanager
def steps_shown(title: str, steps: int) -> Iterator[Advance]:
    """Yield a function that adds steps to the bar; without a terminal it does nothing."""
    done = 0
    with progress_shown(title, steps) as show:

        def add(more: int = 1, /) -> None:
            nonlocal done
            done += more
            if show is not None:
                show(done, max(done, steps))

        yield add


def watch(title: str) -> Callable[[int], AbstractContextManager[Advance]]:
    """Return a function that opens a bar with this title once the number of steps is known."""
    return partial(steps_shown, title)


@contextmanager
def watched(files: Sequence[InputFile]) -> Iterator[Sequence[InputFile]]:
    """Yield the files; a bar advances as they are iterated over."""
    with steps_shown("Reading", len(files)) as advance:
        yield _Counted(files, advance)


class _Counted(list[InputFile]):
    """A list of files that counts a step when the next one is requested."""

    def __init__(self, files: Sequence[InputFile], advance: Advance) -> None:
        super().__init__(files)
        self._advance = advance

    def __iter__(self) -> Iterator[InputFile]:
        for file in super().__iter__():
            yield file
            self._advance()


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM, as sent by timers and shutdowns, like Ctrl-C, so that the block can clean up."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
