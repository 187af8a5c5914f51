"""`annotator collections export`, `import` and `copy`: a collection as one archive, and copies without results."""

from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile

import click

from annotator.cli.site.files import FILE, STANDARD_OUTPUT, opened_for_seeking, write_folder, written_whole
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.progress import ended_like_ctrl_c, progress_shown
from annotator.evaluation.outputs.registry import ARCHIVE, BEIR, WRITTEN_BY
from annotator.installed import installed_version
from annotator.storage import Role
from annotator.storage.collections.audit import Transaction
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import ImportedCollection, open_archive
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.qrels.archived_qrels import import_compared, qrels_of_archive
from annotator.workflows.qrels.beir_export import write_beir

MEGABYTE = 1 << 20
USUAL_LIMIT_MB = 100_000


@click.command("export")
@click.argument("slug")
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="The zip file; - is standard output. In the format beir a folder, unless the name ends with .zip.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(WRITTEN_BY["collections export"])),
    default=ARCHIVE,
    show_default=True,
    help="Everything, for `collections import`; or topics, texts and settled grades as BEIR lays them out.",
)
@click.option(
    "--pseudonyms",
    is_flag=True,
    help=(
        "Replace names by pseudonyms in judgements, policies and manifests; the text of notes and questions is not "
        "changed."
    ),
)
@on_installation
def export(installation: Installation, slug: str, output: str, format_: str, *, pseudonyms: bool) -> None:
    """Export a collection as one archive of open formats, which `collections import` reads, or for BEIR.

    The archive holds topics, documents, runs as submitted, pool, judgements with their history, notes and questions,
    kept qrels, guidelines, members, settings, and a readable copy of the audit log. Of accounts it has the names, no
    passwords. A new file is readable only by its owner.
    """
    if format_ == BEIR and pseudonyms:
        raise click.UsageError("--pseudonyms is for the archive: a BEIR folder names nobody.")
    now = datetime.now(UTC)
    note_export(installation, "collections.export", slug, details={"pseudonyms": pseudonyms, "format": format_})
    if format_ == BEIR:
        _export_beir(installation, slug, output, now)
        return
    archiving = Archiving(now, installed_version(), token_hex(3) if pseudonyms else None)
    with written_whole(output) as file, installation.database.reading() as session:
        counts = write_archive(session, slug, file, archiving, extras=qrels_of_archive(session, slug, now))
    click.echo(
        f"{output} has {counts['topics.jsonl']} topics, {counts['documents.jsonl']} documents, "
        f"{counts['runs.jsonl']} runs and {counts['judgements.jsonl']} judgements.",
        err=True,
    )


def _export_beir(installation: Installation, slug: str, output: str, now: datetime) -> None:
    is_file = output == STANDARD_OUTPUT or output.lower().endswith(".zip")
    with written_whole(output) if is_file else TemporaryFile() as file:
        with installation.database.reading() as session:
            counts = write_beir(session, slug, file, made_at=now)
        if not is_file:
            file.seek(0)
            write_folder(output, file)
    click.echo(
        f"{output} has {counts.topics} topics, {counts.documents} documents and {counts.grades} grades.", err=True
    )
    if counts.without_text:
        click.echo(f"Judged documents without a text, which the corpus lacks: {counts.without_text}.", err=True)


@click.command("import")
@click.argument("file", type=FILE)
@click.option("--slug", metavar="SLUG", help="Import it under this short name instead of its own.")
@click.option(
    "--limit-mb",
    type=click.IntRange(1),
    default=USUAL_LIMIT_MB,
    show_default=True,
    metavar="MB",
    help="Refuse an archive that is larger than this when unpacked.",
)
@on_installation
def import_file(installation: Installation, file: str, slug: str | None, limit_mb: int) -> None:
    """Import a collection from an archive: all of it, or nothing if any part differs from the manifest.

    The FILE - is standard input.
    People are matched by account name; missing accounts are created without a password. The grades are settled and
    compared with those of the archive before the import is committed. The collection is visible only when it is
    complete, judging continues meanwhile, and Ctrl-C leaves nothing behind.
    """

    def conclude(session: Transaction, done: ImportedCollection) -> None:
        note(session, "collections.import", done.slug, subject=Path(file).name, details={"made": len(done.made)})

    with (
        ended_like_ctrl_c(),
        opened_for_seeking(file) as stream,
        open_archive(file, stream, limit=limit_mb * MEGABYTE) as bundle,
        progress_shown("Importing") as progress,
    ):
        done = import_compared(
            installation.database, bundle, slug=slug, at=datetime.now(UTC), conclude=conclude, progress=progress
        )
    click.echo(
        f"Stored the collection {done.slug}: {done.lines['topics.jsonl']} topics, "
        f"{done.lines['runs.jsonl']} runs, {done.lines['judgements.jsonl']} judgements.",
        err=True,
    )
    click.echo(f"Accounts that were here: {', '.join(done.known) or 'none'}.", err=True)
    click.echo(f"Accounts made, without a password: {', '.join(done.made) or 'none'}.", err=True)


@click.command("copy")
@click.argument("slug")
@click.argument("new")
@click.option("--title", metavar="TEXT", help="Its title. [the same as before]")
@click.option(
    "--documents",
    "with_documents",
    is_flag=True,
    help="Also copy the documents that have a text, and the list of docnos.",
)
@click.option("--organiser", metavar="NAME", help="The account of the organiser.")
@on_installation
def copy(
    installation: Installation, slug: str, new: str, title: str | None, organiser: str | None, *, with_documents: bool
) -> None:
    """Create a collection NEW with the settings, the scale and the guidelines of another, as for next year's task."""
    with installation.database.transaction() as session:
        count = copy_collection(
            session,
            slug,
            new,
            title=title,
            with_documents=with_documents,
            organiser=organiser,
            at=datetime.now(UTC),
        )
        if organiser is not None:
            note(session, "members.add", new, subject=organiser, details={"role": Role.ORGANISER})
        note(session, "collections.copy", new, subject=slug, details={"documents": count})
    click.echo(f"Began the collection {new} as {slug} is set up; documents copied: {count}.", err=True)
