"""`annotator collections export`, `import` and `copy`: a collection as one archive, and next year's."""

from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import click

from annotator.cli.site.files import FILE, opened_for_seeking, written_whole
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.progress import ended_like_ctrl_c, progress_shown
from annotator.errors import AnnotatorError, ConflictError
from annotator.installed import installed_version
from annotator.storage import Role
from annotator.storage.collections.audit import Transaction
from annotator.workflows.collections.archive_export import QRELS, Archiving, write_archive
from annotator.workflows.collections.archive_import import ImportedCollection, import_archive, open_archive
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.people import members
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import export_version, list_versions

MEGABYTE = 1 << 20
USUAL_LIMIT_MB = 100_000


@click.command("export")
@click.argument("slug")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="FILE", help="The archive, a zip file; - is standard output."
)
@click.option(
    "--pseudonyms",
    is_flag=True,
    help="Give people names that tell nothing, in judgements, policies and manifests; what they wrote stays as it is.",
)
@on_installation
def export(installation: Installation, slug: str, output: str, *, pseudonyms: bool) -> None:
    """Put everything of a collection into one archive of open formats, which `collections import` reads.

    Topics, documents, runs as they were sent, pool, judgements with their history, notes and questions, kept qrels,
    guidelines, members, settings, and the log of deeds to be read. Of accounts it has the names, no passwords. Only its
    owner can read a new file.
    """
    now = datetime.now(UTC)
    archiving = Archiving(now, installed_version(), token_hex(3) if pseudonyms else None)
    note_export(installation, "collections.export", slug, details={"pseudonyms": pseudonyms})
    with written_whole(output) as file, installation.database.reading() as session:
        counts = write_archive(session, slug, file, archiving, extras=_qrels(session, slug, now))
    click.echo(
        f"{output} has {counts['topics.jsonl']} topics, {counts['documents.jsonl']} documents, "
        f"{counts['runs.jsonl']} runs and {counts['judgements.jsonl']} judgements.",
        err=True,
    )


@click.command("import")
@click.argument("file", type=FILE)
@click.option("--slug", metavar="SLUG", help="Store it under this short name, not its own.")
@click.option(
    "--limit-mb",
    type=click.IntRange(1),
    default=USUAL_LIMIT_MB,
    show_default=True,
    metavar="MB",
    help="Refuse an archive that is larger when it is unpacked.",
)
@on_installation
def import_file(installation: Installation, file: str, slug: str | None, limit_mb: int) -> None:
    """Store a collection out of an archive: all of it, or nothing when anything of it is not what its manifest says.

    The FILE - is standard input.
    People are who they are by name; accounts that are not here are made without a password. The grades are settled
    and compared with those of the archive before anything counts. Nobody finds any of it before all of it
    is stored, judging goes on meanwhile, and Ctrl-C leaves nothing.
    """

    def conclude(session: Transaction, done: ImportedCollection) -> None:
        note(session, "collections.import", done.slug, subject=Path(file).name, details={"made": len(done.made)})

    with (
        ended_like_ctrl_c(),
        opened_for_seeking(file) as stream,
        open_archive(file, stream, limit=limit_mb * MEGABYTE) as bundle,
        progress_shown("Importing") as progress,
    ):
        done = import_archive(
            installation.database,
            bundle,
            slug=slug,
            at=datetime.now(UTC),
            compare=lambda session, slug: _compare(session, slug, bundle.manifest.get("qrels_sha256")),
            conclude=conclude,
            progress=progress,
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
@click.option("--title", metavar="TEXT", help="Its title, else the same.")
@click.option("--documents", "with_documents", is_flag=True, help="Copy the documents that have a text, too.")
@click.option("--organiser", metavar="NAME", help="Who organises it.")
@on_installation
def copy(
    installation: Installation, slug: str, new: str, title: str | None, organiser: str | None, *, with_documents: bool
) -> None:
    """Begin a collection NEW with the settings, the scale and the guidelines of another, as for next year's task."""
    now = datetime.now(UTC)
    with installation.database.transaction() as session:
        count = copy_collection(session, slug, new, title=title, with_documents=with_documents, at=now)
        if organiser is not None:
            members.add_member(session, new, organiser, Role.ORGANISER, added_at=now)
            note(session, "members.add", new, subject=organiser, details={"role": Role.ORGANISER})
        note(session, "collections.copy", new, subject=slug, details={"documents": count})
    click.echo(f"Began the collection {new} as {slug} is set up; documents copied: {count}.", err=True)


def _qrels(session: Transaction, slug: str, now: datetime) -> dict[str, bytes]:
    """The qrels of this moment, none when nothing is judged, and those that were kept, as files."""
    files = {}
    with suppress(AnnotatorError):
        files[QRELS] = export_qrels(session, slug, made_at=now).qrels
    for row in list_versions(session, slug):
        files[f"qrels/{row.number}.qrels"] = export_version(session, slug, row.number).qrels
    return files


def _compare(session: Transaction, slug: str, fingerprint: object) -> None:
    """Settle what came in; `ConflictError` when that gives other grades than it did where the archive was made."""
    if fingerprint is None:
        return
    made = export_qrels(session, slug, made_at=datetime.now(UTC))
    if sha256(made.qrels).hexdigest() != fingerprint:
        raise ConflictError(
            "The grades of the archive do not come out as they did where it was made. Nothing was stored."
        )
