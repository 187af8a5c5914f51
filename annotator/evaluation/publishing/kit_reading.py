"""A kit that was written to a folder or to a zip file, read back."""

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotator.errors import ConflictError, FileRefusedError, NotFoundError, Problems
from annotator.evaluation.publishing.kit_files import KIT, Publication, WrittenFile, checksum_of, read_kit_json
from annotator.files import UNREADABLE_ZIP

PIECE_BYTES = 1 << 20
LONGEST_KIT_JSON = 1 << 20
MOST_FILES = 20_000
# Others may allocate gigabytes for a few bytes, and none of them is written here.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1


class WrittenKit(ABC):
    """The files of a kit, by their paths in it, with `/`."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the folder or the zip file is called."""

    @abstractmethod
    def paths(self) -> set[str]:
        """The paths of all files."""

    @abstractmethod
    def pieces(self, path: str) -> Iterator[bytes]:
        """The content of a file as it is stored; raises `OSError`, or `zlib.error` when it is damaged."""

    def publication(self) -> Publication:
        """What was published; raises `NotFoundError` when there is no kit, `ConflictError` for one of another kind."""
        content = b""
        try:
            for piece in self.pieces(KIT):
                content += piece
                if len(content) > LONGEST_KIT_JSON:
                    break
        except (OSError, zlib.error) as error:
            raise NotFoundError(
                "“%(folder)s” is no kit of a collection: its file %(file)s cannot be read.",
                folder=self.name,
                file=KIT,
            ) from error
        publication = read_kit_json(content)
        if publication is None:
            raise ConflictError("%(file)s is not what this program writes.", file=KIT)
        return publication

    def written(self, path: str) -> WrittenFile:
        """SHA-256 and size of a file; raises as `pieces`."""
        return WrittenFile(path, *checksum_of(self.pieces(path)))


@dataclass(frozen=True)
class KitFolder(WrittenKit):
    """A folder with a kit; links are not followed out of it, as they are no files of a kit."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    def paths(self) -> set[str]:
        """The paths of all files."""
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if not path.is_dir()}

    def pieces(self, path: str) -> Iterator[bytes]:
        """The content of a file as it is stored; raises `OSError`."""
        with (self.folder / path).open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece


class KitZip(WrittenKit):
    """A zip file with a kit: with the folder that a kit is published in, or with its files alone.

    No file is unpacked to a disk, and no more of one than the size that the archive states.
    """

    def __init__(self, name: str, stream: BinaryIO, *, limit: int) -> None:
        """Read the directory of the archive.

        Raises `FileRefusedError` for a file that is no zip file, is encrypted or packed otherwise than kits are, has
        two files of one path or paths that lead out of it, or has more than `limit` bytes unpacked.
        """
        self._name = name
        problems = Problems()
        try:
            self._archive = zipfile.ZipFile(stream)
        except UNREADABLE_ZIP as error:
            problems.add(name, None, "This is no release kit: it is no zip file, or it was cut off.")
            raise FileRefusedError(problems) from error
        parts = [part for part in self._archive.infolist() if not part.is_dir()]
        self._note_hostile(parts, limit, problems)
        problems.refuse_if_any()
        tops = {part.filename.partition("/")[0] for part in parts}
        folder = f"{tops.pop()}/" if len(tops) == 1 and all("/" in part.filename for part in parts) else ""
        self._parts = {part.filename.removeprefix(folder): part for part in parts}

    def _note_hostile(self, parts: list[zipfile.ZipInfo], limit: int, problems: Problems) -> None:
        name = self._name
        paths = [PurePosixPath(part.filename) for part in parts]
        if len(set(paths)) < len(paths):
            problems.add(name, None, "The zip file has two files of one path.")
        if len(parts) > MOST_FILES or sum(part.file_size for part in parts) > limit:
            problems.add(
                name,
                None,
                "The zip file has more than %(files)d files, or more than %(limit)d bytes unpacked: no kit of this "
                "site is so large.",
                files=MOST_FILES,
                limit=limit,
            )
        if any(part.compress_type not in METHODS or part.flag_bits & ENCRYPTED for part in parts):
            problems.add(name, None, "The zip file is encrypted, or packed in a way that no kit is.")
        if any(path.is_absolute() or ".." in path.parts for path in paths):
            problems.add(name, None, "The zip file has a path that leads out of it.")

    @property
    def name(self) -> str:
        """The name of the zip file."""
        return self._name

    def paths(self) -> set[str]:
        """The paths of all files, without the folder that all of them are in."""
        return set(self._parts)

    def pieces(self, path: str) -> Iterator[bytes]:
        """The content of a file; raises `FileNotFoundError` for none, and `zlib.error` when it is damaged."""
        part = self._parts.get(path)
        if part is None:
            raise FileNotFoundError(path)
        try:
            with self._archive.open(part) as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece
        except (EOFError, *UNREADABLE_ZIP) as error:
            raise zlib.error(str(error)) from error
