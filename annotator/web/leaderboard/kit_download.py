"""The release kit as a zip file, for the page and the API."""

from collections.abc import Sequence
from tempfile import TemporaryFile

from annotator.evaluation.publishing.kit_files import Publication
from annotator.web.site.context import database
from annotator.workflows.leaderboard.release_kit import write_kit


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
