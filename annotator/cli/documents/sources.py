"""`annotator documents source`: where a worker fetches the texts of pooled documents from."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import confirm, is_asked, yes_at_terminal
from annotator.cli.site.tables import Cell, format_option, show_rows, show_values
from annotator.workflows.documents import sources
from annotator.workflows.documents.source_places import Reach, reach_of


@click.group("source")
def source_group() -> None:
    """Where a worker fetches the texts of pooled documents from: set, show, check, remove; fetch now."""


@source_group.command("set")
@click.argument("slug")
@click.argument("location")
@click.option(
    "--path", "paths", multiple=True, metavar="OURS=PATH", help="A path into the JSON, such as body=a.b; repeatable."
)
@click.option("--search", default="", metavar="ADDRESS", help="The address of its search, with {query}.")
@on_installation
def set_source(installation: Installation, slug: str, location: str, paths: Sequence[str], search: str) -> None:
    """Set the source: an address with {docno}, a folder of JSON Lines on the server, or ir_datasets:NAME.

    An address answers JSON; its host must be one of ANNOTATOR_OUTGOING_HOSTS. Files of a folder may be gzipped; a
    worker indexes it first. OURS is docno, title, body, url, language, and for the search
    hits, hit_docno, hit_title, hit_snippet; PATH has keys with dots between them, [0] and [*].
    """
    options = sources.parse_options(paths, search)
    with installation.database.transaction() as session:
        kind = sources.set_source(
            session,
            slug,
            _absolute(location),
            options,
            reach=reach(installation),
            by_id=None,
            by_command=True,
            at=datetime.now(UTC),
        )
        note(session, "sources.set", slug, details={"kind": kind})
    click.echo("The source is set. A worker fetches the texts of pooled documents that are missing.", err=True)


@source_group.command("show")
@click.argument("slug")
@format_option()
@on_installation
def show(installation: Installation, slug: str, format_: str) -> None:
    """Show the source, and how many documents were fetched, wait, failed and were given up."""
    view = installation.database.read(sources.show_source, slug)
    values: dict[str, Cell | list[str]] = {
        "kind": view.kind.value,
        "location": view.location,
        "paths": " ".join(sources.written_paths(view.options)),
        "search": view.options.search,
        "set by": view.set_by,
        "set": view.set_at,
        **{name.replace("_", " "): count for name, count in vars(view.counts).items()},
        "problem": str(view.problem or ""),
        "paused until": view.paused_until,
    }
    if view.index is not None:
        values |= {
            "indexed": view.index.indexed_at or f"{view.index.percent} %",
            "documents": view.index.documents,
            "lines that are no documents": view.index.skipped,
            "first of them": view.index.first_skipped,
        }
    show_values(format_, ("NAME", "VALUE"), values)


@source_group.command("check")
@click.argument("slug")
@click.argument("docnos", nargs=-1, metavar="[DOCNO...]")
@format_option()
@on_installation
def check(installation: Installation, slug: str, docnos: Sequence[str], format_: str) -> None:
    """Try the source with some pooled documents, or with these, and its search; nothing is stored."""
    found = sources.check_source(installation.database, slug, docnos, reach=reach(installation))
    if found.problem is not None:
        raise click.ClickException(str(found.problem))
    show_rows(
        format_,
        ["DOCNO", "CHARACTERS", "TITLE", "PROBLEM"],
        [
            [one.docno, None if one.problem else one.characters, one.title, str(one.problem or "")]
            for one in found.documents
        ],
    )
    if found.hits is not None:
        click.echo(f"Results of its search for “test”: {found.hits}.", err=True)
    if found.search_problem is not None:
        click.echo(f"Its search: {found.search_problem}", err=True)


@source_group.command("fetch")
@click.argument("slug")
@click.option("--again", is_flag=True, help="Also fetch what was fetched before, in case it has changed.")
@on_installation
def fetch(installation: Installation, slug: str, *, again: bool) -> None:
    """Have a worker fetch the missing texts now, also those that were given up."""
    with installation.database.transaction() as session:
        count = sources.fetch_now(session, slug, again=again, at=datetime.now(UTC))
        note(session, "sources.fetch", slug, details={"again": again, "documents": count})
    click.echo(f"A worker fetches them now: {count}, and what was pooled since.", err=True)


@source_group.command("remove")
@click.argument("slug")
@yes_at_terminal
@on_installation
def remove(installation: Installation, slug: str, *, yes: bool) -> None:
    """Remove the source; texts that were fetched stay."""
    if is_asked(yes=yes):
        view = installation.database.read(sources.show_source, slug)
        confirm(f"This removes the source {view.location}. It can be set again.", yes=False)
    with installation.database.transaction() as session:
        sources.remove_source(session, slug)
        note(session, "sources.remove", slug)
    click.echo("Removed the source of documents.", err=True)


@source_group.group("failures")
def failures_group() -> None:
    """Documents that could not be fetched from the source."""


@failures_group.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_failures(installation: Installation, slug: str, format_: str) -> None:
    """List the documents whose last attempt failed, with the reason and the times of the last and the next."""
    rows = installation.database.read(sources.list_failures, slug)
    show_rows(
        format_,
        ["DOCNO", "REASON", "TRIES", "LAST", "NEXT"],
        [[one.docno, str(one.reason), one.attempts, one.tried_at, one.next_at] for one in rows],
    )


def _absolute(location: str) -> str:
    """A folder by its whole path; anything else as it is."""
    return location if ":" in location else str(Path(location).resolve())


def reach(installation: Installation) -> Reach:
    """What commands at this server may read documents from."""
    chosen = installation.settings
    return reach_of(
        installation.database,
        hosts=chosen.outgoing_hosts,
        places=chosen.document_sources,
        index_folder=chosen.index_folder,
    )
