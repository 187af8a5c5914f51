"""`annotator documents`: the texts to judge."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.progress import watched
from annotator.cli.tables import Cell, show_table
from annotator.workflows import documents, search, search_adding
from annotator.workflows.search import FoundDocument


@click.group
def command() -> None:
    """Documents: import texts, say which are missing, search them."""


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


@command.command("search")
@click.argument("slug")
@click.argument("query")
@click.option("--topic", metavar="NUMBER", help="The topic the documents are for; tells which are pooled already.")
@click.option("--most", default=20, show_default=True, type=click.IntRange(1, 1_000), help="Find no more than these.")
@click.option("--add", is_flag=True, help="Add what is found to the pool of the topic.")
@click.option("--by", "name", metavar="NAME", help="Who searched; kept with each document that is added.")
@on_installation
def find(
    installation: Installation, slug: str, query: str, topic: str | None, most: int, *, add: bool, name: str | None
) -> None:
    """Search the texts: words side by side are all wanted; AND OR NOT "phrase" beginning* ( ) can be used.

    Korean, Chinese and Japanese are found inside longer words, too.
    """
    if topic is None and (add or name is not None):
        raise click.UsageError("--add and --by need the --topic that the documents are for.")
    with installation.database.reading() as session:
        found = search.find_documents(session, slug, query, topic=topic, most=most)
    show_table(["DOCNO", "POOLED", "TITLE"], [_line(hit, topic) for hit in found.hits])
    click.echo(f"Documents found: {found.total}, shown: {len(found.hits)}.", err=True)
    if add and topic is not None and found.hits:
        _add(installation, slug, topic, query, [hit.docno for hit in found.hits], name)


@command.command("index")
@click.argument("slug")
@on_installation
def index(installation: Installation, slug: str) -> None:
    """Make the search index of a collection anew; imports keep it in step by themselves."""
    with installation.database.transaction() as session:
        count = documents.index_collection(session, slug)
    click.echo(f"Documents indexed: {count}.", err=True)


def _line(hit: FoundDocument, topic: str | None) -> list[Cell]:
    return [hit.docno, hit.pooled if topic is not None else None, "".join(part.text for part in hit.title)]


def _add(
    installation: Installation, slug: str, topic: str, query: str, docnos: Sequence[str], name: str | None
) -> None:
    with installation.database.transaction() as session:
        actor_id = search_adding.searcher_id(session, name) if name is not None else None
        added = search_adding.add_found(
            session, slug, topic=topic, docnos=docnos, query=query, actor_id=actor_id, at=datetime.now(UTC)
        )
    click.echo(
        f"Version {added.version} of the pool: {added.added} added, {added.already_pooled} already pooled.", err=True
    )
