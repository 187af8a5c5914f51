"""Files that a form sent."""

from collections.abc import Iterable, Sequence
from pathlib import PureWindowsPath

from werkzeug.datastructures import FileStorage

from annotator.files import InputFile
from annotator.web.site.background import report_reading


def input_files(files: Iterable[FileStorage]) -> Sequence[InputFile]:
    """The files under their own names; some browsers send a folder along, with either kind of slash.

    Where a worker reads them, whoever waits is told how many it has read.
    """
    return report_reading(whole_files(files))


def whole_files(files: Iterable[FileStorage]) -> list[InputFile]:
    """The same files for a view that tells by bytes how far it is."""
    return [InputFile(_name(file), file.read()) for file in files]


def names_of(files: Iterable[FileStorage]) -> str:
    """The names of the files, as they are told of."""
    return ", ".join(map(_name, files))


def _name(file: FileStorage) -> str:
    return PureWindowsPath(file.filename or "").name or "file"
