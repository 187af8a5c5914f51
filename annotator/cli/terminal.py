"""Tables for a person in a terminal; apart, since importing rich takes longer than scoring a run."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text


def show_framed(headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    """Show a table as wide as the terminal; columns `to_the_right` are of numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading, right in zip(headings, to_the_right, strict=True):
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def width(text: str) -> int:
    """How many columns a terminal gives a text; signs of East Asian scripts take two."""
    return cell_len(text)
