"""The release kit as a file to download, for the page and the API."""

from collections.abc import Callable, Sequence
from tempfile import TemporaryFile

from flask.typing import ResponseReturnValue

from annotator.evaluation.publishing.kit_files import Publication
from annotator.web.site.context import database
from annotator.web.site.downloads import download
from annotator.workflows.leaderboard.release_kit import write_kit

ZIP = "application/zip"


def kit_download(publication: Publication, allowed: Sequence[str], note: Callable[..., None]) -> ResponseReturnValue:
    """Write a kit as a zip file to download; `note` records the export in the audit log."""
    slug = publication.slug
    with TemporaryFile() as file:
        with database().reading() as session:
            write_kit(session, publication, file, allowed=allowed)
        # Afterwards: the first transaction of a job ends it, and a lost worker's kit would not be written again.
        details = {"version": publication.version, "veiled": publication.veiled, "texts": publication.with_texts}
        note("collections.publish", slug, details=details)
        file.seek(0)
        return download(file.read(), f"{slug}-kit.zip", ZIP)
