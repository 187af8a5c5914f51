"""Files that commands write: whole or not at all, and several together or none of them."""

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import click

from annotator.errors import AnnotatorError

STANDARD_OUTPUT = "-"


class FileNotWrittenError(AnnotatorError):
    """A file could not be written; what was there before is still there."""


def write_or_print(path: str | None, content: bytes) -> None:
    """Write a file, or standard output when there is no path or it is `-`."""
    if path in {None, STANDARD_OUTPUT}:
        click.echo(content, nl=False)
    else:
        write_together({str(path): content})


def write_together(contents: Mapping[str, bytes]) -> None:
    """Write files by path, all of them or none: they are written aside first and then renamed.

    Raises `FileNotWrittenError`, after every file that was renamed already has been put back as it was.
    """
    with ExitStack() as undo:
        renames = [(_written_aside(undo, path, content), path) for path, content in contents.items()]
        for aside, path in renames:
            _rename(undo, aside, path)
        # Nothing is left aside and nothing needs putting back.
        undo.pop_all()


def _written_aside(undo: ExitStack, path: str, content: bytes) -> Path:
    try:
        target = _target(path)
        aside = target.with_name(f".{target.name}.{os.getpid()}")
        with aside.open("xb") as file:
            undo.callback(aside.unlink, missing_ok=True)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
    except OSError as error:
        raise _not_written(path, error) from error
    return aside


def _rename(undo: ExitStack, aside: Path, path: str) -> None:
    try:
        target = _target(path)
        before = target.read_bytes() if target.exists() else None
        aside.replace(target)
    except OSError as error:
        raise _not_written(path, error) from error
    undo.callback(_put_back, target, before)


def _target(path: str) -> Path:
    """Where to write: behind a link, and never in place of a device, a pipe or a folder."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise FileNotWrittenError(
            "“%(file)s” is no regular file and is not replaced.", file=click.format_filename(path)
        )
    return target


def _put_back(target: Path, before: bytes | None) -> None:
    if before is None:
        target.unlink()
    else:
        target.write_bytes(before)


def _not_written(path: str, error: OSError) -> FileNotWrittenError:
    return FileNotWrittenError(
        "“%(file)s” cannot be written: %(reason)s.", file=click.format_filename(path), reason=error.strerror
    )
