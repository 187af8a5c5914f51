"""Files that a form sent."""

from collections.abc import Iterable
from pathlib import PureWindowsPath

from werkzeug.datastructures import FileStorage

from annotator.files import InputFile


def input_files(files: Iterable[FileStorage]) -> list[InputFile]:
    """The files under their own names; some browsers send a folder along, with either kind of slash."""
    return [InputFile(PureWindowsPath(file.filename or "").name or "file", file.read()) for file in files]
