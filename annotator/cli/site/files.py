"""Files that commands read and write; `-` is standard input or output."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO
from zipfile import ZipFile

import click

from annotator.errors import AnnotatorError, InvalidValueError, NotFoundError, Problems
from annotator.files import InputFile, create_for_owner

# A path need not be valid text; errors about the file are reported when it is read or written.
FILE = click.Path(readable=False)
STANDARD_INPUT = STANDARD_OUTPUT = "-"


def read_files(paths: Sequence[str], input_format: str | None = None) -> list[InputFile]:
    """Read whole files, all of one format if that is given; `FileRefusedError` names every one that cannot be read."""
    if list(paths).count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")
    problems = Problems()
    files: list[InputFile] = []
    for path in paths:
        # A path need not be valid text, but the name that is stored and shown is.
        name = click.format_filename(path)
        try:
            files.append(InputFile(name, _content(path), input_format))
        except OSError as error:
            problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
    problems.refuse_if_any()
    return files


def read_file(path: str, input_format: str | None = None) -> InputFile:
    """Read one file; `FileRefusedError` when that fails."""
    return read_files([path], input_format)[0]


def read_text(path: str) -> str:
    """Read a UTF-8 text file, without its byte order mark; `InvalidValueError` for other content."""
    file = read_file(path)
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError("The file “%(file)s” is not text in UTF-8.", file=file.name) from error


@contextmanager
def opened_for_seeking(path: str) -> Iterator[BinaryIO]:
    """A seekable file; standard input is first copied to a temporary file."""
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


class FileNotWrittenError(AnnotatorError):
    """A file could not be written; an existing file is unchanged."""


def write_or_print(path: str | None, content: bytes, *, private: bool = False) -> None:
    """Write a file, or standard output without a path or for `-`; a `private` file is readable by its owner only."""
    if path in {None, STANDARD_OUTPUT}:
        click.echo(content, nl=False)
    else:
        write_together({str(path): content}, private=private)


@contextmanager
def written_whole(path: str) -> Iterator[BinaryIO]:
    """A large file, readable by its owner only, that appears at its path when the block has ended without error.

    Raises `FileNotWrittenError` when it cannot be written; an existing file is unchanged.
    """
    if path == STANDARD_OUTPUT:
        with TemporaryFile() as file:
            yield file
            file.seek(0)
            shutil.copyfileobj(file, sys.stdout.buffer)
        return
    with ExitStack() as undo:
        try:
            target = _target(path)
            aside = _aside(target)
            with create_for_owner(aside) as file:
                undo.callback(aside.unlink, missing_ok=True)
                yield file
                _finish(file, aside, target)
            aside.replace(target)
        except OSError as error:
            raise _not_written(path, error) from error


def write_together(contents: Mapping[str, bytes], *, private: bool = False) -> None:
    """Write all files, by path, or none: they are written to temporary files first and then renamed.

    Files that are `private` are readable by their owner only, also where they replace one that others could read.
    Raises `FileNotWrittenError`, after restoring every file that was already replaced.
    """
    with ExitStack() as undo:
        renames = [(_written_aside(undo, path, content, private=private), path) for path, content in contents.items()]
        for aside, path in renames:
            _rename(undo, aside, path)
        # Needs neither a temporary file nor a way back.
        undo.pop_all()


def write_folder(path: str, archive: BinaryIO, *, may_be_empty: bool = False) -> None:
    """Write the one folder of a zip archive at this path, complete or not at all.

    Raises `FileNotWrittenError` when that fails, or when there is something at the path already, except, with
    `may_be_empty`, an empty folder.
    """
    target = Path(path).resolve()
    if may_be_empty:
        refuse_full_folder(path)
    elif target.exists():
        raise FileNotWrittenError("“%(file)s” exists and is not replaced.", file=click.format_filename(path))
    aside = _aside(target)
    try:
        with ZipFile(archive) as opened:
            opened.extractall(aside)
        [folder] = aside.iterdir()
        folder.rename(target)
    except OSError as error:
        raise _not_written(path, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def refuse_full_folder(path: str) -> None:
    """Raise `FileNotWrittenError` unless a folder can be written here: nothing is there, or an empty folder."""
    target = Path(path).resolve()
    try:
        if not target.exists() or (target.is_dir() and not any(target.iterdir())):
            return
    except OSError as error:
        raise _not_written(path, error) from error
    template = "The folder “%(file)s” is not empty" if target.is_dir() else "“%(file)s” is no folder"
    raise FileNotWrittenError(
        f"{template}, and nothing was written. Name a new or an empty folder.", file=click.format_filename(path)
    )


def _written_aside(undo: ExitStack, path: str, content: bytes, *, private: bool) -> Path:
    try:
        target = _target(path)
        aside = _aside(target)
        with create_for_owner(aside) if private else aside.open("xb") as file:
            undo.callback(aside.unlink, missing_ok=True)
            file.write(content)
            _finish(file, None if private else aside, target)
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
    """The file to write, with links resolved; devices, pipes and folders are not replaced."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise FileNotWrittenError(
            "“%(file)s” is no regular file and is not replaced.", file=click.format_filename(path)
        )
    return target


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}")


def _finish(file: BinaryIO, aside: Path | None, target: Path) -> None:
    """Sync a file to disk; a temporary file `aside` gets the mode of the file that it replaces."""
    file.flush()
    os.fsync(file.fileno())
    if aside is not None and target.exists():
        shutil.copymode(target, aside)


def _put_back(target: Path, before: bytes | None) -> None:
    if before is None:
        target.unlink()
    else:
        target.write_bytes(before)


def _not_written(path: str, error: OSError) -> FileNotWrittenError:
    return FileNotWrittenError(
        "“%(file)s” cannot be written: %(reason)s.", file=click.format_filename(path), reason=error.strerror
    )
