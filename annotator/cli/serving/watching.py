"""A bar on standard error for long work of which the number of steps is known."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module

Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]


def watch(title: str) -> Watch:
    """Give what makes a bar of so many steps; off a terminal there is none."""
    return partial(_bar, title)


def _bar(title: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
    if not sys.stderr.isatty():
        return nullcontext(lambda: None)
    bar: AbstractContextManager[Callable[[], None]] = import_module("annotator.cli.site.bars").bar_of(title, steps)
    return bar
