"""Tables and progress bars drawn by rich; imported only at a terminal, since that takes longer than scoring a run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

NARROWEST_TEXT = 12  # minimum width of a folded text column
BETWEEN_COLUMNS = 3


def show_framed(headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    """Show a table within the width of the terminal; numeric columns (`to_the_right`) are never folded.

    Columns that do not fit go into further tables below, each starting with the text columns before the first number.
    """
    console = Console()
    for columns in _tables(headings, rows, to_the_right, console.width):
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            right = to_the_right[column]
            table.add_column(headings[column], justify="right" if right else "left", overflow="fold", no_wrap=right)
        for row in rows:
            table.add_row(*(Text(row[column]) for column in columns))
        console.print(table)


def width(text: str) -> int:
    """The width of a text in terminal columns; East Asian wide characters take two."""
    return cell_len(text)


def _tables(
    headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool], room: int
) -> Iterator[list[int]]:
    """The column numbers of each table."""
    needed = [
        max(width(line[column]) for line in (headings, *rows)) + BETWEEN_COLUMNS for column in range(len(headings))
    ]
    needed = [
        least if right else min(least, NARROWEST_TEXT + BETWEEN_COLUMNS)
        for least, right in zip(needed, to_the_right, strict=True)
    ]
    leading = list(range(list(to_the_right).index(True) if True in to_the_right else len(headings)))
    columns = list(leading)
    for column in range(len(leading), len(headings)):
        if len(columns) > len(leading) and sum(needed[one] for one in [*columns, column]) > room:
            yield columns
            columns = list(leading)
        columns.append(column)
    yield columns


@contextmanager
def bar_to(title: str, steps: int | None = None) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error during the block; yield a function that takes the steps done and in total."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=steps)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)
