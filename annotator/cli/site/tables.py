"""Tables on standard output in every --format: framed or plain text, CSV, JSON; by one or several measures."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import TypeVar

import click

from annotator.spreadsheets import REASONS, csv_text

TABLE, CSV, JSON = FORMATS = ("table", "csv", "json")
MEASURE = "measure"  # the extra column in a file by several measures

Cell = str | bool | int | float | datetime | None
Row = Sequence[Cell]
Decorated = TypeVar("Decorated", bound=Callable[..., None])
Report = TypeVar("Report")


def show_table(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Show a table: framed at a terminal, elsewhere plain columns that are never wrapped or cut."""
    shown = [[_shown(cell) for cell in row] for row in rows]
    to_the_right = [_is_of_numbers([row[column] for row in rows]) for column in range(len(headings))]
    if sys.stdout is not None and sys.stdout.isatty():
        import_module("annotator.cli.site.terminal").show_framed(headings, shown, to_the_right)
    else:
        _show_plain(headings, shown, to_the_right)


def show_csv(headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Print rows as CSV in UTF-8, whatever the locale, with numbers in full precision."""
    click.echo(csv_text([headings, *rows]).encode(), nl=False)


def show_json(value: object) -> None:
    """Print a value as JSON in UTF-8, whatever the locale, with numbers in full precision."""
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
    """A cell on one line without terminal control characters; scores have four decimals, as in trec_eval."""
    match cell:
        case None:
            return "-"
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:z.4f}"  # z: no negative zero
        case datetime():
            return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
        case _:
            return "".join(sign if sign.isprintable() else " " for sign in str(cell))


def format_option(*further: str) -> Callable[[Decorated], Decorated]:
    """Add `--format` to a command, as argument `format_`; `further` formats are optional."""
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
    """Rows under headings in capitals, with the name that JSON uses when there are several tables."""

    name: str
    headings: Sequence[str]
    rows: Sequence[Row]


def show_rows(format_: str, headings: Sequence[str], rows: Sequence[Row]) -> None:
    """Show one table; JSON is a list of objects, whose keys are the headings of the CSV."""
    match format_:
        case "json":
            show_json(_objects(headings, rows))
        case "csv":
            show_csv(_keys(headings), [[_csv_cell(cell) for cell in row] for row in rows])
        case _:
            show_table(headings, rows)


def show_tables(format_: str, *tables: Table) -> None:
    """Show several tables one below the other; CSV has only the first, JSON all, by name."""
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
    """Show names with their values, one per line; each entry of a list has its own line."""
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


def show_rows_with_reasons(headings: Sequence[str], rows: Sequence[Row], *, names: int) -> None:
    """Show rows whose last cell may contain reasons, printed below with the first `names` cells of the row."""
    if headings[-1] != REASONS:
        show_table([heading.upper() for heading in headings], rows)
        return
    show_table([heading.upper() for heading in headings[:-1]], [row[:-1] for row in rows])
    for row in rows:
        if row[-1]:
            click.echo(f"{' and '.join(map(str, row[:names]))}: {row[-1]}", err=True)


def by_measures(usual: str, help_text: str) -> Callable[[Decorated], Decorated]:
    """Add the option for measures, as argument `measures`, to a command that reports by each of them."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        default=[usual],
        show_default=True,
        help=f"{help_text}; repeatable.",
    )


def show_by_measure(
    format_: str,
    reports: Mapping[str, Report],
    *,
    as_json: Callable[[Report], Mapping[str, object]],
    as_csv: Callable[[Report], tuple[Sequence[str], Sequence[Row]]],
    tables: Callable[[Report], None],
) -> None:
    """Show a report for each measure; a single one without a list or a heading that names the measure."""
    match format_:
        case "json":
            show_json_by_measure(reports, as_json)
        case "csv":
            show_csv(*_joined({measure: as_csv(report) for measure, report in reports.items()}))
        case _:
            for place, (measure, report) in enumerate(reports.items()):
                if place:
                    click.echo()
                if len(reports) > 1:
                    click.echo(f"By {measure}:")
                tables(report)


def show_json_by_measure(reports: Mapping[str, Report], as_json: Callable[[Report], Mapping[str, object]]) -> None:
    """Print one report as a JSON object, several as a list of objects."""
    objects = [{MEASURE: measure, **as_json(report)} for measure, report in reports.items()]
    show_json(objects if len(objects) > 1 else as_json(*reports.values()))


def say_by_measure(lines: Mapping[str, Iterable[str]]) -> None:
    """Print the notes of each report on standard error; those common to all measures once, without a measure."""
    listed = {measure: list(of_measure) for measure, of_measure in lines.items()}
    common = [
        line for line in next(iter(listed.values()), []) if all(line in of_measure for of_measure in listed.values())
    ]
    for line in common:
        click.echo(line, err=True)
    for measure, of_measure in listed.items():
        for line in of_measure:
            if line not in common:
                click.echo(f"{measure}: {line}", err=True)


def _joined(files: Mapping[str, tuple[Sequence[str], Sequence[Row]]]) -> tuple[Sequence[str], Sequence[Row]]:
    """The rows of all files, each with its measure; some files name the measure themselves."""
    headings = next(headings for headings, _ in files.values())
    if len(files) == 1 or MEASURE in headings:
        return headings, [row for _, rows in files.values() for row in rows]
    return [MEASURE, *headings], [[measure, *row] for measure, (_, rows) in files.items() for row in rows]
