"""Files uploaded by forms."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PureWindowsPath

from werkzeug.datastructures import FileStorage

from annotator.files import InputFile
from annotator.web.site.background import report_reading


def input_files(files: Iterable[FileStorage], input_format: str | None = None) -> Sequence[InputFile]:
    """The files under their own names, without the folders (with either slash) that some browsers send.

    Their format is detected unless one is chosen. In a worker, reading them updates the progress of the job.
    """
    return report_reading([replace(file, input_format=input_format or None) for file in whole_files(files)])


def whole_files(files: Iterable[FileStorage]) -> list[InputFile]:
    """The uploaded files for a view that reports its progress in bytes."""
    return [InputFile(_name(file), file.read()) for file in files]


def names_of(files: Iterable[FileStorage]) -> str:
    """The names of the files, comma-separated."""
    return ", ".join(map(_name, files))


def _name(file: FileStorage) -> str:
    return PureWindowsPath(file.filename or "").name or "file"
