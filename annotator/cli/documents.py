"""`annotator documents`: the texts to judge."""

from collections.abc import Sequence

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.progress import watched
from annotator.workflows import documents


@click.group
def command() -> None:
    """Documents: import texts, say which are missing."""


@command.command("import")
@click.argument("slug")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--field", "fields", multiple=True, metavar="OURS=THEIRS", help="A key of the JSONL, such as body=text; repeatable."
)
@on_installation
def import_files(installation: Installation, slug: str, files: Sequence[str], fields: Sequence[str]) -> None:
    """Import documents: JSONL, TREC SGML or DOCNO<TAB>TITLE<TAB>BODY, plain or gzip.

    A document that is there already takes the new text.
    """
    mapping = documents.parse_fields(fields)
    with watched(read_files(files)) as given:
        parsed = documents.read_documents(given, fields=mapping, unpacked_limit=installation.settings.unpacked_limit)
    with installation.database.transaction() as session:
        done = documents.import_documents(session, slug, parsed)
    click.echo(
        f"Documents: {done.added} added, {done.filled} given their text, {done.changed} changed, "
        f"{done.unchanged} unchanged.",
        err=True,
    )


@command.command("missing")
@click.argument("slug")
@on_installation
def missing(installation: Installation, slug: str) -> None:
    """Print the docnos of the pool that have no text yet, one a line."""
    with installation.database.reading() as session:
        rows = documents.missing_documents(session, slug)
    click.echo("".join(f"{row.docno}\n" for row in rows).encode(), nl=False)
    click.echo(f"Documents of the pool without text: {len(rows)}.", err=True)
