"""What `annotator collections files` does with a database and with a site: list the files, download and check them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from annotator.cli.site.files import FILE, STANDARD_OUTPUT, FileNotWrittenError, write_together
from annotator.cli.site.tables import show_rows
from annotator.errors import ConflictError, InvalidValueError

CHECKSUMS = "SHA256SUMS"
RULES = "rules"
HEADINGS = ("NAME", "KIND", "TASK", "VERSION", "LINES", "BYTES", "SHA256")
COLUMNS = ("name", "kind", "task", "version", "lines", "bytes", "sha256")
# Names come from a site, and none of them leads out of the folder.
A_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
output_option = click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="The folder, which is made if it is not there; files of the same names in it are replaced.",
)


class Files(Protocol):
    """The files of a collection, in a database or on a site."""

    def rows(self, slug: str) -> Sequence[Mapping[str, Any]]:
        """The files, with the columns of `COLUMNS`.

        Also `problem`, why one cannot be downloaded or None, and `dropped_topics`, those in the qrels that are not
        scored.
        """
        ...

    def content(self, slug: str, name: str) -> bytes:
        """The bytes of one."""
        ...


def show_files(files: Files, slug: str, format_: str) -> None:
    """Print the list of the files; on stderr, why one cannot be downloaded, and which topics in it are not scored."""
    rows = files.rows(slug)
    show_rows(format_, HEADINGS, [[row[column] for column in COLUMNS] for row in rows])
    _echo_notes(rows)


def load_files(files: Files, slug: str, output: str) -> None:
    """Load the files that can be downloaded into a folder, all or none, with a file of checksums, each checked."""
    if output == STANDARD_OUTPUT:
        raise click.UsageError("-o names a folder, for there are several files.")
    folder, every = Path(output), files.rows(slug)
    rows = [row for row in every if row["problem"] is None]
    contents = _checked(files, slug, rows)
    # As the site has it: rules differ by team and with each upload.
    sums = "".join(f"{row['sha256']}  {row['name']}\n" for row in rows if row["kind"] != RULES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileNotWrittenError(
            "“%(file)s” cannot be written: %(reason)s.", file=click.format_filename(output), reason=error.strerror
        ) from error
    paths = {str(folder / name): content for name, content in {**contents, CHECKSUMS: sums.encode()}.items()}
    write_together(paths)
    names = ", ".join(contents)
    click.echo(f"Written to {output}, with the right SHA-256: {names}; and {CHECKSUMS}.", err=True)
    _echo_notes(every)


def _echo_notes(rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        if row["problem"] is not None:
            click.echo(f"{row['name']}: {row['problem']}", err=True)
        if row["dropped_topics"]:
            topics = ", ".join(row["dropped_topics"])
            sentence = f"Topics that were dropped after this version was kept are not scored: {topics}."
            click.echo(f"{row['name']}: {sentence}", err=True)


def _checked(files: Files, slug: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """The bytes of each file by its name, which have the SHA-256 of the list."""
    contents: dict[str, bytes] = {}
    for row in rows:
        name = str(row["name"])
        if not A_NAME.fullmatch(name) or name == CHECKSUMS:
            raise InvalidValueError("“%(name)s” is no name of a file of a collection. Nothing was written.", name=name)
        contents[name] = files.content(slug, name)
        if hashlib.sha256(contents[name]).hexdigest() != row["sha256"]:
            raise ConflictError(
                "“%(name)s” is not what the list says: it has changed since, or was damaged. Nothing was written; "
                "download the files again.",
                name=name,
            )
    return contents
