"""`annotator collections files`: what participants of a collection may download."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from annotator.cli.collections.file_loading import load_files, output_option, show_files
from annotator.cli.site.installation import Installation, note_export, on_installation
from annotator.cli.site.tables import format_option
from annotator.evaluation.runs.run_tags import Sender
from annotator.workflows.qrels import shared_files
from annotator.workflows.qrels.shared_files import EXPORTS

ORGANISER = Sender(None, organises=True)


class StoredFiles:
    """The files of collections in the local database."""

    def __init__(self, installation: Installation) -> None:
        """Use the database of the installation."""
        self._installation = installation

    def rows(self, slug: str) -> Sequence[Mapping[str, object]]:
        """The files."""
        at = datetime.now(UTC)
        found = self._installation.database.read(shared_files.list_shared_files, slug, ORGANISER, at=at)
        return [one.row() for one in found.files]

    def content(self, slug: str, name: str) -> bytes:
        """The bytes of one, with a line of the audit log for docnos and qrels."""
        with self._installation.database.reading() as session:
            found = shared_files.shared_file(session, slug, name, ORGANISER, at=datetime.now(UTC))
            content = b"".join(found.pieces)
        if found.kind in EXPORTS:
            subject = "" if found.version is None else found.version
            note_export(self._installation, EXPORTS[found.kind], slug, subject=subject)
        return content


@click.group("files")
def files() -> None:
    """What participants may download: list it with checksums, export it."""


@files.command("list")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """List the files that participants may download, with lines, bytes and SHA-256: topics, rules, and what is shared.

    The qrels are those of released scores; the rules are those for organisers.
    """
    show_files(StoredFiles(installation), slug, format_)


@files.command("export")
@click.argument("slug")
@output_option
@on_installation
def export(installation: Installation, slug: str, output: str) -> None:
    """Write all of these files into a folder, with SHA256SUMS, which `sha256sum --check` reads."""
    load_files(StoredFiles(installation), slug, output)
