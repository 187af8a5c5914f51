"""Options of `annotator collections publish`, on the database and on a site."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path

import click

from annotator.cli.site.files import FILE, STANDARD_OUTPUT, refuse_full_folder


@dataclass(frozen=True)
class KitOptions:
    """What a kit is made with, and where it is written or read."""

    output: str
    veiled: bool
    mapping: str | None
    allowed: tuple[str, ...]
    version: int | None
    measures: tuple[str, ...]
    with_texts: bool
    authors: tuple[str, ...]
    licence: str
    address: str
    check: bool


OPTIONS = (
    click.option(
        "-o",
        "--output",
        type=FILE,
        required=True,
        metavar="FILE",
        help="A new or empty folder, or a zip file if the name ends with .zip; - is a zip file on standard output.",
    ),
    click.option("--veil", "veiled", is_flag=True, help="Replace the names of teams and runs by pseudonyms."),
    click.option(
        "--mapping",
        type=FILE,
        metavar="FILE",
        help="Write which pseudonym belongs to which team and run to this CSV file.",
    ),
    click.option(
        "--allow",
        "allowed",
        multiple=True,
        metavar="NAME",
        help="With --veil: this name of a team or run may occur in texts, as an ordinary word. Repeatable.",
    ),
    click.option(
        "--version",
        type=click.IntRange(1),
        metavar="N",
        help="The kept version of the qrels. [that of released scores, else the newest]",
    ),
    click.option("-m", "measures", multiple=True, metavar="MEASURE", help="A measure of the score files. Repeatable."),
    click.option("--texts", "with_texts", is_flag=True, help="Also publish the texts of the documents."),
    click.option(
        "--author",
        "authors",
        multiple=True,
        metavar="NAME",
        help="Who is cited, as “Family, Given” or the name of a group. Repeatable. [the organisers of the task]",
    ),
    click.option(
        "--licence", default="", metavar="LICENCE", help="An SPDX identifier such as CC-BY-4.0, or an address."
    ),
    click.option("--address", default="", metavar="URL", help="Where the kit will be published."),
    click.option("--check", is_flag=True, help="Write nothing: compare the folder or the zip file with the database."),
)


def describes_kit(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets them as its last argument."""

    @wraps(command)
    def with_options(*given: object, **values: object) -> None:
        options = {field.name: values.pop(field.name) for field in fields(KitOptions)}
        command(*given, **values, options=KitOptions(**options))  # type: ignore[arg-type] # click has checked them

    described: Callable[..., None] = with_options
    for option in reversed(OPTIONS):
        described = option(described)
    return described


def is_zip(output: str) -> bool:
    """Whether the kit is one file, not a folder."""
    return output == STANDARD_OUTPUT or output.lower().endswith(".zip")


def refuse_output(options: KitOptions) -> None:
    """Raise an error for a folder with files in it, for a mapping that would be published, and for one of no veil."""
    if (options.allowed or options.mapping) and not options.veiled:
        raise click.UsageError("--allow and --mapping are for --veil.")
    if is_zip(options.output):
        return
    refuse_full_folder(options.output)
    if options.mapping is not None and Path(options.output).resolve() in Path(options.mapping).resolve().parents:
        raise click.UsageError("--mapping would be published: name a file outside of the kit.")
