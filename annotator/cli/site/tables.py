"""Tables on standard output: for people, as CSV, as JSON."""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module

import click

from annotator.spreadsheets import csv_text

Cell = str | bool | int | float | datetime | None
Row = Sequence[Cell]


def show_table(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Show a table to a person in a terminal; elsewhere in plain columns that are never wrapped or cut."""
    shown = [[_shown(cell) for cell in row] for row in rows]
    to_the_right = [_is_of_numbers([row[column] for row in rows]) for column in range(len(headings))]
    if sys.stdout is not None and sys.stdout.isatty():
        import_module("annotator.cli.site.terminal").show_framed(headings, shown, to_the_right)
    else:
        _show_plain(headings, shown, to_the_right)


def show_csv(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Put rows on standard output as CSV, numbers exactly, in UTF-8 whatever the terminal's language."""
    click.echo(csv_text([headings, *rows]).encode(), nl=False)


def show_tsv(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """The same separated by tabs."""
    click.echo(csv_text([headings, *rows], separator="\t").encode(), nl=False)


def show_json(value: object) -> None:
    """Put a value on standard output as JSON, numbers exactly, in UTF-8 whatever the terminal's language."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode())


def _show_plain(headings: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> None:
    lines = [headings, *rows]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        cells = [
            " " * (width - _width(text)) + text if right else text + " " * (width - _width(text))
            for text, width, right in zip(line, widths, to_the_right, strict=True)
        ]
        click.echo("  ".join(cells).rstrip().encode())


def _width(text: str) -> int:
    return len(text) if text.isascii() else int(import_module("annotator.cli.site.terminal").width(text))


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
            return f"{cell:z.4f}"  # without the sign of a zero
        case datetime():
            return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
        case _:
            return "".join(sign if sign.isprintable() else " " for sign in str(cell))
