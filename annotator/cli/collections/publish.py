"""`annotator collections publish`: a finished collection as a folder to publish."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile

import click

from annotator.cli.site.files import (
    FILE,
    STANDARD_OUTPUT,
    refuse_full_folder,
    write_folder,
    write_together,
    written_whole,
)
from annotator.cli.site.installation import Installation, note_export, on_installation
from annotator.cli.site.progress import ended_like_ctrl_c
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.publishing.kit_files import Publication
from annotator.evaluation.publishing.kit_reading import KitFolder
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
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="A new or empty folder, or a zip file if the name ends with .zip; - is a zip file on standard output.",
)
@click.option("--veil", "veiled", is_flag=True, help="Replace the names of teams and runs by pseudonyms.")
@click.option(
    "--mapping", type=FILE, metavar="FILE", help="Write which pseudonym belongs to which team and run to this CSV file."
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="With --veil: this name of a team or run may occur in texts, as an ordinary word. Repeatable.",
)
@click.option(
    "--version",
    type=click.IntRange(1),
    metavar="N",
    help="The kept version of the qrels. [that of released scores, else the newest]",
)
@click.option("-m", "measures", multiple=True, metavar="MEASURE", help="A measure of the score files. Repeatable.")
@click.option("--texts", "with_texts", is_flag=True, help="Also publish the texts of the documents.")
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="Who is cited, as “Family, Given” or the name of a group. Repeatable. [the organisers of the task]",
)
@click.option("--licence", default="", metavar="LICENCE", help="An SPDX identifier such as CC-BY-4.0, or an address.")
@click.option("--address", default="", metavar="URL", help="Where the kit will be published.")
@click.option("--check", is_flag=True, help="Write nothing: compare the folder with the database.")
@on_installation
def publish(
    installation: Installation,
    slug: str,
    output: str,
    mapping: str | None,
    allowed: tuple[str, ...],
    version: int | None,
    measures: tuple[str, ...],
    authors: tuple[str, ...],
    licence: str,
    address: str,
    *,
    veiled: bool,
    with_texts: bool,
    check: bool,
) -> None:
    """Write a finished collection as a folder to publish.

    It has topics, qrels of a kept version with their manifest, the qrels of a sample, guidelines, runs, scores by that
    version, README, datasheet, CITATION.cff, metadata for Croissant and Zenodo with SHA-256, and a module for
    ir_datasets. It names no judge. With --veil, pseudonyms are the same in each release, and the files are searched for
    names that are left. The folder is complete or not there.
    """
    if check:
        _check(installation, slug, output)
        return
    if (allowed or mapping) and not veiled:
        raise click.UsageError("--allow and --mapping are for --veil.")
    _refuse_output(output, mapping)
    publication = Publication(
        slug=slug,
        version=_version(installation, slug, version),
        veiled=veiled,
        with_texts=with_texts,
        measures=measures or DEFAULT_MEASURES,
        authors=authors,
        licence=licence,
        address=address,
        made_at=datetime.now(UTC),
        program=installed_version(),
    )
    with ended_like_ctrl_c():
        _write(installation, publication, output, allowed)
        if mapping is not None:
            _write_mapping(installation, slug, mapping)


def _is_file(output: str) -> bool:
    return output == STANDARD_OUTPUT or output.lower().endswith(".zip")


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
    with written_whole(output) if _is_file(output) else TemporaryFile() as file:
        with installation.database.reading() as session:
            counts = write_kit(session, publication, file, allowed=allowed)
        if not _is_file(output):
            file.seek(0)
            write_folder(output, file, may_be_empty=True)
    click.echo(
        f"{output} has {counts.topics} topics, {counts.grades} grades of version {counts.version} and {counts.runs} "
        f"runs, in {counts.files} files.",
        err=True,
    )


def _refuse_output(output: str, mapping: str | None) -> None:
    """Raise an error for a folder with files in it, and for a mapping that would be published."""
    if _is_file(output):
        return
    refuse_full_folder(output)
    if mapping is not None and Path(output).resolve() in Path(mapping).resolve().parents:
        raise click.UsageError("--mapping would be published: name a file outside of the kit.")


def _check(installation: Installation, slug: str, output: str) -> None:
    with installation.database.reading() as session:
        files = check_kit(session, slug, KitFolder(Path(output)))
    click.echo(f"{output} is what the database gives: {files} files.", err=True)
