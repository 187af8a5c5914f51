"""Files that commands read; `-` is standard input."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import click

from annotator.errors import InvalidValueError, NotFoundError, Problems
from annotator.files import InputFile

STANDARD_INPUT = "-"


def read_files(paths: Sequence[str]) -> list[InputFile]:
    """Read files whole; `FileRefusedError` names every one that cannot be read."""
    if list(paths).count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")
    problems = Problems()
    files: list[InputFile] = []
    for path in paths:
        # A path need not be text; its name as stored and shown is.
        name = click.format_filename(path)
        try:
            files.append(InputFile(name, _content(path)))
        except OSError as error:
            problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
    problems.refuse_if_any()
    return files


def read_file(path: str) -> InputFile:
    """Read one file."""
    return read_files([path])[0]


def read_text(path: str) -> str:
    """Read a file of UTF-8 text, without its byte order mark; `InvalidValueError` when it is something else."""
    file = read_file(path)
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError("The file “%(file)s” is not text in UTF-8.", file=file.name) from error


@contextmanager
def opened_for_seeking(path: str) -> Iterator[BinaryIO]:
    """A file of which any part can be read; what comes on standard input is first put into a temporary file."""
    with ExitStack() as opened:
        stream: BinaryIO
        if path == STANDARD_INPUT:
            stream = opened.enter_context(TemporaryFile())
            shutil.copyfileobj(sys.stdin.buffer, stream)
            stream.seek(0)
        else:
            try:
                stream = opened.enter_context(Path(path).open("rb"))
            except OSError as error:
                raise NotFoundError(
                    "“%(file)s” cannot be read: %(reason)s.", file=click.format_filename(path), reason=error.strerror
                ) from error
        yield stream


def _content(path: str) -> bytes:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    return Path(path).read_bytes()
