"""Files that commands import: of any format, from folders of data sets and from ir_datasets."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from annotator.cli.site.files import STANDARD_INPUT, read_files
from annotator.evaluation.formats.input_formats import Holds
from annotator.files import InputFile
from annotator.workflows.site import input_sources
from annotator.workflows.site.input_sources import FORMAT_NAMES


def input_format_option(holds: Holds) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Name the format of the files."""
    what = "runs" if holds is Holds.RUNS else "files"
    return click.option(
        "--input-format",
        type=click.Choice(FORMAT_NAMES[holds]),
        help=f"The format of the {what}, if it is not to be detected: {', '.join(FORMAT_NAMES[holds])}.",
        metavar="FORMAT",
    )


qrels_format_option = click.option(
    "--qrels-format",
    type=click.Choice(FORMAT_NAMES[Holds.LABELS]),
    help=f"The format of the qrels, if it is not to be detected: {', '.join(FORMAT_NAMES[Holds.LABELS])}.",
    metavar="FORMAT",
)
from_option = click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="ir_datasets:NAME",
    help="A data set of the package ir_datasets, in place of files; repeatable.",
)


def given_files(
    paths: Sequence[str],
    holds: Holds,
    *,
    input_format: str | None = None,
    sources: Iterable[str] = (),
    unpacked_limit: int = 0,
) -> list[InputFile]:
    """Read files, those of folders and those of data sets; says on standard error as what each is read."""
    named = [str(file) for path in paths for file in _in_folder(path, holds)]
    files = read_files(named, input_format)
    files += [input_sources.from_source(source, holds, unpacked_limit=unpacked_limit) for source in sources]
    if not files:
        raise click.UsageError("Give a file, a folder, or --from.")
    for sentence in input_sources.formats_read(holds, files):
        click.echo(sentence, err=True)
    return files


def say_formats(holds: Holds, files: Iterable[tuple[str, Path | bytes]], input_format: str | None) -> None:
    """Say on standard error as what files are read, a line for each format but TREC's; nothing where it is named."""
    for sentence in [] if input_format else input_sources.formats_detected(holds, files):
        click.echo(str(sentence), err=True)


def _in_folder(path: str, holds: Holds) -> Sequence[str | Path]:
    return input_sources.in_folder(Path(path), holds) if path != STANDARD_INPUT and Path(path).is_dir() else [path]
