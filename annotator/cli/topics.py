"""`annotator topics`: what is searched for."""

from collections.abc import Sequence

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.progress import watched
from annotator.cli.tables import show_table
from annotator.workflows import topics


@click.group
def command() -> None:
    """Topics: import, list."""


@command.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@on_installation
def import_files(installation: Installation, slug: str, files: Sequence[str]) -> None:
    """Import topics: TREC SGML, TREC XML, NUMBER<TAB>TITLE or JSONL, plain or gzip.

    A topic whose number is there already takes the new words.
    """
    with watched(read_files(files)) as given:
        parsed = topics.read_topics(given, unpacked_limit=installation.settings.unpacked_limit)
    with installation.database.transaction() as session:
        done = topics.import_topics(session, slug, parsed)
    click.echo(f"Topics: {done.added} added, {done.changed} changed, {done.unchanged} unchanged.", err=True)


@command.command("list")
@click.argument("slug")
@on_installation
def show(installation: Installation, slug: str) -> None:
    """List the topics with the sizes of their pools."""
    with installation.database.reading() as session:
        rows = topics.list_topics(session, slug)
    show_table(["TOPIC", "POOL", "TITLE"], [[row.number, row.pool_items, row.title] for row in rows])
