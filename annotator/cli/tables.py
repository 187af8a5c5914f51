"""Tables on standard output: for people, as CSV, as JSON."""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from annotator.workflows.judgement_export import csv_text

Cell = str | bool | int | float | datetime | None
Row = Sequence[Cell]


def show_table(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Show a table to a person in a terminal; elsewhere in plain columns that are never wrapped or cut."""
    shown = [[_shown(cell) for cell in row] for row in rows]
    to_the_right = [_is_of_numbers([row[column] for row in rows]) for column in range(len(headings))]
    if sys.stdout.isatty():
        _show_framed(headings, shown, to_the_right)
    else:
        _show_plain(headings, shown, to_the_right)


def show_csv(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Put rows on standard output as CSV, numbers exactly, in UTF-8 whatever the terminal's language."""
    click.echo(csv_text([headings, *rows]).encode(), nl=False)


def show_json(value: object) -> None:
    """Put a value on standard output as JSON, numbers exactly, in UTF-8 whatever the terminal's language."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode())


def _show_framed(headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading, right in zip(headings, to_the_right, strict=True):
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _show_plain(headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    lines = [headings, *rows]
    widths = [max(cell_len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        cells = [
            " " * (width - cell_len(text)) + text if right else text + " " * (width - cell_len(text))
            for text, width, right in zip(line, widths, to_the_right, strict=True)
        ]
        click.echo("  ".join(cells).rstrip().encode())


def _is_of_numbers(cells: Sequence[Cell]) -> bool:
    kinds = {type(cell) for cell in cells} - {type(None)}
    return bool(kinds) and kinds <= {int, float}


def _shown(cell: Cell) -> str:
    """A cell on one line and without signs that would steer the terminal; values with four decimals, as trec_eval."""
    match cell:
        case None:
            return "-"
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.4f}"
        case datetime():
            return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
        case _:
            return "".join(sign if sign.isprintable() else " " for sign in str(cell))
