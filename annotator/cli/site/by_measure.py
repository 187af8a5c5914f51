"""What a command shows by one measure or by several: tables below each other, CSV with a column, JSON with a list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import click

from annotator.cli.site.tables import Row, show_csv, show_json

MEASURE = "measure"  # the column that a file by several measures has

Decorated = TypeVar("Decorated", bound=Callable[..., None])
Report = TypeVar("Report")


def by_measures(usual: str, help_text: str) -> Callable[[Decorated], Decorated]:
    """The option, for a command with an argument `measures` that shows the same by each of them."""
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
    """Show a report by its measure; one alone is neither in a list nor under a line that names the measure."""
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
    """Put the object of one report on standard output, or a list with an object of each."""
    objects = [{MEASURE: measure, **as_json(report)} for measure, report in reports.items()]
    show_json(objects if len(objects) > 1 else as_json(*reports.values()))


def say_by_measure(lines: Mapping[str, Iterable[str]]) -> None:
    """Put the lines about each report on standard error; what holds for all measures once, without their names."""
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
    """The rows of all files below each other, each with its measure, which some files name themselves."""
    headings = next(headings for headings, _ in files.values())
    if len(files) == 1 or MEASURE in headings:
        return headings, [row for _, rows in files.values() for row in rows]
    return [MEASURE, *headings], [[measure, *row] for measure, (_, rows) in files.items() for row in rows]
