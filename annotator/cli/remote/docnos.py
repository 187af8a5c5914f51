"""`annotator --site URL documents ids`: the list of valid docnos of a collection on a site."""

import click

from annotator.cli.remote.site import on_site
from annotator.cli.site.files import FILE, read_file, write_or_print
from annotator.cli.site.input_files import input_format_option
from annotator.cli.site.options import confirm, dry_run_option, is_asked, show_outcome, yes_at_terminal
from annotator.cli.site.tables import format_option, show_values
from annotator.client import Site
from annotator.evaluation.formats.input_formats import Holds
from annotator.moments import read_moment


@click.group("ids")
def ids_group() -> None:
    """The list of valid docnos on a site: import, show, export or remove it; runs with other docnos get a warning."""


@ids_group.command("import")
@click.argument("slug")
@click.argument("file", type=FILE)
@input_format_option(Holds.DOCNOS)
@dry_run_option
@on_site
def import_file(site: Site, slug: str, file: str, input_format: str | None, *, dry_run: bool) -> None:
    """Import the list of valid docnos in place of an earlier one: one a line, or those of documents of any format.

    No document is stored. The file may be compressed; the site's worker reads a large one.
    """
    done = site.send(_list_of(slug), read_file(file), input_format=input_format, dry_run=dry_run)
    show_outcome(f"Docnos: {done['docnos']}, repeated: {done['repeated']}.", dry_run=dry_run)


@ids_group.command("show")
@click.argument("slug")
@format_option()
@on_site
def show(site: Site, slug: str, format_: str) -> None:
    """Show how many docnos the list has, from which files and when they were imported."""
    found = site.get(_list_of(slug))
    values = {"docnos": found["docnos"], "files": found["files"], "imported": read_moment(found["imported_at"])}
    show_values(format_, ("NAME", "VALUE"), values)


@ids_group.command("export")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
@on_site
def export(site: Site, slug: str, output: str | None) -> None:
    """Write the list, one docno a line."""
    write_or_print(output, site.content(f"{_list_of(slug)}/file"))


@ids_group.command("remove")
@click.argument("slug")
@yes_at_terminal
@on_site
def remove(site: Site, slug: str, *, yes: bool) -> None:
    """Remove the list; runs are then compared with the documents of the collection again, if it has texts."""
    if is_asked(yes=yes):
        found = site.get(_list_of(slug))
        confirm(f"This removes the list of {found['docnos']} docnos. It can be imported again.", yes=False)
    removed = site.delete(_list_of(slug))
    click.echo(f"Removed the list of {removed['docnos']} docnos.", err=True)


def _list_of(slug: str) -> str:
    return f"/collections/{slug}/docnos"
