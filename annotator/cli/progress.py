"""How far an import is, on a terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

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
def watched(files: Sequence[InputFile]) -> Iterator[Sequence[InputFile]]:
    """The same files, with a bar on standard error that grows as they are gone through; no bar off a terminal."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Reading", total=len(files))
        yield _Counted(files, lambda: bar.advance(task))
