"""How far an import is, on a terminal."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from annotator.files import InputFile


class _Counted(list[InputFile]):
    """Files that tell when one has been read and the next is asked for."""

    def __init__(self, files: Sequence[InputFile], count: Callable[[], None]) -> None:
        super().__init__(files)
        self._count = count

    def __iter__(self) -> Iterator[InputFile]:
        for file in super().__iter__():
            yield file
            self._count()


@contextmanager
def steps_shown(title: str, steps: int) -> Iterator[Callable[[int], None]]:
    """What shows, when told, how many steps more are done; nothing off a terminal."""
    if not sys.stderr.isatty():
        yield lambda _steps: None
        return
    done = 0
    with import_module("annotator.cli.site.bars").bar_to(title) as show:

        def add(more: int) -> None:
            nonlocal done
            done += more
            show(done, max(done, steps))

        yield add


@contextmanager
def watched(files: Sequence[InputFile]) -> Iterator[Sequence[InputFile]]:
    """The same files, with a bar on standard error that grows as they are gone through; no bar off a terminal."""
    if not sys.stderr.isatty():
        yield files
        return
    with import_module("annotator.cli.site.bars").bar_of("Reading", len(files)) as advance:
        yield _Counted(files, advance)


@contextmanager
def job_shown(name: str) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """What shows, when told, how far a site is with a file; nothing off a terminal."""
    if not sys.stderr.isatty():
        yield lambda _job: None
        return
    with import_module("annotator.cli.site.bars").bar_to(f"{name}: the site is at work") as show:
        yield lambda job: show(job["steps_done"], job["steps"] or 1)


@contextmanager
def progress_shown(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """What shows, when told, how much is done, and of how much; None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with import_module("annotator.cli.site.bars").bar_to(title) as show:
        yield show
