"""The option --format of every command that reads, with the same choices, and tables in each of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import click

from annotator.cli.site.tables import Cell, Row, show_csv, show_json, show_table

TABLE, CSV, JSON = FORMATS = ("table", "csv", "json")

Decorated = TypeVar("Decorated", bound=Callable[..., None])


def format_option(*further: str) -> Callable[[Decorated], Decorated]:
    """The option, for a command with an argument `format_`; a few commands have further formats."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice([*FORMATS, *further]),
        default=TABLE,
        show_default=True,
        help="How to print it: as a table to read, or with exact values for programs.",
    )


@dataclass(frozen=True)
class Table:
    """Rows under headings in capitals; what JSON calls them when there are several tables."""

    name: str
    headings: Sequence[str]
    rows: Sequence[Row]


def show_rows(format_: str, headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Show one table; JSON is a list with an object for each row, and its keys are the headings of the CSV."""
    match format_:
        case "json":
            show_json(_objects(headings, rows))
        case "csv":
            show_csv(_keys(headings), [[_csv_cell(cell) for cell in row] for row in rows])
        case _:
            show_table(headings, rows)


def show_tables(format_: str, *tables: Table) -> None:
    """Show several tables, one below the other; CSV has the first of them, JSON all, by their names."""
    match format_:
        case "json":
            show_json({table.name: _objects(table.headings, table.rows) for table in tables})
        case "csv":
            show_rows(format_, tables[0].headings, tables[0].rows)
        case _:
            for place, table in enumerate(tables):
                if place:
                    click.echo()
                show_table(table.headings, table.rows)


def show_values(format_: str, headings: tuple[str, str], values: Mapping[str, Cell | list[str]]) -> None:
    """Show names with their values, a line each; of a list, such as of warnings, each entry has a line of its own."""
    if format_ == JSON:
        keys = _keys(list(values))
        show_json(dict(zip(keys, map(_json_cell, values.values()), strict=True)))
    else:
        show_rows(format_, headings, [(name, one) for name, value in values.items() for one in _entries(value)])


def _objects(headings: Sequence[str], rows: Sequence[Row]) -> list[dict[str, object]]:
    keys = _keys(headings)
    return [dict(zip(keys, map(_json_cell, row), strict=True)) for row in rows]


def _keys(headings: Sequence[str]) -> list[str]:
    return [heading.lower().replace(" ", "_").replace("-", "_") for heading in headings]


def _entries(value: Cell | list[str]) -> Sequence[Cell]:
    return value if isinstance(value, list) else [value]


def _json_cell(cell: Cell | list[str]) -> Cell | list[str]:
    return _written(cell) if isinstance(cell, datetime) else cell


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return _written(cell) if isinstance(cell, datetime) else cell


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
