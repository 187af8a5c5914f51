"""Progress bars on standard error for people at a terminal, and SIGTERM treated like Ctrl-C while long work runs."""

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
    """Called when further steps are done."""

    def __call__(self, more: int = 1, /) -> None:
        """Let the bar grow by so many steps."""


@contextmanager
def progress_shown(title: str, steps: int | None = None) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that shows how many steps are done, and of how many; None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with import_module("annotator.cli.site.terminal").bar_to(title, steps) as show:
        yield show


@contextmanager
def steps_shown(title: str, steps: int) -> Iterator[Advance]:
    """Yield a function that adds steps to the bar; it does nothing where there is no terminal."""
    done = 0
    with progress_shown(title, steps) as show:

        def add(more: int = 1, /) -> None:
            nonlocal done
            done += more
            if show is not None:
                show(done, max(done, steps))

        yield add


def watch(title: str) -> Callable[[int], AbstractContextManager[Advance]]:
    """Return what opens a bar with this title once the number of steps is known."""
    return partial(steps_shown, title)


@contextmanager
def watched(files: Sequence[InputFile]) -> Iterator[Sequence[InputFile]]:
    """Yield the files again; a bar grows as they are iterated over."""
    with steps_shown("Reading", len(files)) as advance:
        yield _Counted(files, advance)


class _Counted(list[InputFile]):
    """Files that count a step when one has been read and the next is asked for."""

    def __init__(self, files: Sequence[InputFile], advance: Advance) -> None:
        super().__init__(files)
        self._advance = advance

    def __iter__(self) -> Iterator[InputFile]:
        for file in super().__iter__():
            yield file
            self._advance()


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, which timers and shutdowns send, end the block as Ctrl-C does: it can clean up."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
