"""Why values of a table are missing: the last cell of a row of CSV, and a line beside a table on a terminal."""

from collections.abc import Mapping, Sequence

import click

from annotator.cli.site.tables import Row, show_table
from annotator.errors import Sentence

REASONS = "reasons"  # the heading of that cell


def reasons_of(missing: Mapping[str, Sentence | None]) -> dict[str, str]:
    """The names of values that are missing with the reason of each; None is of one that is not."""
    return {name: str(reason) for name, reason in missing.items() if reason is not None}


def in_one_cell(reasons: Mapping[str, str]) -> str:
    """Every reason once, after the names of the values that it is of."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return " ".join(f"{', '.join(of_reason)}: {reason}" for reason, of_reason in names.items())


def show_rows(headings: Sequence[str], rows: Sequence[Row], *, names: int) -> None:
    """Show rows; the last cell may be the reasons, and the first `names` cells say which row such a line is about."""
    if headings[-1] != REASONS:
        show_table([heading.upper() for heading in headings], rows)
        return
    show_table([heading.upper() for heading in headings[:-1]], [row[:-1] for row in rows])
    for row in rows:
        if row[-1]:
            click.echo(f"{' and '.join(map(str, row[:names]))}: {row[-1]}", err=True)
