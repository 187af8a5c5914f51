"""A kit that was written to a folder, read back."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.publishing.kit_files import KIT, Publication, WrittenFile, checksum_of, read_kit_json

PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class KitFolder:
    """A folder with a kit; links are not followed out of it, as they are no files of a kit."""

    folder: Path

    def publication(self) -> Publication:
        """What was published; raises `NotFoundError` when there is no kit, `ConflictError` for one of another kind."""
        try:
            content = (self.folder / KIT).read_bytes()
        except OSError as error:
            raise NotFoundError(
                "“%(folder)s” is no kit of a collection: its file %(file)s cannot be read.",
                folder=self.folder.name,
                file=KIT,
            ) from error
        publication = read_kit_json(content)
        if publication is None:
            raise ConflictError("%(file)s is not what this program writes.", file=KIT)
        return publication

    def paths(self) -> set[str]:
        """The paths of all files, with `/`."""
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if not path.is_dir()}

    def pieces(self, path: str) -> Iterator[bytes]:
        """The content of a file as it is stored."""
        with (self.folder / path).open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece

    def written(self, path: str) -> WrittenFile:
        """SHA-256 and size of a file."""
        return WrittenFile(path, *checksum_of(self.pieces(path)))
