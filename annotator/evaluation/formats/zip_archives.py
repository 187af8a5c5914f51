"""Files in zip archives, read within a limit of their unpacked size."""

import io
import zipfile
import zlib
from collections.abc import Collection
from pathlib import PurePosixPath

from annotator.errors import Problems
from annotator.evaluation.formats.unpacking import ZIP, ZIP_ARCHIVE, kind_of_zip
from annotator.files import UNREADABLE_ZIP, InputFile

MOST_FILES = 2_000
# Of others, `zipfile` unpacks as much as there is, whatever the size of the file should be.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Folders that archivers of macOS add.
NOT_SENT = "__MACOSX"


def is_zip(content: bytes) -> bool:
    """Whether it is a plain zip archive, and no office document."""
    return ZIP.match(content) is not None and kind_of_zip(content) is ZIP_ARCHIVE


def unzip(archive: InputFile, taken: Collection[str], problems: Problems, limit: int) -> list[InputFile]:
    """The files of an archive by name, without folders and hidden files; notes why it cannot be read.

    A file whose name is one of `taken`, or that of an earlier one, is named with its folder and the archive. The files
    together have at most `limit` bytes.
    """
    files: list[InputFile] = []
    names = set(taken)
    try:
        with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
            parts = [part for part in opened.infolist() if _is_sent(part)]
            if len(parts) > MOST_FILES or sum(part.file_size for part in parts) > limit:
                problems.add(
                    archive.name,
                    None,
                    "The archive has more than %(files)d files, or more than %(limit)d bytes unpacked. Split it.",
                    files=MOST_FILES,
                    limit=limit,
                )
                return []
            for part in parts:
                name = PurePosixPath(part.filename).name
                name = name if name not in names else f"{archive.name}/{part.filename}"
                names.add(name)
                files.append(InputFile(name, _content(opened, part), archive.input_format))
    except (zlib.error, EOFError, *UNREADABLE_ZIP):
        problems.add(archive.name, None, "The zip archive is damaged, encrypted or of a kind that cannot be read.")
        return []
    if not files:
        problems.add(archive.name, None, "The zip archive has no files.")
    return files


def _content(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """The content of a file; no more of it is unpacked than the size in the archive, which can be forged."""
    if part.compress_type not in METHODS:
        raise NotImplementedError
    with archive.open(part) as stream:
        return stream.read(part.file_size)


def _is_sent(part: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(part.filename)
    return not part.is_dir() and NOT_SENT not in path.parts and not path.name.startswith(".")
