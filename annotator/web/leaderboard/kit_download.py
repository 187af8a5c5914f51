"""The release kit as a zip file, made and checked, for the page and the API."""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import BinaryIO

from annotator.evaluation.publishing.kit_files import Publication
from annotator.evaluation.publishing.kit_reading import KitZip
from annotator.web.site.context import database, settings
from annotator.workflows.leaderboard.release_kit import check_kit, write_kit


def zipped_kit(publication: Publication, allowed: Sequence[str]) -> bytes:
    """Write a kit as a zip file.

    The audit log notes it afterwards: the first transaction of a job ends it, and the kit of a worker that is lost
    would not be written again.
    """
    with TemporaryFile() as file:
        with database().reading() as session:
            write_kit(session, publication, file, allowed=allowed)
        file.seek(0)
        return file.read()


def check_zipped_kit(slug: str, name: str, stream: BinaryIO) -> int:
    """Compare a kit with the database; returns the number of its files.

    Raises as `check_kit`, and `FileRefusedError` for a file that is no kit.
    """
    kit = KitZip(name, stream, limit=settings().unpacked_limit)
    return database().read(check_kit, slug, kit)
