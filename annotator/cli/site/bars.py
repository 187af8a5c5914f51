"""Bars for a person in a terminal; apart, since importing rich takes as long as reading a run of 100,000 lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def bar_of(title: str, steps: int) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error that grows by a step at each call, and goes at the end."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=steps)
        yield lambda: bar.advance(task)


@contextmanager
def bar_to(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error that is told how much is done, and of how much, and goes at the end."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)
