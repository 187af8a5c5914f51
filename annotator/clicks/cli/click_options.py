"""The log files that commands on clicks take, and the options that say how to read what is written otherwise."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from annotator.cli.site.files import FILE, STANDARD_INPUT
from annotator.cli.site.progress import steps_shown
from annotator.clicks.workflows.click_files import FIELDS, LogFile, LogMapping, parse_mapping, size_of

OPTIONS = (
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="OURS=THEIRS",
        help=f"The log's name of a column, such as user=visitor; repeatable. The columns: {', '.join(FIELDS)}.",
    ),
    click.option(
        "--event",
        "events",
        multiple=True,
        metavar="OURS=THEIRS",
        help="The log's name of an event, such as impression=view; repeatable.",
    ),
    click.option(
        "--click-column",
        metavar="NAME",
        help="Each line is a shown result, and this column is 1 if it was clicked, else 0.",
    ),
    click.option(
        "--variant-from-name", is_flag=True, help="Use the file name without .gz, .csv and the like as the variant."
    ),
    click.option("--drop-bad-lines", is_flag=True, help="Skip and count lines that cannot be read."),
)


@dataclass(frozen=True)
class GivenLog:
    """The files that make one log, and how they are to be read."""

    files: Sequence[LogFile]
    mapping: LogMapping
    paths: Sequence[str]

    @contextmanager
    def watched(self) -> Iterator[Callable[[int], None]]:
        """What is to be told of the bytes that are read; on a terminal a bar shows them."""
        with steps_shown("Reading", sum(map(size_of, self.files))) as advance:
            yield advance


def describes_log(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, and hand it files and mapping as `log`; it must have an argument `logs`."""

    @wraps(command)
    def with_log(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        logs: Sequence[str],
        columns: Sequence[str],
        events: Sequence[str],
        click_column: str | None,
        variant_from_name: bool,
        drop_bad_lines: bool,
        **options: Any,  # noqa: ANN401 - passed on as given
    ) -> None:
        mapping = parse_mapping(
            columns,
            events,
            click_column=click_column,
            variant_from_name=variant_from_name,
            drops_bad_lines=drop_bad_lines,
        )
        command(*args, log=GivenLog(log_files(logs), mapping, logs), **options)

    described: Callable[..., None] = with_log
    for option in reversed(OPTIONS):
        described = option(described)
    return described


def reads_click_log(command: Callable[..., None]) -> Callable[..., None]:
    """Do as `describes_log`, with the argument LOG..., one file or several that make one log."""
    argument = click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
    return argument(describes_log(command))


def log_files(paths: Sequence[str]) -> list[LogFile]:
    """Name the files as people know them; - is standard input."""
    if list(paths).count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")
    return [
        (path, sys.stdin.buffer) if path == STANDARD_INPUT else (click.format_filename(path), Path(path))
        for path in paths
    ]
