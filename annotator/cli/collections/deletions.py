"""`annotator deletions`, and `remove` for topics, documents, the pool, judgements and collections."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import click

from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, actor, note, on_installation
from annotator.cli.site.options import confirm, typed_text, yes_option
from annotator.cli.site.tables import format_option, show_rows
from annotator.storage import DeletedKind
from annotator.workflows.collections import restoring
from annotator.workflows.collections.deletions import Foreseen, delete_it, foresee_deletion, prepare_deletion

confirm_option = click.option(
    "--confirm", "typed", metavar="TEXT", help="The short name of the collection, to confirm."
)


@click.group
def command() -> None:
    """Deletions: list, restore, or purge what was deleted."""


@command.command("list")
@click.argument("slug", required=False)
@format_option()
@on_installation
def show(installation: Installation, slug: str | None, format_: str) -> None:
    """List the deletions in a collection that can be restored; without SLUG, the deleted collections."""
    days = installation.settings.deletion_days
    with installation.database.reading() as session:
        if slug is None:
            collections = restoring.list_deleted_collections(session, days=days)
            show_rows(
                format_,
                ["SLUG", "DELETED", "UNTIL", "TITLE"],
                [[one.slug, one.deleted_at, one.until, one.title] for one in collections],
            )
            return
        rows = restoring.list_deletions(session, slug, days=days)
    show_rows(
        format_,
        ["NUMBER", "KIND", "SUBJECT", "DELETED", "BY", "UNTIL", "COUNTS"],
        [
            [one.number, one.kind.value, one.subject or None, one.deleted_at, one.by, one.until, counted(one.counts)]
            for one in rows
        ],
    )


@command.command("restore")
@click.argument("slug")
@click.argument("number", type=int)
@on_installation
def restore(installation: Installation, slug: str, number: int) -> None:
    """Restore the deletion NUMBER of `deletions list SLUG`, unchanged."""
    read = installation.database.read(restoring.read_deletion, slug, number)
    with installation.database.transaction() as session:
        kind = restoring.restore_deletion(session, slug, number, read=read, at=datetime.now(UTC))
        note(session, "deletions.restore", slug, subject=number, details={"kind": kind.value})
    click.echo(f"Restored: {kind.value}.", err=True)


@command.command("purge")
@click.option("--days", type=click.IntRange(0), metavar="N", help="What was deleted N days ago or earlier.")
@yes_option
@on_installation
def purge(installation: Installation, days: int | None, *, yes: bool) -> None:
    """Purge old deletions of all collections; the worker also does this.

    Without --days, those older than the setting ANNOTATOR_DELETION_DAYS.
    """
    at = datetime.now(UTC)
    age = installation.settings.deletion_days if days is None else days
    confirm(f"What was deleted {age} days ago or earlier cannot be restored any more.", yes=yes)
    with installation.database.transaction() as session:
        count = restoring.begin_removal(session, before=at - timedelta(days=age), at=at)
        note(session, "deletions.purge", details={"deletions": count, "days": age})
    restoring.finish_removals(installation.database)
    click.echo(f"Removed for good: {count}.", err=True)


@click.command
@click.argument("slug")
@click.argument("number")
@confirm_option
@yes_option
@on_installation
def remove_topic(installation: Installation, slug: str, number: str, typed: str | None, *, yes: bool) -> None:
    """Delete a topic with its pool, its ranked lists and its judgements; `deletions restore` restores it.

    If it has judgements, --confirm NUMBER is required. To keep a topic without counting it, use `topics drop`.
    """
    _remove(installation, slug, DeletedKind.TOPIC, [number], typed, yes=yes)


@click.command
@click.argument("slug")
@click.argument("docnos", nargs=-1, metavar="[DOCNO]...")
@click.option("--file", type=FILE, metavar="FILE", help="A file of docnos, one per line.")
@yes_option
@on_installation
def remove_documents(
    installation: Installation, slug: str, docnos: Sequence[str], file: str | None, *, yes: bool
) -> None:
    """Delete the texts of unjudged documents; `deletions restore` restores them.

    Their docnos stay known, because runs may have retrieved them.
    """
    named = [*docnos, *(read_text(file).split() if file is not None else ())]
    _remove(installation, slug, DeletedKind.DOCUMENTS, list(dict.fromkeys(named)), None, yes=yes)


@click.command
@click.argument("slug")
@click.argument("version")
@yes_option
@on_installation
def remove_pool(installation: Installation, slug: str, version: str, *, yes: bool) -> None:
    """Delete the newest version of the pool, if none of its documents was judged; `deletions restore` restores it."""
    _remove(installation, slug, DeletedKind.POOL, [version], None, yes=yes)


@click.command
@click.argument("slug")
@click.argument("number")
@yes_option
@on_installation
def remove_labels(installation: Installation, slug: str, number: str, *, yes: bool) -> None:
    """Delete an import of labels, by its NUMBER in `judgements imports list`; `deletions restore` restores it.

    Other judgements of its judge stay. The documents that it added to the pool are deleted with it, if that version of
    the pool is the newest and nobody else judged them.
    """
    _remove(installation, slug, DeletedKind.LABELS, [number], None, yes=yes)


@click.group
def imports() -> None:
    """Imported files of labels."""


@imports.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_imports(installation: Installation, slug: str, format_: str) -> None:
    """List the imported files of labels."""
    rows = installation.database.read(restoring.list_label_imports, slug)
    show_rows(
        format_,
        ["NUMBER", "JUDGE", "IMPORTED", "FILE"],
        [[one.number, one.judge, one.imported_at, one.name] for one in rows],
    )


@click.command
@click.argument("slug")
@confirm_option
@on_installation
def remove_collection(installation: Installation, slug: str, typed: str | None) -> None:
    """Delete a collection with everything in it; `collections restore` restores it. It requires --confirm SLUG."""
    _remove(installation, slug, DeletedKind.COLLECTION, [], typed, yes=False)


@click.command
@click.argument("slug")
@on_installation
def restore_collection(installation: Installation, slug: str) -> None:
    """Restore a deleted collection."""
    with installation.database.transaction() as session:
        restoring.restore_collection(session, slug, at=datetime.now(UTC))
        note(session, "collections.restore", slug)
    click.echo(f"Restored the collection {slug}.", err=True)


def counted(counts: Mapping[str, int]) -> str:
    """Counts as one line, such as “documents: 12, judgements: 3”."""
    return ", ".join(f"{name}: {count}" for name, count in counts.items())


def _remove(
    installation: Installation,
    slug: str,
    kind: DeletedKind,
    subjects: Sequence[str],
    typed: str | None,
    *,
    yes: bool,
) -> None:
    at = datetime.now(UTC)
    with installation.database.reading() as session:
        foreseen = foresee_deletion(session, slug, kind, subjects, at=at)
    effect = f"This deletes {_named(foreseen, slug)}: {counted(foreseen.counts)}."
    if foreseen.to_type:
        typed = typed_text(effect, foreseen.to_type, typed)
    else:
        confirm(effect, yes=yes)
    prepared = installation.database.read(prepare_deletion, slug, kind, subjects)
    with installation.database.transaction() as session:
        number, _ = delete_it(
            session, slug, kind, subjects, typed=typed, actor=actor(), at=at, foreseen=foreseen, prepared=prepared
        )
    days = installation.settings.deletion_days
    again = f"collections restore {slug}" if kind is DeletedKind.COLLECTION else f"deletions restore {slug} {number}"
    click.echo(f"Deleted. For {days} days `annotator {again}` puts it back.", err=True)


def _named(foreseen: Foreseen, slug: str) -> str:
    names = {
        DeletedKind.COLLECTION: f"the collection {slug}",
        DeletedKind.DOCUMENTS: f"the texts of documents ({foreseen.subject})",
        DeletedKind.LABELS: f"import {foreseen.subject} of labels",
        DeletedKind.POOL: f"version {foreseen.subject} of the pool",
        DeletedKind.TOPIC: f"topic {foreseen.subject}",
    }
    return names[foreseen.kind]
