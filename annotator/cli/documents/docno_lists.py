"""`annotator documents ids`: the list of valid docnos of a collection, by which runs are checked."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.site.files import FILE, write_or_print
from annotator.cli.site.input_files import from_option, given_files, input_format_option
from annotator.cli.site.installation import Installation, note, note_export, on_installation
from annotator.cli.site.options import confirm, dry_run_option, is_asked, show_outcome, yes_at_terminal
from annotator.cli.site.tables import format_option, show_values
from annotator.evaluation.formats.input_formats import Holds
from annotator.workflows.documents import docno_lists


@click.group("ids")
def ids_group() -> None:
    """The list of valid docnos: import, show, export or remove it; runs with other docnos get a warning."""


@ids_group.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@input_format_option(Holds.DOCNOS)
@from_option
@dry_run_option
@on_installation
def import_files(
    installation: Installation,
    slug: str,
    files: Sequence[str],
    input_format: str | None,
    sources: Sequence[str],
    *,
    dry_run: bool,
) -> None:
    """Import the list of valid docnos in place of an earlier one: one a line, or those of documents of any format.

    No document is stored. Files may be compressed; several are one list.
    """
    limit = installation.settings.unpacked_limit
    given = given_files(files, Holds.DOCNOS, input_format=input_format, sources=sources, unpacked_limit=limit)
    read = docno_lists.read_docnos(given, unpacked_limit=limit)
    names = [file.name for file in given]
    with installation.database.transaction(keep=not dry_run) as session:
        done = docno_lists.import_docnos(session, slug, read, files=names, at=datetime.now(UTC))
        note(session, "docnos.import", slug, subject=", ".join(names), details=vars(done))
    show_outcome(f"Docnos: {done.docnos}, repeated: {done.repeated}.", dry_run=dry_run)


@ids_group.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """Show how many docnos the list has, from which files and when they were imported."""
    found = installation.database.read(docno_lists.show_docno_list, slug)
    show_values(
        format_, ("NAME", "VALUE"), {"docnos": found.docnos, "files": found.files, "imported": found.imported_at}
    )


@ids_group.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_installation
def export(installation: Installation, slug: str, output: str | None) -> None:
    """Write the list, one docno a line."""
    with installation.database.reading() as session:
        content = b"".join(docno_lists.export_docnos(session, slug))
    note_export(installation, "docnos.export", slug)
    write_or_print(output, content)


@ids_group.command("remove")
@click.argument("slug")
@yes_at_terminal
@on_installation
def remove(installation: Installation, slug: str, *, yes: bool) -> None:
    """Remove the list; runs are then compared with the documents of the collection again, if it has texts."""
    if is_asked(yes=yes):
        found = installation.database.read(docno_lists.show_docno_list, slug)
        confirm(f"This removes the list of {found.docnos} docnos. It can be imported again.", yes=False)
    with installation.database.transaction() as session:
        removed = docno_lists.remove_docnos(session, slug)
        note(session, "docnos.remove", slug, details={"docnos": removed.docnos})
    click.echo(f"Removed the list of {removed.docnos} docnos.", err=True)
