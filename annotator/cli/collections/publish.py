"""`annotator collections publish`: a finished collection as a folder to publish."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile

import click

from annotator.cli.collections.kit_options import KitOptions, describes_kit, is_zip, refuse_output
from annotator.cli.site.files import write_folder, write_together, written_whole
from annotator.cli.site.installation import Installation, note_export, on_installation
from annotator.cli.site.progress import ended_like_ctrl_c
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.publishing.kit_files import Publication
from annotator.evaluation.publishing.kit_reading import KitFolder, KitZip, WrittenKit
from annotator.installed import installed_version
from annotator.workflows.leaderboard.release_kit import (
    check_kit,
    collection_veil,
    veil_csv,
    version_to_publish,
    write_kit,
)


@click.command("publish")
@click.argument("slug")
@describes_kit
@on_installation
def publish(installation: Installation, slug: str, options: KitOptions) -> None:
    """Write a finished collection as a folder to publish.

    It has topics, qrels of a kept version with their manifest, the qrels of a sample, guidelines, runs, scores by that
    version, README, datasheet, CITATION.cff, metadata for Croissant and Zenodo with SHA-256, and a module for
    ir_datasets. It names no judge. With --veil, pseudonyms are the same in each release, and the files are searched for
    names that are left. The folder is complete or not there.
    """
    if options.check:
        _check(installation, slug, options.output)
        return
    refuse_output(options)
    publication = Publication(
        slug=slug,
        version=_version(installation, slug, options.version),
        veiled=options.veiled,
        with_texts=options.with_texts,
        measures=options.measures or DEFAULT_MEASURES,
        authors=options.authors,
        licence=options.licence,
        address=options.address,
        made_at=datetime.now(UTC),
        program=installed_version(),
    )
    with ended_like_ctrl_c():
        _write(installation, publication, options.output, options.allowed)
        if options.mapping is not None:
            _write_mapping(installation, slug, options.mapping)


def _version(installation: Installation, slug: str, number: int | None) -> int:
    with installation.database.reading() as session:
        return version_to_publish(session, slug, number)


def _write_mapping(installation: Installation, slug: str, mapping: str) -> None:
    note_export(installation, "collections.show-pseudonyms", slug)
    with installation.database.reading() as session:
        names = veil_csv(collection_veil(session, slug))
    write_together({mapping: names.encode()}, private=True)


def _write(installation: Installation, publication: Publication, output: str, allowed: tuple[str, ...]) -> None:
    note_export(installation, "collections.publish", publication.slug, details=publication.noted)
    with written_whole(output) if is_zip(output) else TemporaryFile() as file:
        with installation.database.reading() as session:
            counts = write_kit(session, publication, file, allowed=allowed)
        if not is_zip(output):
            file.seek(0)
            write_folder(output, file, may_be_empty=True)
    click.echo(
        f"{output} has {counts.topics} topics, {counts.grades} grades of version {counts.version} and {counts.runs} "
        f"runs, in {counts.files} files.",
        err=True,
    )


def _check(installation: Installation, slug: str, output: str) -> None:
    with ExitStack() as opened:
        kit: WrittenKit = KitFolder(Path(output))
        if output.lower().endswith(".zip") and Path(output).is_file():
            file = opened.enter_context(Path(output).open("rb"))
            kit = KitZip(Path(output).name, file, limit=installation.settings.unpacked_limit)
        files = check_kit(opened.enter_context(installation.database.reading()), slug, kit)
    click.echo(f"{output} is what the database gives: {files} files.", err=True)
